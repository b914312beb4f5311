import { apply } from '../../src/kernel/apply.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { newState } from '../../src/kernel/state.ts'
import { batches, dated, type Evidence, forced, rewound, type Story } from './evidence.ts'
import type { Rule } from './history-rules.ts'
import type { Entry } from './ledger.ts'

/** Nothing awaits a forced stop's attempts: those that agents have taken hear of it with their next pulse (ms). */
const PULSE = 500

/** A node's clock follows the store's, and lags by what an answer takes (ms): here all is on one machine. */
const CLOCK_LAG = 25
/** On a busy one an answer takes longer. Then what a node recorded of an attempt shows by how much, up to this (ms). */
const BUSY_LAG = 500

/** Each task with what the ledger has of it. */
const both =
  (check: (story: Story, entries: Entry[], evidence: Evidence) => string[]): Rule =>
  (evidence: Evidence) => {
    const { tasks, ledger } = evidence
    const byTask = Map.groupBy(ledger, ({ task }) => task)
    return tasks.flatMap((story) =>
      check(story, byTask.get(story.row.id) ?? [], evidence).map((fault) => `${story.row.id}: ${fault}`),
    )
  }

const strangers: Rule = ({ tasks, ledger }) => {
  const known = new Set(tasks.map(({ row }) => row.id))
  return ledger
    .filter(({ kind, task }) => kind !== 'error' && !known.has(task))
    .map(({ key }) => `${key}: the service knows it, the store does not`)
}

/** Spans in which the task was stopped: from a stop until an operator or its parent sets it going again. */
function stops(story: Story): { from: number; until: number }[] {
  const spans: { from: number; until: number }[] = []
  for (const { at, event } of dated(story)) {
    const last = spans.at(-1)
    if (event.type === 'stopped') spans.push({ from: at, until: Number.POSITIVE_INFINITY })
    else if (last?.until === Number.POSITIVE_INFINITY && reopens(event)) last.until = at
  }
  return spans
}

function reopens(event: TaskEvent): boolean {
  return event.type === 'reset' || event.type === 'continuedAsNew' || event.type === 'closing'
}

/**
 * No attempt starts once its task has stopped. A node that stood still past its lease may start what it had made durable
 * before: nobody can stop what nobody hears of.
 */
const silence = both((story, entries, { pulse = PULSE, slack = CLOCK_LAG }) => {
  const late = (forced(story) ? pulse : 0) + slack
  const spans = stops(story)
  return entries
    .filter(({ kind, zombie }) => kind === 'call' && !zombie)
    .filter((entry) =>
      [entry.at, entry.at - lagOf(story, entry)].every((at) =>
        spans.some(({ from, until }) => at > from + late && at < until),
      ),
    )
    .map((entry) => `${nameOf(entry)} started after the task had stopped`)
})

/** Every attempt is one the history asked for, and none is early. */
const asked = both((story, entries) => {
  if (rewound(story)) return []
  const due = dueTimes(story)
  return entries.flatMap((entry) => {
    if (entry.kind !== 'call') return []
    const planned = due.get(attemptOf(entry))
    if (planned === undefined) return [`${nameOf(entry)} was never asked for`]
    return entry.at < planned ? [`${nameOf(entry)} started ${planned - entry.at} ms early`] : []
  })
})

/** When each attempt might start, by the history. */
function dueTimes(story: Story): Map<string, number> {
  const state = newState(story.row.id)
  const due = new Map<string, number>()
  for (const { at, event } of dated(story)) {
    apply(state, event, at, [])
    const step = 'id' in event && event.id !== undefined ? state.steps.get(event.id) : undefined
    if (!step) continue
    const { operation, attempt } = step
    const { id, incarnation } = state
    const task = incarnation ? `${id}~${incarnation}` : id
    const key = `${task}:${step.id}${step.generation === 0 ? '' : `~${step.generation}`}`
    const name = attemptOf({ key, operation, attempt })
    if (!due.has(name)) due.set(name, Math.max(step.due, at))
  }
  return due
}

/** No attempt starts after its own end was recorded: it was timed out, lost or withdrawn, and something else is under way. */
const superseded = both((story, entries, { slack = CLOCK_LAG }) => {
  const ended = new Map<string, number>()
  for (const { at, event } of dated(story)) {
    if (event.type === 'attemptFailed') ended.set(`${event.id} ${event.operation} ${event.attempt}`, at)
  }
  return entries.flatMap((entry) => {
    const at = ended.get(`${entry.step} ${entry.operation} ${entry.attempt}`) ?? Number.POSITIVE_INFINITY
    const late = entry.kind === 'call' && !entry.zombie && entry.at - lagOf(story, entry) > at + slack
    return late && !rewound(story) ? [`${nameOf(entry)} started ${entry.at - at} ms after it was given up`] : []
  })
})

