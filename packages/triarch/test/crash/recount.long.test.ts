import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { PermanentError, Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { scratch } from '../engine/scratch.ts'

const script = fileURLToPath(new URL('recount.worker.ts', import.meta.url))
const run = async (n: number) => {
  if (n % 7 === 0) throw new PermanentError('the seventh')
}
const first = workflow('first', { rescue: 'fail', run })
const later = workflow('later', { rescue: 'fail', run })
/** More than a round counts, several times over. */
const TASKS = 420
const MORE = 40

it('statistics that are counted anew by supervisors who die of it are what was counted as it was written', async () => {
  using file = scratch()
  const means = { workflows: [first, later], notices: false, onError: () => undefined } as const
  const node = (more: object) => new Triarch({ store: sqlite(file.path), ...means, ...more })
  const told = { from: 0, by: ['kind', 'workflow', 'outcome', 'error', 'tag'] } as const
  const submit = (triarch: Triarch, of: typeof first, most: number) =>
    triarch.submitMany(
      of,
      Array.from({ length: most }, (_, n) => ({ input: n, tags: { tenant: `t-${n % 3}` } })),
    )
  const rowsOf = async (triarch: Triarch, workflow: string) =>
    (await triarch.statistics.figures({ ...told, workflow })).rows.map((row) => JSON.stringify(row))
  const whole = (triarch: Triarch, workflow: string, count: number) =>
    expect
      .poll(
        async () => {
          const { rows } = await triarch.statistics.figures({ workflow, kind: 'task', by: ['outcome'], from: 0 })
          return rows.reduce((sum, it) => sum + (it.outcome === 'submitted' ? 0 : it.count), 0)
        },
        { timeout: 60_000 },
      )
      .toBe(count)
  const counting = { statistics: { tag: 'tenant' }, sweep: 50, lease: 400 }
  let asWritten: string[] = []
  {
    const writer = node(counting)
    await writer.start()
    await submit(writer, first, TASKS)
    await whole(writer, 'first', TASKS)
    asWritten = await rowsOf(writer, 'first')
    await writer.stop()
  }
  // Tasks go on while it is counted, by a node that does not count.
  const busy = node({ roles: ['scheduler', 'agent'] })
  await busy.start()
  await busy.statistics.recount({ reason: 'a test' })
  for (const [call, nth, when] of [
    ['readUncounted', '1', 'after'],
    ['tally', '2', 'after'],
    ['tally', '1', 'before'],
    ['readUncounted', '3', 'after'],
  ] as const) {
    const child = fork(script, [file.path, call, nth, when], { stdio: 'inherit' })
    const [died] = await Promise.all([once(child, 'exit'), submit(busy, later, MORE)])
    expect(died).toEqual([null, 'SIGKILL'])
    const { recount } = await busy.statistics.figures({})
    expect(recount).toMatchObject({ since: expect.any(Number) })
  }
  await submit(busy, later, MORE)
  const last = node({ ...counting, roles: ['supervisor'] })
  await last.start()
  await whole(last, 'later', 5 * MORE)
  await whole(last, 'first', TASKS)
  await expect.poll(async () => (await last.statistics.figures({})).recount, { timeout: 60_000 }).toBeUndefined()
  expect(await rowsOf(last, 'first')).toEqual(asWritten)
  const counted = await rowsOf(last, 'later')
  await last.statistics.recount()
  await expect.poll(async () => (await last.statistics.figures({})).recount, { timeout: 60_000 }).toBeUndefined()
  expect(await rowsOf(last, 'later')).toEqual(counted)
  expect(await rowsOf(last, 'first')).toEqual(asWritten)
  await last.stop({ grace: 0 })
  await busy.stop({ grace: 0 })
}, 180_000)
