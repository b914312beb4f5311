import { describe, expect, it } from 'vitest'
import { editions, read, recorded } from '../../../../tools/recordings/recording.ts'
import { illShaped } from '../../src/client/event-shape.ts'
import { agent, isTriarchError, type TaskExport, TransientError, workflow } from '../../src/index.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { RecordReader } from '../../src/store/reader.ts'
import { stage } from './harness.ts'

describe('the shape of an event', () => {
  it('is that of every event that was ever recorded', () => {
    const seen = new Set<string>()
    for (const edition of editions())
      for (const feature of recorded(edition)) {
        const readers = new Map<string, RecordReader>()
        for (const { task, seq, events } of read(edition, feature).commits.flatMap(({ records }) => records ?? [])) {
          const reader = readers.get(task) ?? new RecordReader()
          readers.set(task, reader)
          for (const event of reader.events(events, seq)) {
            expect(illShaped(event), `${feature} ${event.type}`).toBeNull()
            seen.add(event.type)
          }
        }
      }
    expect(seen.size).toBeGreaterThan(40)
  })

  it('is missed by an event without one of its fields, with another type there, or with an impossible instant', () => {
    const whole = { type: 'timerStarted', id: 1, until: 5 } as const
    const made = (more: object) => illShaped({ ...whole, ...more } as TaskEvent)
    expect([
      made({}),
      made({ later: true }),
      made({ id: '1' }),
      made({ until: undefined }),
      made({ until: 1e16 }),
    ]).toEqual([...[null, null, 'id', 'until', 'until']])
    const names = ['a\0b', 'a\ud800b', 'x'.repeat(2_000), null, {}]
    for (const name of names)
      expect(illShaped({ type: 'waitStarted', id: 1, name, until: null } as TaskEvent)).toBe('name')
  })
})

const weird = [
  undefined,
  null,
  -1,
  1e15,
  Number.MAX_SAFE_INTEGER,
  'x',
  'a\0b',
  'a\ud800b',
  [],
  {},
  true,
  [[[]]],
  1.5,
  '__proto__',
]

/** Every place of a value, as the names and indexes that lead there. */
function places(value: unknown, at: string[] = []): string[][] {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [...(at.length > 0 ? [at] : []), ...inside.flatMap(([name, it]) => places(it, [...at, name]))]
}

function withPlace(value: TaskExport, place: readonly string[], to: unknown): TaskExport {
  const copy = structuredClone(value)
  const last = place.at(-1) as string
  let at = copy as unknown as Record<string, unknown>
  for (const name of place.slice(0, -1)) at = at[name] as Record<string, unknown>
  if (to === undefined) delete at[last]
  else at[last] = to
  return copy
}

const bank = agent('bank')
const charge = bank.action('charge', {
  retry: { attempts: 2, backoff: { initial: '1ms' } },
  run(_: number, { attempt }) {
    if (attempt === 1) throw new TransientError('later')
    return { receipt: 7 }
  },
})
const waits = workflow('waits', {
  async run(n: number, task) {
    await task.run(charge, n)
    await task.sleep('1s')
    return task.waitForSignal('go', { timeout: '1d' })
  },
})
const planned = workflow('planned', {
  plan(n: number, plan) {
    const first = plan.lock('x', () => plan.step(charge, n))
    return plan.step(charge, 1, { after: [first] }).output
  },
})

describe('an export that was changed at any place', () => {
  it('is refused with the number of the record and the name of the field, and nothing of it is stored', async () => {
    await using there = await stage({ workflows: [waits], agents: [bank] })
    const task = await there.submit(waits, 1, { id: 't' })
    await there.advance('10s')
    const history = await task.export()
    const record = history.records.findIndex(({ events }) => JSON.stringify(events).includes('"timerStarted"'))
    const events = history.records[record]?.events as unknown as TaskEvent[]
    const event = events.findIndex(({ type }) => type === 'timerStarted')
    const changed = withPlace(history, ['records', String(record), 'events', String(event), 'until'], 1e15 * 9)
    await using here = await stage({ workflows: [], agents: [] })
    const seq = history.records[record]?.seq
    await expect(here.engine.triarch.tasks.import(changed)).rejects.toMatchObject({
      code: 'IMPORT_REFUSED',
      details: { cause: 'history', code: 'HISTORY_CORRUPT', record: seq, event, field: 'until' },
    })
    expect((await here.engine.triarch.tasks.list()).tasks).toEqual([])
  })

  it.each([waits, planned])('is refused by a code, or imported as a task that can be looked at: %o', async (flow) => {
    await using there = await stage({ workflows: [waits, planned], agents: [bank] })
    const task = await there.submit(flow, 1, { id: 't', tags: { a: 'b' } })
    await there.advance('10s')
    const history = await task.export()
    await using here = await stage({ workflows: [], agents: [] })
    let [refused, taken] = [0, 0]
    const bad: string[] = []
    const all = places(history)
    for (const [index, place] of all.entries())
      for (const to of weird.filter((_, at) => (at + index) % 3 === 0)) {
        const id = `t${refused + taken}`
        const changed = { ...withPlace(history, place, to), ...(place[0] !== 'task' && { task: id }) }
        const what = `${place.join('.')}: ${JSON.stringify(to)}`
        try {
          const made = await here.engine.triarch.tasks.import(changed)
          for (const call of ['status', 'history', 'steps', 'explain', 'moment', 'plan', 'children', 'export'] as const)
            await made[call]()
          taken++
        } catch (error) {
          if (!isTriarchError(error) || !/^(INVALID|IMPORT|UNKNOWN|TASK)_/.test(error.code))
            bad.push(`${what} ${(error as Error).stack?.slice(0, 300)}`)
          refused++
        }
      }
    expect(bad).toEqual([])
    expect(Math.min(refused, taken)).toBeGreaterThan(10)
    await here.engine.triarch.tasks.list()
    expect(here.errors).toEqual([])
  })
})
