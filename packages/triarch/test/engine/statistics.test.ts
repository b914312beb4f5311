import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type Triarch, workflow } from '../../src/index.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { bucketOf, quantiles } from '../../src/statistics/histogram.ts'
import { tally, unknownTask } from '../../src/statistics/tally.ts'
import { codeOf, stage } from './harness.ts'

const bank = agent('bank')
const charge = bank.action('charge', {
  retry: { attempts: 2 },
  run: async (kind: string) => {
    if (kind === 'broke') throw new PermanentError('no money')
    if (kind === 'flaky' && flaky++ % 2 === 0) throw new Error('try again')
  },
})
let flaky = 0
const order = workflow('order', {
  async run(kind: string, task) {
    await task.run(charge, kind)
    if (kind === 'slow') await task.sleep('10m')
    await task.run('note', () => null)
  },
})
const options = { workflows: [order], agents: [bank], sweep: '5s', lease: '1d', statistics: { tag: 'tenant' } } as const
const kinds = ['fine', 'fine', 'broke', 'flaky', 'slow'] as const
const all = { from: 0, by: ['kind', 'workflow', 'action', 'outcome', 'error', 'tag'] } as const
const found = async (triarch: Triarch) =>
  (await triarch.statistics.figures(all)).rows.map(({ kind, action, outcome, error, tag, count }) =>
    [kind, action, outcome, error, tag, count].join(' '),
  )

describe('statistics', () => {
  it('count what histories say, each record once, and the same when they are counted anew', async () => {
    await using s = await stage(options)
    const { triarch } = s.engine
    for (const [n, kind] of kinds.entries()) await s.submit(order, kind, { tags: { tenant: n === 0 ? 'a' : 'b' } })
    await s.advance('2m')
    expect(await found(triarch)).toContain('task  submitted  b 4')
    expect((await triarch.statistics.figures({ kind: 'task', outcome: 'success' })).rows).toMatchObject([{ count: 3 }])
    await s.advance('20m')
    const counted = await found(triarch)
    expect(counted).toEqual([
      'attempt bank.charge failed Error b 1',
      'attempt bank.charge failed PermanentError b 1',
      'step (local) success  a 1',
      'step (local) success  b 3',
      'step bank.charge error PermanentError b 1',
      'step bank.charge success  a 1',
      'step bank.charge success  b 3',
      ...counted.filter((it) => it.startsWith('task  error')),
      'task  submitted  a 1',
      'task  submitted  b 4',
      'task  success  a 1',
      'task  success  b 3',
    ])
    const { behind, asOf } = await triarch.statistics.figures(all)
    expect(asOf).not.toBeNull()
    expect(behind).toBeLessThan(15_000)
    const { rows } = await triarch.statistics.figures({ by: [], kind: 'task', outcome: 'success', tag: 'b' })
    expect(rows).toMatchObject([{ count: 3, timed: 3 }])
    expect(Math.abs((rows[0]?.p99 ?? 0) / 600_000 - 1)).toBeLessThan(0.06)
    await triarch.statistics.recount()
    expect(await found(triarch)).toEqual([])
    await s.advance('1m')
    expect(await found(triarch)).toEqual(counted)
  })

  it('count a task that succeeded and was then undone by its last stop alone, and the same when counted anew', async () => {
    const refund = bank.action('book', { run: async (_: null) => 1, undo: async () => undefined })
    const booking = workflow('booking', { run: (_: null, task) => task.run(refund, null) })
    await using s = await stage({ ...options, workflows: [booking] })
    const { triarch } = s.engine
    const stops = async () =>
      (await triarch.statistics.figures({ from: 0, kind: 'task', by: ['hour', 'outcome'] })).rows
        .filter(({ outcome }) => outcome !== 'submitted')
        .map(({ hour, outcome, count, timed }) => [(hour ?? 0) % 86_400_000, outcome, count, timed])
    for (const id of ['undone', 'kept']) await s.submit(booking, null, { id })
    await s.advance('1m')
    expect(await stops()).toEqual([[0, 'success', 2, 2]])
    await s.advance('2h')
    await triarch.tasks.get('undone').compensate({ reason: 'sent back' })
    await s.advance('1m')
    const counted = await stops()
    expect(counted).toEqual([
      [0, 'success', 1, 1],
      [7_200_000, 'compensated', 1, 1],
    ])
    await triarch.statistics.recount()
    await s.advance('1m')
    expect(await stops()).toEqual(counted)
  })

  it('are what the histories say, when they are counted anew while tasks run and end', async () => {
    await using s = await stage(options)
    const { triarch } = s.engine
    const submit = async (tenant: string) => {
      for (const kind of kinds) await s.submit(order, kind, { tags: { tenant } })
    }
    await submit('a')
    await s.advance('2m')
    await triarch.statistics.recount({ reason: 'a test', actor: 'ada' })
    expect(await triarch.statistics.figures({})).toMatchObject({ rows: [], asOf: null, recount: { share: 0 } })
    await submit('b')
    await s.advance('6s')
    await submit('a')
    await s.advance('30m')
    expect((await triarch.statistics.figures({})).recount).toBeUndefined()
    const { tasks } = await triarch.tasks.list({ limit: 100 })
    const histories = await Promise.all(tasks.map(({ id }) => triarch.tasks.get(id).export()))
    const tallies = histories.flatMap(({ records }) => {
      const known = unknownTask()
      return records.flatMap(({ at, events }) => tally(known, at, events as TaskEvent[], 'tenant'))
    })
    const said = Object.entries(
      Object.groupBy(tallies, ({ kind, action, outcome, error, tag }) => [kind, action, outcome, error, tag].join(' ')),
    )
    expect((await found(triarch)).sort()).toEqual(said.map(([told, all]) => `${told} ${all?.length}`).sort())
    expect((await triarch.audit.list({ action: 'statistics.recount' })).entries).toMatchObject([{ actor: 'ada' }])
  })

  it('stay when retention drops the tasks, which it does not before they are counted', async () => {
    await using s = await stage({ ...options, retention: '1ms' })
    for (let n = 0; n < 30; n++) await s.submit(order, 'fine')
    await s.advance('5m')
    expect((await s.engine.triarch.tasks.list()).tasks).toEqual([])
    const { rows } = await s.engine.triarch.statistics.figures({ by: ['kind', 'outcome'], kind: 'task' })
    expect(rows).toMatchObject([
      { outcome: 'submitted', count: 30 },
      { outcome: 'success', count: 30 },
    ])
    // Where outcomes are not told apart, a task counts once.
    const by = await s.engine.triarch.statistics.figures({ by: ['workflow'], kind: 'task' })
    expect(by.rows).toMatchObject([{ count: 30 }])
  })

  it('are not there where nobody counts, and refuse what they do not know', async () => {
    await using s = await stage({ ...options, statistics: false })
    const { triarch } = s.engine
    await (await s.submit(order, 'fine')).result()
    await s.advance('1m')
    expect(await triarch.statistics.figures({})).toEqual({ rows: [], truncated: false, asOf: null, behind: null })
    expect(await codeOf(triarch.statistics.figures({ by: ['colour' as never] }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.statistics.figures({ flow: 'order' } as never))).toBe('UNKNOWN_OPTION')
  })

  it('know durations within five percent, however they are merged', () => {
    for (const ms of [1, 2, 17, 1_000, 59_999, 86_400_000]) {
      const [p50 = 0] = quantiles(new Map([[bucketOf(ms), 3]]), [0.5])
      expect(Math.abs((p50 ?? 0) - ms)).toBeLessThanOrEqual(Math.max(1, ms * 0.051))
    }
  })
})
