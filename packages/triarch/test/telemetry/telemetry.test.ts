import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TelemetryListeners, Triarch, telemetryNames, workflow } from '../../src/index.ts'
import { memory, testEngine } from '../../src/testing/index.ts'
import { codeOf } from '../engine/harness.ts'
import { type Heard, scene } from './scene.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/telemetry.md'), 'utf8')

/** event → its fields: those that its section gives to all, and its own. */
function documented(): Map<string, string[]> {
  const events = new Map<string, string[]>()
  for (const section of page.split(/^## /m)) {
    const [, common = ''] = /^Each has (.*)\.$/m.exec(section) ?? []
    for (const [, event = '', besides = ''] of section.matchAll(/^\| `([a-z:]+)` \| [^|]* \|([^|]*)\|$/gm))
      events.set(event, [...named(common), ...named(besides)].sort())
  }
  return events
}

/** What stands in parentheses says what a field means. */
function named(text: string): string[] {
  return [...text.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, field = '']) => field)
}

describe('the catalogue of telemetry', () => {
  let told: Heard
  let scheduler: Heard
  let agent: Heard
  let errors: unknown[]

  beforeAll(async () => {
    ;({ scheduler, agent, errors } = await scene())
    told = Object.fromEntries(telemetryNames.map((name) => [name, [...scheduler[name], ...agent[name]]])) as Heard
  })

  it('and its docs page hold the same events', () => {
    expect([...documented().keys()].sort()).toEqual([...telemetryNames].sort())
  })

  it.each(telemetryNames)('%s is told when it happens, with the fields that its docs name', (name) => {
    expect(told[name].length).toBeGreaterThan(0)
    for (const event of told[name]) expect(Object.keys(event).sort()).toEqual(documented().get(name))
  })

  it('tells each end of a task once, with what made it', () => {
    const ends = scheduler['task:stopped'].map(({ task, outcome }) => `${task} ${outcome}`)
    for (const end of ['undone compensated', 'again success', 'later success']) {
      expect(ends.filter((one) => one === end)).toHaveLength(1)
    }
    const made = scheduler['task:submitted']
    expect(made.filter(({ task }) => task === 'undone')).toHaveLength(1)
    expect(made.some(({ schedule }) => schedule === 'often')).toBe(true)
    expect(made.filter(({ parent }) => parent === 'again')).toHaveLength(2)
    expect(made.filter(({ parent }) => parent === 'plan')).toHaveLength(3)
  })

  it('tells of a step what became of it, over all its attempts', () => {
    const of = <E extends { task: string; name: string }>(events: E[]) =>
      events.filter(({ task, name }) => task === 'undone' && name === 'flaky')
    expect(of(scheduler['step:requested'])).toHaveLength(1)
    expect(of(scheduler['step:retried'])).toMatchObject([{ action: 'shop.flaky', attempt: 1, lost: null }])
    expect(of(agent['attempt:started'])).toMatchObject([
      { operation: 'run', attempt: 1 },
      { operation: 'run', attempt: 2 },
      { operation: 'undo', attempt: 1 },
    ])
    expect(of(agent['attempt:ended']).map(({ outcome }) => outcome)).toEqual(['failed', 'done', 'done'])
    const ended = of(scheduler['step:ended'])
    expect(ended).toMatchObject([{ outcome: 'success' }, { outcome: 'compensated' }])
    for (const { ms } of ended) expect(ms).toBeGreaterThanOrEqual(1_000)
    expect(scheduler['attempt:started'].map(({ action }) => action)).toEqual([null])
  })

  it('tells of tasks that were taken over', () => {
    const [lost] = scheduler['lease:lost']
    const taken = scheduler['task:claimed'].filter(({ task }) => task === 'sleeper')
    expect(taken).toMatchObject([{ orphaned: true, epoch: 2 }])
    expect(taken[0]?.node).not.toBe(lost?.node)
    expect(scheduler['task:replayed'].filter(({ task }) => task === 'sleeper')).toHaveLength(1)
  })

  it('tells of what waits in queues, and for how long it did', () => {
    const of = <E extends { task: string; name: string }>(events: E[]) => events.filter(({ task }) => task === 'drips')
    expect(of(scheduler['step:parked'])).toMatchObject([1, 2, 3].map((step) => ({ step, queue: 'narrow', attempt: 1, rank: 0 }))) // biome-ignore format: a row
    // Each attempt of an agent that is elsewhere, also one that a record asks for alone.
    const alone = scheduler['step:parked'].filter(({ task, name }) => task === 'undone' && name === 'flaky')
    expect(alone.map(({ operation, attempt }) => `${operation} ${attempt}`)).toEqual(['run 1', 'run 2', 'undo 1'])
    // One each ten seconds.
    const waits = of(agent['attempt:started']).map(({ waited }) => Math.round((waited ?? 0) / 10_000))
    expect(waits).toEqual([0, 1, 2])
    expect(agent['rate:moved'].map(({ limit, to, waiting }) => [limit, to, waiting > 0])).toEqual([
      ['narrow', 'holding', true],
      ['narrow', 'free', false],
    ])
    // What runs where its task is waits in none.
    expect(scheduler['attempt:started'].map(({ waited }) => waited)).toEqual([null])
    expect(scheduler['queue:full']).toMatchObject([{ workflow: 'bounded', most: 1, outcome: 'refused' }, {}])
  })

  it('tells for how long a node was silent that died', () => {
    const died = scheduler['node:died'].filter(({ dead }) => dead === 'gone')
    expect(died).toHaveLength(1)
    // Its lease, and the look that noticed.
    expect(died[0]?.silent).toBeGreaterThanOrEqual(5_000)
    expect(died[0]?.silent).toBeLessThan(8_000)
  })

  it('has nothing in it that goes wrong', () => {
    expect(new Set(errors.map(String))).toEqual(new Set(['Error: a listener']))
    expect(scheduler.error.map(({ error }) => error)).toEqual(errors)
  })
})

