import { expect, it } from 'vitest'
import { Readings } from '../../src/client/reading.ts'
import { BackgroundWork } from '../../src/environment/background-work.ts'
import { agent, workflow } from '../../src/index.ts'
import type { HistoryRecord, StateStore } from '../../src/store/port.ts'
import { recordText } from '../../src/store/record.ts'
import { memory } from '../../src/testing/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { seen, stage } from './harness.ts'

const depot = agent('depot')
const pack = depot.action('pack', { secrets: ['card'], run: async ({ n }: { n: number; card: string }) => ({ n }) })
const many = workflow('many', {
  async run({ steps }: { steps: number }, task) {
    for (let n = 0; n < steps; n++) await task.run(pack, { n, card: `card-${n}` })
    await task.waitForSignal('more')
    await task.run(pack, { n: steps, card: `card-${steps}` })
    return 'done'
  },
})

it('a look at a history that somebody has looked at reads what is new in it, and a page of it reads the page', async () => {
  let read = 0
  await using s = await stage({
    workflows: [many],
    agents: [depot],
    store: seen(memory(), (store) => ({
      async replay(id, page) {
        const records = await store.replay(id, page)
        read += records.length
        return records
      },
      async records(id, after, most) {
        const records = await store.records(id, after, most)
        read += records.length
        return records
      },
    })),
  })
  const task = await s.submit(many, { steps: 1_200 }, { id: 'm-1' })
  await s.settle()
  const looks = [
    () => task.status(),
    () => task.steps(),
    () => task.explain(),
    () => task.plan(),
    () => task.moment(),
    () => task.moment(600),
    () => task.history({ after: 700, limit: 3 }),
    () => task.export({ after: 700, limit: 3 }),
    () => task.logs(),
  ]
  for (const look of looks) await look()
  for (const look of looks) {
    read = 0
    await look()
    expect(read, String(look)).toBeLessThan(10)
  }
  expect((await task.history({ after: 700, limit: 3 })).map(({ seq }) => seq)).toEqual([701, 702, 703])
  expect(JSON.stringify(await task.history({ after: 700, limit: 3 }))).not.toContain('card-')
  await task.signal('more')
  await s.settle()
  read = 0
  const steps = await task.steps()
  expect(steps).toHaveLength(1_201)
  expect(steps.at(-1)).toMatchObject({ status: 'success', input: { n: 1_200, card: '•••' } })
  expect((await task.status()).status).toBe('stopped')
  expect(read).toBeLessThan(20)
  expect((await task.history()).length).toBe((await task.moment()).last)
})

it('a history of which the end was given up, and that went on otherwise, is read anew', async () => {
  const at = (seq: number, ...events: object[]): HistoryRecord => ({
    seq,
    at: seq,
    events: recordText(events as never),
  })
  const submitted = { type: 'submitted', workflow: 'w', version: '1', input: 1, tags: {}, metadata: {}, priority: 0 }
  let records = [at(1, submitted), at(2, { type: 'started' }), at(3, { type: 'progressed', id: 1, progress: 'old' })]
  const store = {
    replay: async (_: string, page?: { after: number }) => records.filter(({ seq }) => seq > (page?.after ?? 0)),
  } as unknown as StateStore
  const environment = new VirtualEnvironment()
  const readings = new Readings(store, environment, new BackgroundWork(environment))
  const row = { id: 't', key: 1, quarantined: false }
  expect((await readings.of(row)).state.progress).toBe('old')
  records = [...records.slice(0, 2), { ...at(3, { type: 'progressed', id: 1, progress: 'new' }), at: 9 }, at(4)]
  const { last, state } = await readings.of(row)
  expect([last, state.progress]).toEqual([4, 'new'])
})
