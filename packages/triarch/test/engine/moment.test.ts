import { expect, it } from 'vitest'
import { agent, type TaskMoment, workflow } from '../../src/index.ts'
import { memory } from '../../src/testing/index.ts'
import { codeOf, seen, stage } from './harness.ts'

const down = new Set(['ship'])
const depot = agent('depot')
const act = (name: string, extra = {}) =>
  depot.action(name, {
    ...{ retry: { attempts: 2, backoff: { initial: '1s', jitter: false } }, undo: () => undefined, ...extra },
    run(input: { card: string; n: number }) {
      if (down.has(name)) throw new Error(`nobody answers at ${name} for ${input.card}`)
      return { name, card: input.card }
    },
  })
const charge = act('charge', { input: undefined, secrets: ['card'] })
const pack = act('pack', { undo: undefined })
const ship = act('ship', { rescue: 'pause' })
const parcel = workflow('parcel', {
  secrets: ['card'],
  async run(input: { card: string; n: number }, task) {
    await task.run(charge, input)
    await task.run(pack, input)
    if (input.n > 1) return task.continueAsNew({ ...input, n: input.n - 1 })
    await task.progress({ packed: input.n })
    await task.run(ship, input)
    await task.waitForSignal('arrived')
    return 'sent'
  },
})
const parts = { workflows: [parcel], agents: [depot] }

/** What live reading and looking back have in common. */
function common({ seq: _, at: __, last: ___, run: ____, events: _____, ...rest }: TaskMoment): object {
  return JSON.parse(JSON.stringify(rest))
}

it('at each record a task is what whoever looked then saw, over runs, a pause, an undo and a retry', async () => {
  down.add('ship')
  const live = new Map<number, object>()
  const look = async (id: string) => {
    const handle = s.engine.tasks.get(id)
    const { status, outcome, failures, progress, output, error, pause } = await handle.status()
    return JSON.parse(JSON.stringify({ status, outcome, failures, progress, output, error, pause, steps: await handle.steps() })) // biome-ignore format: one line
  }
  const s = await stage({
    ...parts,
    store: seen(memory(), (store) => ({
      async commit(batch) {
        const outcomes = await store.commit(batch)
        for (const { id, seq, events } of batch) if (events !== null) live.set(seq, await look(id))
        return outcomes
      },
    })),
  })
  await using _ = s
  const handle = await s.submit(parcel, { card: '4711-0815', n: 3 }, { id: 'p-1' })
  live.set(1, live.get(1) ?? (await look('p-1')))
  await s.advance('1m')
  expect((await handle.status()).status).toBe('paused')
  down.clear()
  await handle.resume({ actor: 'ada' })
  await s.advance('1m')
  await handle.signal('arrived', null)
  await s.advance('1m')
  await handle.compensate({ reason: 'sent back' })
  await s.advance('1m')
  expect(await handle.status()).toMatchObject({ outcome: 'compensated' })

  const records = await handle.history()
  const starts = records.filter(({ events }) => events.some(({ type }) => type === 'continuedAsNew'))
  expect(starts).toHaveLength(2)
  const last = records.at(-1)?.seq as number
  expect([...live.keys()].sort((a, b) => a - b)).toEqual(records.map(({ seq }) => seq))
  for (const { seq, at, events } of records) {
    const moment = await handle.moment(seq)
    expect(common(moment), `record ${seq}`).toEqual(live.get(seq))
    const run = starts.findLast((it) => it.seq <= seq)?.seq ?? 1
    expect(moment).toMatchObject({ seq, at, last, run })
    expect(moment.events).toEqual(events)
  }
  expect(await handle.moment()).toEqual(await handle.moment(last))
  expect(common(await handle.moment())).toEqual(await look('p-1'))
  // Instants stay instants beside what is hidden.
  expect((await handle.steps())[0]?.requestedAt).toEqual((await handle.moment()).steps[0]?.requestedAt)
  expect((await handle.status()).submittedAt).toBeInstanceOf(Date)
  expect(JSON.stringify(await Promise.all(records.map(({ seq }) => handle.moment(seq))))).not.toContain('4711')
  expect(await codeOf(handle.moment(last + 1))).toBe('UNKNOWN_RECORD')
  expect(await codeOf(handle.moment(0))).toBe('INVALID_OPTION')
  expect(await codeOf(s.engine.tasks.get('p-2').moment(1))).toBe('UNKNOWN_TASK')
})

it('a step says whether it stands and can be undone', async () => {
  down.clear()
  await using s = await stage(parts)
  const handle = await s.submit(parcel, { card: '4711', n: 1 }, { id: 'p-1' })
  await handle.signal('arrived', null)
  await s.advance('1m')
  const shown = async (seq?: number) =>
    Object.fromEntries((await handle.moment(seq)).steps.map(({ name, undoable }) => [name, undoable ?? false]))
  expect(await shown()).toEqual({ charge: true, pack: false, ship: true })
  await handle.compensate()
  await s.advance('1m')
  expect(await shown()).toEqual({ charge: false, pack: false, ship: false })
})

it('looks at one run, however long the history is', async () => {
  const asked: number[] = []
  const ticker = workflow('ticker', {
    async run(n: number, task) {
      for (let beat = 0; beat < 20; beat++) await task.run(pack, { card: '', n: beat })
      return n === 0 ? 'done' : task.continueAsNew(n - 1)
    },
  })
  await using s = await stage({
    workflows: [ticker],
    agents: [depot],
    store: seen(memory(), (store) => ({
      async records(id, after, most) {
        const found = await store.records(id, after, most)
        asked.push(found.length)
        return found
      },
    })),
  })
  const handle = await s.submit(ticker, 100, { id: 't-1' })
  await s.advance('1m')
  const { last } = await handle.moment()
  expect(last).toBeGreaterThan(2_000)
  asked.length = 0
  const { run, steps } = await handle.moment(last - 30)
  expect(run).toBeLessThan((await handle.moment()).run)
  expect(steps.length).toBeLessThanOrEqual(20)
  // Of two looks: a window on each side, the first record, and the way to the last one.
  expect(asked.reduce((sum, it) => sum + it)).toBeLessThan(2 * (500 + 500 + 1 + 40))
  // The store keeps two runs of a task that never ends.
  expect(await codeOf(handle.moment(Math.floor(last / 2)))).toBe('UNKNOWN_RECORD')
})
