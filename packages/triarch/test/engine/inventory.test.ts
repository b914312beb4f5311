import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { stage } from './harness.ts'

const bank = agent('bank', { concurrency: 3 })
const charge = bank.action('charge', { run: async (_: null) => 'paid' })
const mail = agent('mail')
const send = mail.action('send', { run: async (_: null) => 'sent' })
const order = workflow('order', { exclusive: { key: 'stock' }, run: async (_: null, task) => task.run(charge, null) })
const letter = workflow('letter', { run: async (_: null, task) => task.run(send, null) })
const newer = workflow('letter', { version: '2', run: async (_: null) => null })
const frozen = workflow('plan', { plan: (_: unknown, plan) => plan.step(charge, null) })

describe('what there is', () => {
  it('is told of workflows: their versions, and the living nodes that run them', async () => {
    await using s = await stage({ workflows: [order, newer, letter, frozen], agents: [bank] })
    const { triarch } = s.engine
    const [node] = await triarch.nodes.list()
    const nodes = [node?.id]
    const { workflows, next } = await triarch.workflows.list()
    expect(next).toBeUndefined()
    expect(workflows).toEqual([
      {
        name: 'letter',
        versions: [
          { version: '1', kind: 'function', nodes },
          { version: '2', kind: 'function', nodes },
        ],
      },
      { name: 'order', versions: [{ version: '1', kind: 'function', nodes }] },
      { name: 'plan', versions: [{ version: '1', kind: 'plan', nodes }] },
    ])
    const first = await triarch.workflows.list({ limit: 2 })
    expect(first).toEqual({ workflows: workflows.slice(0, 2), next: 'order' })
    expect(await triarch.workflows.list({ limit: 2, cursor: 'order' })).toEqual({ workflows: workflows.slice(2) })
  })

  it('is told of agents: their actions, slots, and what waits longest for them', async () => {
    await using s = await stage({
      workflows: [order, letter],
      agents: [bank],
      roles: ['scheduler', 'supervisor', 'agent'],
    })
    const { triarch, environment } = s.engine
    const asked = environment.now()
    await s.submit(letter, null, { id: 'first' })
    await s.settle()
    await s.advance('2m')
    await s.submit(letter, null, { id: 'second', priority: 1 })
    await s.settle()
    const [node] = await triarch.nodes.list()
    expect(await triarch.agents.list()).toEqual({
      agents: [
        { name: 'bank', actions: ['charge'], nodes: [{ id: node?.id, slots: 3 }], queue: { depth: 0 } },
        {
          ...{ name: 'mail', actions: [], nodes: [] },
          queue: { depth: 2, oldest: { task: 'first', step: 1, since: new Date(asked) } },
        },
      ],
    })
    expect((await triarch.agents.list({ limit: 1 })).next).toBe('bank')
    expect((await triarch.agents.list({ cursor: 'bank' })).agents).toMatchObject([{ name: 'mail' }])
    await s.kill()
  })

  it('is told of locks: who has them, and who waits', async () => {
    const waits = workflow('waits', { exclusive: { key: 'door' }, run: async (_: null, task) => task.sleep('1h') })
    await using s = await stage({ workflows: [waits] })
    const { triarch, environment } = s.engine
    const since = environment.now()
    await s.submit(waits, null, { id: 'a' })
    await s.submit(waits, null, { id: 'b' })
    await s.settle()
    const { locks } = await triarch.locks.list()
    expect(locks).toMatchObject([{ holder: 'a', since: new Date(since), waiting: 1, next: [{ task: 'b' }] }])
    expect(locks[0]?.fence).toBeGreaterThan(0)
    expect(await triarch.locks.list({ cursor: locks[0]?.name ?? '' })).toEqual({ locks: [] })
    await s.kill()
  })

  it('is refused where the page is none', async () => {
    await using s = await stage()
    const asks: ((options: object) => Promise<unknown>)[] = [
      (options) => s.engine.triarch.workflows.list(options),
      (options) => s.engine.triarch.agents.list(options),
      (options) => s.engine.triarch.locks.list(options),
    ]
    for (const ask of asks) {
      await expect(ask({ limit: 101 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      await expect(ask({ cursor: 7 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      await expect(ask({ before: 'x' })).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    }
  })
})

describe('a submission', () => {
  it('says whether its task is new, in one write', async () => {
    await using s = await stage({ workflows: [letter] })
    const { triarch } = s.engine
    const submit = (options: object) => triarch.submit(letter, null, { id: 'l-1', ...options })
    expect((await submit({})).isNew).toBe(true)
    expect((await submit({})).isNew).toBe(false)
    expect((await submit({ ifExists: 'return' })).isNew).toBe(false)
    expect((await triarch.submit(letter, null)).isNew).toBe(true)
    expect(triarch.tasks.get('l-1').isNew).toBeUndefined()
    await s.kill()
  })
})
