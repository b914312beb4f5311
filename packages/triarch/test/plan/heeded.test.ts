import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { codeOf, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { raises } from '../value/raises.ts'

describe('an option is heeded or refused', () => {
  const bookings = () => {
    const own = agent('books')
    const tries: string[] = []
    const book = (name: string, retry: object) =>
      own.action(name, {
        retry,
        run: async (_: null) => name,
        finalize() {
          tries.push(name)
          throw new Error('no')
        },
      })
    return { own, tries, book }
  }

  it('retry of actions, where all finalize in one transaction: the fewest attempts of any', async () => {
    const { own, tries, book } = bookings()
    const [a, b] = [book('a', { attempts: 5 }), book('b', { attempts: 3, backoff: { initial: '1s' } })]
    const flow = workflow('flow', {
      finalizeAs: 'transaction',
      plan(_: null, plan) {
        plan.step(a, null)
        plan.step(b, null, { attemptWithin: '5s' })
      },
    })
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents: [own], store: file.store })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(tries).toEqual(['a', 'a', 'a'])
  })

  it('retryIf of the action that could not finalize', async () => {
    const { own, tries, book } = bookings()
    const once = book('a', { retryIf: () => false })
    const flow = workflow('flow', { finalizeAs: 'transaction', plan: (_: null, plan) => void plan.step(once, null) })
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents: [own], store: file.store })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(tries).toEqual(['a'])
  })

  it.each([
    { rescue: 'skip' },
    { retry: { attempts: 2 } },
    { attemptWithin: '1s' },
    { undo: () => undefined },
    { concurrency: { shared: 2 } },
    { priority: 3 },
  ])('what says how an action is run, of one that only plans: %j', (options) => {
    const own = agent('own')
    raises('INVALID_OPTION', () => own.action('plans', { ...options, plan: () => undefined } as never))
  })

  it.each([{ retry: { attempts: 2 } }, { attemptWithin: '1s' }, { weight: 3 }, { semantics: 'at-most-once' }])(
    'options of a step, given with an action that plans several: %j',
    async (options) => {
      const own = agent('own')
      const act = own.action('act', { run: async (_: null) => 1 })
      const plans = own.action('plans', { plan: (_: null, plan) => void plan.step(act, null) })
      const flow = workflow('flow', { plan: (_: null, plan) => void plan.step(plans, null, options as never) })
      await using s = await stage({ workflows: [flow], agents: [own] })
      const refusal = {
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`${Object.keys(options)[0]} is for steps`),
      }
      await expect(s.submit(flow, null)).rejects.toMatchObject(refusal)
    },
  )

  it('startAt of a thaw, where nothing is frozen any more', async () => {
    const flow = workflow('flow', { run: async (_: null) => 1 })
    await using s = await stage({ workflows: [flow] })
    const later = await s.submit(flow, null, { startAt: '1d' })
    expect(await codeOf(later.thaw({ startAt: s.engine.now() }))).toBe('ILLEGAL_MOVE')
    const frozen = await s.submit(flow, null, { frozen: true })
    await frozen.thaw({ startAt: new Date(s.engine.now().getTime() + 3_600_000) })
    await s.settle()
    expect(await codeOf(frozen.thaw({ startAt: s.engine.now() }))).toBe('ILLEGAL_MOVE')
  })
})
