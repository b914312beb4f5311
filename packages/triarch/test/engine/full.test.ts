import { describe, expect, it } from 'vitest'
import type { BoundOptions } from '../../src/definition/bound.ts'
import { type TaskContext, type TriarchError, workflow } from '../../src/index.ts'
import { roomIn } from '../../src/policy/room.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { raises } from '../value/raises.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

const common = { poll: '100ms', lease: '1d', sweep: '1h' } as const

/** Tasks that take a second each, of a workflow with this bound. */
function office(environment: VirtualEnvironment, bound: { maxQueued?: number; whenFull?: 'reject' | 'wait' }) {
  const begun: number[] = []
  const visit = workflow('visit', {
    ...bound,
    run: (n: number, task: TaskContext) =>
      task.run('serve', async () => {
        begun.push(n)
        await new Promise<void>((resolve) => environment.timer(1_000, resolve))
      }),
  })
  const crowd = workflow('crowd', {
    run: async (size: number, task: TaskContext) => {
      await Promise.all(Array.from({ length: size }, (_, n) => task.call(visit, n)))
    },
  })
  return { begun, visit, crowd, workflows: [visit, crowd] }
}

const codeOf = (submitted: Promise<unknown>) =>
  submitted.then(
    () => null,
    (error: TriarchError) => error.code,
  )

