import { describe, expect, it } from 'vitest'
import { agent, type PlanContext, preview, workflow } from '../../src/index.ts'
import { checkFold, codeOf, eventsOf, type Stage, stage } from '../engine/harness.ts'

const diary: string[] = []
const own = agent('own', { concurrency: 10 })
const use = own.action('use', {
  attemptWithin: '1d',
  retry: { attempts: 1 },
  async run(what: string, step) {
    diary.push(`+${what}`)
    if (what === 'broken') throw new Error('no')
    await new Promise<void>((resolve) => void waiting.push(resolve))
    step.signal.throwIfAborted()
    diary.push(`-${what}`)
  },
})
const waiting: (() => void)[] = []

const lockers = agent('lockers')
const locker = lockers.action('take', {
  plan: (what: string, plan) => void plan.lock('x', () => void plan.step(use, what)),
})

const careful = workflow('careful', {
  rescue: 'fail',
  plan({ name, locks }: { name: string; locks: string[] }, plan) {
    plan.step(use, `${name} aside`)
    const nested = ([lock, ...rest]: string[]): void => {
      if (lock === undefined) for (const n of [1, 2]) plan.step(use, `${name} ${n}`)
      else plan.lock(lock, () => nested(rest))
    }
    plan.sequence(() => {
      nested(locks)
      plan.step(use, `${name} after`)
    })
  },
})

async function finishOne(s: Stage): Promise<void> {
  for (const resolve of waiting.splice(0)) resolve()
  await s.settle()
}

describe('a lock in a plan', () => {
  it('is held for as long as its block takes, and for nothing else', async () => {
    diary.length = 0
    await using s = await stage({ workflows: [careful], agents: [own] })
    const [a, b] = [
      await s.submit(careful, { name: 'a', locks: ['x'] }, { id: 'a' }),
      await s.submit(careful, { name: 'b', locks: ['x'] }, { id: 'b' }),
    ]
    await s.settle()
    expect(diary).toEqual(['+a aside', '+b aside', '+a 1', '+a 2'])
    await finishOne(s)
    expect(diary.slice(-3)).toEqual(['+a after', '+b 1', '+b 2'])
    await finishOne(s)
    await finishOne(s)
    await finishOne(s)
    expect([(await a.status()).outcome, (await b.status()).outcome]).toEqual(['success', 'success'])
    expect(await s.store.locks({ name: 'x' })).toEqual([])
    await checkFold(s.store, 'b')
  })

  it('is seen before it is taken', async () => {
    const view = await preview(careful, { name: 'a', locks: ['x'] })
    expect(view.steps.filter(({ action }) => action === null).map(({ name }) => name)).toContain('lock x')
  })

  type Body = (plan: PlanContext) => void
  const block = (plan: PlanContext, what: string, name = 'x') => plan.lock(name, () => plan.step(use, what))
  const shapes: [what: string, refused: boolean, body: Body][] = [
    ['by a block inside of another', true, (plan) => plan.lock('x', () => void block(plan, 'a'))],
    ['by two blocks side by side', true, (plan) => void [block(plan, 'a'), block(plan, 'b')]],
    [
      'by a block that comes after a step of the other one only',
      true,
      (plan) => {
        const first = block(plan, 'a')
        plan.sequence(() => {
          plan.step(use, 'between', { after: [first] })
          block(plan, 'b')
        })
      },
    ],
    [
      'by an action that takes it and is planned twice',
      true,
      (plan) => void [plan.step(locker, 'a'), plan.step(locker, 'b')],
    ],
    ['that the submission has taken', true, (plan) => void block(plan, 'a', 'own:1')],
    ['by blocks of other names inside of another', false, (plan) => plan.lock('x', () => void block(plan, 'a', 'y'))],
    [
      'by one block after the other',
      false,
      (plan) =>
        plan.sequence(() => {
          block(plan, 'a')
          plan.concurrence(() => void [plan.step(use, 'c'), plan.step(use, 'd')])
          block(plan, 'b')
        }),
    ],
  ]
  it.each(shapes)('of one name, taken %s: refused when the plan is made: %s', async (_, refused, body) => {
    diary.length = 0
    const keyed = workflow('keyed', { exclusive: { key: () => 'own:1' }, plan: (_: null, plan) => body(plan) })
    await using s = await stage({ workflows: [keyed], agents: [own, lockers] })
    const code = refused ? 'LOCK_DEADLOCK' : 'nothing'
    expect(await codeOf(preview(keyed, null))).toBe(code)
    expect(await codeOf(s.submit(keyed, null, { id: 'now' }))).toBe(code)
    // The plan of a task that starts later is made by the scheduler.
    const later = await s.submit(keyed, null, { id: 'later', startAt: '1s' })
    await s.advance('2s')
    for (let step = 0; step < 8; step++) await finishOne(s)
    expect((await later.status()).error?.code ?? 'nothing').toBe(code)
    if (!refused) expect((await later.status()).outcome).toBe('success')
  })

  it('is had again before a plan that failed under it goes on', async () => {
    diary.length = 0
    const failing = workflow('failing', {
      rescue: 'fail',
      plan: (_: null, plan) => plan.lock('x', () => void plan.step(use, 'broken')),
    })
    await using s = await stage({ workflows: [careful, failing], agents: [own] })
    const a = await s.submit(failing, null, { id: 'a' })
    await s.settle()
    expect((await a.status()).outcome).toBe('error')
    const [{ id } = { id: 0 }] = await eventsOf(a, 'stepRequested')
    await s.submit(careful, { name: 'b', locks: ['x'] }, { id: 'b' })
    await s.settle()
    await a.retry({ step: id, input: 'mended' })
    await s.settle()
    expect(await a.status()).toMatchObject({ status: 'paused', pause: { cause: 'lock' } })
    await finishOne(s)
    expect(diary.at(-1)).toBe('+mended')
    await finishOne(s)
    expect((await a.status()).outcome).toBe('success')
    await finishOne(s)
  })
})
