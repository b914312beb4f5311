import { beforeAll, describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { dated, type Evidence, forced, rewound, type Story } from './evidence.ts'
import type { Entry } from './ledger.ts'
import { rules, violations } from './rules.ts'
import { calm } from './run.ts'

type Event<T extends TaskEvent['type']> = Extract<TaskEvent, { type: T }>

/** The place of an event in the evidence, so that it can be doctored. */
interface Found<T extends TaskEvent['type']> {
  story: Story
  record: Story['records'][number]
  index: number
  event: Event<T>
}

type Spot = Pick<Found<'started'>, 'record' | 'index'>

interface Doing {
  story: Story
  event: { id: number }
}

let good: Evidence

beforeAll(async () => {
  good = await calm(1)
}, 60_000)

function find<T extends TaskEvent['type']>(
  { tasks }: Evidence,
  type: T,
  fits: (event: Event<T>, story: Story) => boolean = () => true,
): Found<T> {
  for (const story of tasks) {
    if (rewound(story) || forced(story)) continue
    for (const record of story.records) {
      const index = record.events.findIndex((event) => event.type === type && fits(event as Event<T>, story))
      if (index >= 0) return { story, record, index, event: record.events[index] as Event<T> }
    }
  }
  throw new Error(`the good run has no such ${type}`)
}

function entry({ ledger }: Evidence, fits: (entry: Entry) => boolean): Entry {
  const found = ledger.find(fits)
  if (!found) throw new Error('the good run has no such entry')
  return found
}

/** Completed by the action itself, in a task that succeeded. */
function completed(evidence: Evidence): Found<'stepCompleted'> {
  return find(
    evidence,
    'stepCompleted',
    ({ by }, { row }) => by === undefined && row.result === 'success' && row.workflow !== 'batch',
  )
}

function insert({ record, index }: Spot, event: TaskEvent, shift: number = 1): void {
  record.events.splice(index + shift, 0, event)
}

const requested = (id: number): TaskEvent => ({
  type: 'stepRequested',
  id,
  action: 'shop.reserve',
  name: 'reserve',
  input: {},
  policy: {},
})

/** What must not be, and the rule that sees it. */
const crimes: [rule: string, crime: string, commit: (evidence: Evidence) => unknown][] = [
  ['accepted', 'an accepted task is lost', (e) => e.tasks.shift()],
  ['accepted', 'a task is there twice', (e) => e.tasks.push(structuredClone(e.tasks[0] as Story))],
  ['gapless', 'a record is missing', (e) => e.tasks[0]?.records.splice(1, 1)],
  ['gapless', 'a record is there twice', (e) => e.tasks[0]?.records.push(e.tasks[0].records[0] as never)],
  ['fold', 'the row says something else', (e) => set(e.tasks[0]?.row, { failures: 99 })],
  ['fold', 'the history makes an illegal move', (e) => insert(find(e, 'started'), { type: 'compensating' }, 0)],
  ['outcome', 'a step fails after it is completed', (e) => insertAfter(e, 'stepFailed')],
  ['answers', 'a reply is recorded twice', (e) => insert(completed(e), completed(e).event)],
  [
    'dependencies',
    'a step is requested before what it needs',
    (e) => {
      const needs = (event: Event<'stepRequested'>) => ((event.input as { after?: number[] })?.after?.length ?? 0) > 0
      const { event } = find(e, 'stepRequested', needs)
      event.input = { after: [4711] }
    },
  ],
  ['closed', 'a step is requested while the task unwinds', (e) => insert(find(e, 'returned'), requested(4711))],
  ['closed', 'a step is requested after the stop', (e) => insert(find(e, 'stopped'), requested(4711))],
  ['timers', 'a timer fires early', (e) => hasten(find(e, 'timerFired').story)],
  ['timers', 'a timer fires twice', (e) => insert(find(e, 'timerFired'), find(e, 'timerFired').event)],
  [
    'batched',
    'a child is counted twice',
    (e) => {
      const found = find(e, 'batchAdvanced', ended)
      const { started: _, ...counted } = found.event
      insert(found, counted)
    },
  ],
  ['batched', 'a child that succeeded is not counted', (e) => set(succeededBatch(e), { output: '{"success":0}' })],
  ['compensation', 'a completed step is not undone', (e) => remove(find(e, 'undone', ofAction(e)))],
  ['compensation', 'a step is undone twice', (e) => insert(find(e, 'undone'), find(e, 'undone').event)],
  ['compensation', 'a step is undone unasked', (e) => remove(find(e, 'undoRequested'))],
  [
    'compensation',
    'a step is undone before what came after it',
    (e) => {
      const { story } = find(e, 'undoRequested', ({ id }, story) => cameAfterAnother(id, story))
      const order = undos(story)
      const ids = order.map(({ id }) => id).reverse()
      for (const [index, event] of order.entries()) event.id = ids[index] as number
    },
  ],
  [
    'compensation',
    'what was never done is undone',
    (e) => {
      const { story, event } = find(e, 'undoRequested', ofAction(e))
      const done = find(e, 'stepCompleted', ({ id }, { row }) => row.id === story.row.id && id === event.id)
      remove(done)
    },
  ],
  [
    'children',
    'a child that its parent holds for undone is not',
    (e) => {
      const child = find(e, 'undone', ({ id }, story) => childOf(story, id) !== undefined)
      const name = childOf(child.story, child.event.id)
      for (const { row } of e.tasks) if (row.id === name) row.result = 'success'
    },
  ],
  ['children', 'a child does not exist', (e) => set(find(e, 'childStarted').event, { task: 'nobody' })],
  ['events', 'events are heard in another order', (e) => set(heard(e).row, { output: '[1,0]' })],
  ['rest', 'a task never stops', (e) => set(e.tasks[0]?.row, { status: 'running' })],
  ['rest', 'a task is owned by nobody alive', (e) => set(e.tasks[0]?.row, { locked_by: 'a ghost' })],
  ['rest', 'a task waits for an owner', (e) => set(e.tasks[0]?.row, { ready: 1 })],
  ['rest', 'a letter is never read', (e) => e.inbox.push({ task: 1 })],
  ['rest', 'work is left behind', (e) => e.work.push({ task: 1 })],
  ['rest', 'a node that left is listed', (e) => e.nodes.push({ id: 'ghost', dead: 0 })],
  ['strangers', 'a service worked for no known task', (e) => set(e.ledger[0], { task: 'nobody' })],
  ['silence', 'an attempt starts after the stop', (e) => shift(calledFor(e, completed(e)), 60_000)],
  ['asked', 'an attempt nobody asked for', (e) => set(calledFor(e, completed(e)), { attempt: 77 })],
  ['asked', 'an attempt starts early', (e) => shift(calledFor(e, completed(e)), -60_000)],
  [
    'superseded',
    'an attempt starts after it was given up',
    (e) => {
      // One that was given up before it began, on a slow machine, is in no ledger.
      const calls = ({ operation, id, attempt }: Event<'attemptFailed'>, { row }: Story) =>
        e.ledger.filter(
          (one) => one.kind === 'call' && one.operation === operation && `${row.id}:${id}:${attempt}` === placeOf(one),
        )
      const { story, event } = find(e, 'attemptFailed', (failed, of) => calls(failed, of).length > 0)
      for (const late of calls(event, story)) shift(set(late, { zombie: false }), 60_000)
    },
  ],
  [
    'atMostOnce',
    'an at-most-once step is called twice',
    (e) => {
      const tasks = unaided(e)
      const ships = ({ action, kind, operation, task }: Entry) =>
        action === 'ship' && kind === 'call' && operation === 'run' && tasks.has(task)
      e.ledger.push({ ...entry(e, ships) })
    },
  ],
  ['effects', 'a completed step had no effect', (e) => drop(e, completed(e), 'effect')],
  ['effects', 'an undone step was not undone', (e) => drop(e, find(e, 'undone', ofAction(e)), 'undo')],
  [
    'effects',
    'a step that counts is undone by its service',
    (e) => e.ledger.push({ ...effectOf(e, completed(e)), kind: 'undo', zombie: false }),
  ],
  [
    'effects',
    'an effect is forgotten',
    (e) => {
      const charge = entry(e, ({ action, kind, zombie }) => action === 'charge' && kind === 'effect' && !zombie)
      const fits = ({ id }: { id: number }, { row }: Story) => row.id === charge.task && id === charge.step
      remove(find(e, 'stepCompleted', fits))
    },
  ],
  [
    'errors',
    'the engine contradicts itself',
    (e) => e.ledger.push({ ...(e.ledger[0] as Entry), kind: 'error', key: 'INVARIANT' }),
  ],
]

function placeOf({ task, step, attempt }: Entry): string {
  return `${task}:${step}:${attempt}`
}

/** Tasks in which no operator had anything done again. */
function unaided({ tasks }: Evidence): Set<string> {
  const again = (story: Story) => rewound(story) || dated(story).some(({ event }) => event.type === 'stepRetried')
  return new Set(tasks.filter((story) => !again(story)).map(({ row }) => row.id))
}

function insertAfter(evidence: Evidence, type: 'stepFailed'): void {
  const found = completed(evidence)
  insert(found, { type, id: found.event.id, error: { name: 'Error', message: 'too late' } })
}

function remove({ record, index }: Spot): void {
  record.events.splice(index, 1)
}

function hasten({ records }: Story): void {
  for (const record of records.slice(1)) record.at -= 60_000
}

function shift(entry: Entry, by: number): void {
  entry.at += by
}

function set<T extends object>(target: T | undefined, values: Partial<T>): T {
  return Object.assign(target as T, values)
}

/** Of a step that an agent or a local function took back, not a child or an undo made for the occasion. */
function ofAction({ ledger }: Evidence) {
  return ({ id }: { id: number }, { row }: Story) =>
    ledger.some(({ kind, task, step }) => kind === 'effect' && task === row.id && step === id)
}

/**
 * Whether a step that is undone later was done before this one was requested. The rule says nothing of a history that was rewound, of a plan, which is
 * undone against its own edges, and of the runs before the last one.
 */
function cameAfterAnother(id: number, story: Story): boolean {
  const events = story.records.flatMap(({ events }) => events)
  if (rewound(story) || events.some(({ type }) => type === 'planned' || type === 'continuedAsNew')) return false
  const order = undos(story).map((undo) => undo.id)
  const asked = events.findIndex((event) => event.type === 'stepRequested' && event.id === id)
  const isBefore = (event: TaskEvent) => event.type === 'stepCompleted' && order.indexOf(event.id) > order.indexOf(id)
  return order.length === new Set(order).size && events.slice(0, Math.max(0, asked)).some(isBefore)
}

function undos(story: Story): Event<'undoRequested'>[] {
  return dated(story).flatMap(({ event }) => (event.type === 'undoRequested' ? [event] : []))
}

function childOf(story: Story, id: number): string | undefined {
  const started = dated(story).find(({ event }) => event.type === 'childStarted' && event.id === id)?.event
  return started?.type === 'childStarted' ? started.task : undefined
}

function ended({ ended }: Event<'batchAdvanced'>): boolean {
  return (ended?.length ?? 0) > 0
}

function succeededBatch({ tasks }: Evidence): Story['row'] | undefined {
  return tasks.find((story) => story.row.workflow === 'batch' && story.row.result === 'success' && !rewound(story))?.row
}

function heard({ tasks }: Evidence): Story {
  const story = tasks.find(({ row }) => row.workflow === 'listener' && ['success', 'warning'].includes(row.result))
  if (!story) throw new Error('nobody heard anything')
  return story
}

function ledgerOf({ ledger }: Evidence, { story, event }: Doing, kind: Entry['kind']) {
  return ledger.filter((one) => one.kind === kind && one.task === story.row.id && one.step === event.id)
}

function calledFor(evidence: Evidence, found: Doing): Entry {
  return Object.assign(ledgerOf(evidence, found, 'call')[0] as Entry, { zombie: false })
}

function effectOf(evidence: Evidence, found: Doing): Entry {
  return ledgerOf(evidence, found, 'effect')[0] as Entry
}

function drop(evidence: Evidence, found: Doing, kind: Entry['kind']): void {
  const gone = new Set(ledgerOf(evidence, found, kind))
  evidence.ledger = evidence.ledger.filter((one) => !gone.has(one))
}

describe('the rules of the crash test', () => {
  it('find nothing in a good run', () => expect(violations(good)).toEqual([]))

  it.each(crimes)('%s: %s', (rule, _, commit) => {
    const evidence = structuredClone(good)
    commit(evidence)
    expect(rules[rule]?.(evidence)).not.toEqual([])
  })

  it('can each fail', () => expect(new Set(crimes.map(([rule]) => rule))).toEqual(new Set(Object.keys(rules))))
})