describe('a workflow with a bound on what waits', () => {
  it('refuses what comes when as many wait as may, and takes it again once some have begun', async () => {
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment, { maxQueued: 4 })
    await using s = await stage({ ...common, environment, workflows, limits: { tasks: 2 } })
    const codes: (string | null)[] = []
    for (let n = 0; n < 10; n++) codes.push(await codeOf(s.submit(visit, n, { id: `v${n}` })))
    // Two begin, four wait.
    expect(codes).toEqual([...Array(6).fill(null), ...Array(4).fill('QUEUE_FULL')])
    expect(await s.store.queueLength({ workflow: 'visit', count: 100 })).toBe(4)
    const error = await s.submit(visit, 10).catch((it: TriarchError) => it)
    expect(error).toMatchObject({ code: 'QUEUE_FULL', details: { workflow: 'visit', most: 4 } })
    await s.advance('1500ms')
    expect(await codeOf(s.submit(visit, 11))).toBe(null)
    await s.advance('10s')
  })

  it('lets many that come at once in as far as there is room, and not one more', async () => {
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment, { maxQueued: 50 })
    await using s = await stage({ ...common, environment, workflows, roles: [] })
    const results = await s.engine.triarch.submitMany(
      visit,
      Array.from({ length: 200 }, (_, input) => ({ input })),
    )
    const taken = results.filter(({ status }) => status === 'fulfilled').length
    expect(await s.store.queueLength({ workflow: 'visit', count: 1_000 })).toBe(taken)
    expect(taken).toBeLessThanOrEqual(50)
    for (let n = 0; n < 50; n++) await codeOf(s.submit(visit, n))
    expect(await s.store.queueLength({ workflow: 'visit', count: 1_000 })).toBe(50)
  })

  it('takes what is in line already, what starts later, and what tasks start', async () => {
    const environment = new VirtualEnvironment()
    const { visit, crowd, workflows } = office(environment, { maxQueued: 1 })
    await using s = await stage({ ...common, environment, workflows, limits: { tasks: 2 } })
    const tasks = [await s.submit(visit, 0), await s.submit(visit, 1)]
    await s.submit(visit, 2, { id: 'v2' })
    expect(await codeOf(s.submit(visit, 3, { id: 'v3' }))).toBe('QUEUE_FULL')
    expect((await s.submit(visit, 2, { id: 'v2' })).id).toBe('v2')
    expect(await codeOf(s.submit(visit, 4, { startAt: '30s' }))).toBe(null)
    const many = await s.submit(crowd, 20)
    await s.advance('1m')
    expect((await many.status()).outcome).toBe('success')
    expect((await tasks[0]?.status())?.outcome).toBe('success')
  })

  it('has submissions wait for room, in the order in which they came, and no longer than 30 seconds', async () => {
    const environment = new VirtualEnvironment()
    const { begun, visit, workflows } = office(environment, { maxQueued: 1, whenFull: 'wait' })
    await using s = await stage({ ...common, environment, workflows, limits: { tasks: 1 } })
    const submitted = Array.from({ length: 60 }, (_, n) => codeOf(s.submit(visit, n)))
    await s.advance('5s')
    expect(begun.length).toBeGreaterThan(3)
    await s.advance('40s')
    const codes = await Promise.all(submitted)
    const taken = codes.filter((code) => code === null).length
    expect(taken).toBeGreaterThan(15)
    expect(codes.slice(0, taken)).toEqual(Array(taken).fill(null))
    expect(codes.slice(taken)).toEqual(Array(60 - taken).fill('QUEUE_FULL'))
    await s.advance('1m')
    expect(begun).toEqual(begun.toSorted((a, b) => a - b))
    expect(begun).toHaveLength(taken)
  })

  it('says of a submission that waits what for, and when it is refused', async () => {
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment, { maxQueued: 1, whenFull: 'wait' })
    await using s = await stage({ ...common, environment, workflows, roles: [] })
    await s.submit(visit, 0)
    const since = s.engine.now()
    const submitted = ['first', 'second'].map((id) => codeOf(s.submit(visit, 1, { id })))
    await s.advance('5s')
    const until = new Date(since.getTime() + 30_000)
    expect(await s.engine.triarch.tasks.get('second').explain()).toMatchObject({
      ...{ task: 'second', workflow: 'visit', status: 'unsubmitted', holds: [] },
      reasons: [{ code: 'queue-full', workflow: 'visit', most: 1, ahead: 1, since, until }],
      text: expect.stringContaining('1 tasks of workflow visit wait already, as many as may: 1 is before it'),
    })
    await s.advance('26s')
    expect(await Promise.all(submitted)).toEqual(['QUEUE_FULL', 'QUEUE_FULL'])
    expect(await codeOf(s.engine.triarch.tasks.get('second').explain())).toBe('UNKNOWN_TASK')
  })

  it('tells who waits for room that the node stops', async () => {
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment, { maxQueued: 1, whenFull: 'wait' })
    await using s = await stage({ ...common, environment, workflows, roles: [] })
    await s.submit(visit, 0)
    const late = codeOf(s.submit(visit, 1))
    await s.settle()
    await s.leave()
    expect(await late).toBe('NODE_STOPPED')
  })

  it('is kept by several nodes together, but for what they let in at the same moment', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const { visit, workflows } = office(environment, { maxQueued: 100 })
    const options = { ...common, environment, store: file.store, workflows, roles: [] }
    await using a = await stage(options)
    await using b = await stage(options)
    await using c = await stage(options)
    for (let n = 0; n < 150; n++) {
      await Promise.all([a, b, c].map((node) => codeOf(node.submit(visit, n))))
      if (n % 10 === 0) await a.advance('100ms')
    }
    const waiting = await a.store.queueLength({ workflow: 'visit', count: 1_000 })
    expect(waiting).toBeGreaterThanOrEqual(100)
    expect(waiting).toBeLessThanOrEqual(150)
  })

  it('is refused with what makes no sense', () => {
    const bounds: BoundOptions[] = [
      { maxQueued: 0 },
      { maxQueued: 1.5 },
      { maxQueued: 1_000_001 },
      { whenFull: 'wait' },
    ]
    for (const bound of [...bounds, { maxQueued: 1, whenFull: 'drop' as 'wait' }])
      raises('INVALID_OPTION', () => workflow('w', { run: async () => null, ...bound }))
  })
})

describe('what one reading of a line lets in', () => {
  it('is half of what is free, to the last place, and never more', () => {
    expect([roomIn(10, 0), roomIn(10, 7), roomIn(10, 9), roomIn(10, 10), roomIn(10, 12)]).toEqual([5, 2, 1, 0, 0])
  })
})