const fine = workflow('fine', { run: async (n: number) => n })

describe('a listener', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('bang')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('bang')
      },
    ],
  ] as const)('that %s hurts nobody, and onError hears of it', async (_, listener) => {
    const errors: unknown[] = []
    const all = Object.fromEntries(telemetryNames.map((name) => [name, listener])) as TelemetryListeners
    await using engine = await testEngine({ workflows: [fine], telemetry: all, onError: (error) => errors.push(error) })
    const task = await engine.submit(fine, 1)
    await engine.settle()
    expect(await task.result()).toBe(1)
    expect(new Set(errors.map(String))).toEqual(new Set(['Error: bang']))
    expect(errors.length).toBeGreaterThan(4)
  })

  it('of a channel hears what the option tells, while it is subscribed', async () => {
    const told: unknown[] = []
    const published: unknown[] = []
    const hear = (event: unknown) => published.push(event)
    await using engine = await testEngine({
      workflows: [fine],
      telemetry: { 'task:stopped': (event) => told.push(event) },
    })
    subscribe('triarch:task:stopped', hear)
    try {
      await engine.submit(fine, 1, { id: 'a' })
      await engine.settle()
    } finally {
      unsubscribe('triarch:task:stopped', hear)
    }
    await engine.submit(fine, 1, { id: 'b' })
    await engine.settle()
    expect(published).toMatchObject([{ task: 'a', outcome: 'success' }])
    expect(told).toMatchObject([{ task: 'a' }, { task: 'b' }])
    expect(published[0]).toBe(told[0])
  })

  it('of an event that does not exist is refused', () => {
    const made = (telemetry: object) => codeOf(Promise.try(() => new Triarch({ store: memory(), telemetry })))
    return Promise.all([
      expect(made({ 'task:stoped': () => null })).resolves.toBe('UNKNOWN_OPTION'),
      expect(made({ commit: 1 })).resolves.toBe('INVALID_OPTION'),
      expect(made([])).resolves.toBe('INVALID_OPTION'),
    ])
  })
})