/** How far behind the ledger's the clock was by which the attempt's own record tells when it began (ms). */
function lagOf(story: Story, { step, operation, attempt, at }: Entry): number {
  const lags = dated(story).flatMap(({ event }) => {
    if (!('startedAt' in event) || event.startedAt === null || event.id !== step || event.attempt !== attempt) return []
    const of = event.type === 'undone' ? 'undo' : 'operation' in event ? event.operation : 'run'
    const lag = at - event.startedAt
    return of === operation && lag >= 0 && lag <= BUSY_LAG ? [lag] : []
  })
  return lags.length > 0 ? Math.min(...lags) : 0
}

/** Actions that are never tried twice. */
const once: readonly string[] = ['ship', 'tell']

const atMostOnce = both((story, entries) => {
  if (rewound(story)) return []
  const runs = entries.filter(
    ({ kind, operation, action }) => kind === 'call' && operation === 'run' && once.includes(action),
  )
  // Unless an operator had it tried again, and answers for it.
  const retries = (id: number) => dated(story).filter(({ event }) => event.type === 'stepRetried' && event.id === id)
  return [...Map.groupBy(runs, ({ key }) => key)]
    .filter(([, calls]) => calls.length > 1 + retries(calls[0]?.step ?? 0).length)
    .map(([key, calls]) => `${key} was called ${calls.length} times, at most once was allowed`)
})

/** Actions that can be asked whether they took effect. */
const verifiable: readonly string[] = ['charge', 'ship']

/** What the history says was done is done, what it says was undone is undone, and nothing else. */
const effects = both((story, entries) => {
  if (rewound(story)) return []
  const faults: string[] = []
  const { done, undone, waived } = recorded(story)
  const of = (kind: Entry['kind']) =>
    Map.groupBy(
      entries.filter((entry) => entry.kind === kind),
      ({ step }) => step,
    )
  const [effect, undo] = [of('effect'), of('undo')]
  for (const id of done) {
    const first = effect.get(id)?.[0]
    if (!first) faults.push(`step ${id} is completed, its service knows nothing of it`)
    if (undone.has(id) && !undo.has(id)) faults.push(`step ${id} is undone, its service knows nothing of that`)
  }
  for (const [id, [first]] of undo) {
    if (!undone.has(id) && !waived.has(id) && !first?.zombie && !forced(story)) {
      faults.push(`step ${id} was undone by its service, not by the history`)
    }
  }
  for (const [id, [first]] of effect) {
    const sure = first && verifiable.includes(first.action) && !first.zombie && !forced(story)
    if (sure && !done.has(id) && !waived.has(id)) faults.push(`step ${id} took effect, the history knows nothing of it`)
  }
  return faults
})

/** Actions that only ask: what they did is in no ledger. */
const asking: readonly (string | null)[] = ['payments.fee']

function recorded(story: Story) {
  const done = new Set<number>()
  const undone = new Set<number>()
  /** An operator's word took the place of the service's. */
  const waived = new Set<number>()
  const herds = batches(story)
  const asked = new Set<number>()
  for (const { event } of dated(story)) {
    if (event.type === 'stepRequested' && asking.includes(event.action)) asked.add(event.id)
    if ('id' in event && (herds.has(event.id) || asked.has(event.id))) continue
    if ('by' in event && event.by === 'operator') waived.add(event.id)
    // What a cache gave its service knows nothing of.
    else if (event.type === 'stepCompleted' && !event.cached) done.add(event.id)
    else if (event.type === 'undone') undone.add(event.id)
  }
  return { done, undone, waived }
}

/** Errors that a node may meet when others hold the store, or when it leaves. */
const harmless: readonly string[] = ['STORE_BUSY', 'STORE_UNANSWERED', 'STORE_CLOSED', 'NODE_STOPPED', 'NODE_FENCED']

const errors: Rule = ({ ledger }) =>
  ledger
    .filter(({ kind, key }) => kind === 'error' && !harmless.includes(key))
    .map(({ key, note }) => `${key}: ${note}`)

function attemptOf({ key, operation, attempt }: Pick<Entry, 'key' | 'operation' | 'attempt'>): string {
  return `${key} ${operation} ${attempt}`
}

function nameOf({ action, step, operation, attempt }: Entry): string {
  return `${operation} attempt ${attempt} of step ${step} (${action})`
}

export const ledgerRules: Record<string, Rule> = {
  strangers,
  silence,
  asked,
  superseded,
  atMostOnce,
  effects,
  errors,
}
