import type { BatchPolicy, CarriedBatch, PageMark } from '../kernel/batch/batch.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { Plan, PlannedGroup, PlannedStep } from '../kernel/plan/plan.ts'
import type { RecordedPolicy, RetryPlan } from '../kernel/step/policy.ts'
import type { CacheMark } from '../kernel/step/step.ts'
import type { SelfSignal } from '../kernel/suspension/suspension.ts'
import type { HookOrder, Parent, Submission } from '../kernel/task/order.ts'
import { isStorable } from '../value/text.ts'

type Guard<T> = (value: unknown) => value is T
/** A field that may be absent. */
interface Maybe<T> {
  readonly maybe: Guard<T>
}
/** A guard for each field of the type, so that a forgotten field does not compile. */
type Guards<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? Maybe<Exclude<T[K], undefined>> : Guard<T[K]>
}
type EventGuards = { readonly [E in TaskEvent as E['type']]: Guards<Omit<E, 'type'>> }

/** The furthest instant that a date can have, in both directions (ms). */
const FURTHEST = 8.64e15
const LONGEST_WORD = 1_000

const maybe = <T>(guard: Guard<T>): Maybe<T> => ({ maybe: guard })
const json = (value: unknown): value is Json => value !== undefined
const text = (value: unknown): value is string => typeof value === 'string' && isStorable(value)
/** A name or an identifier, which the stores keep in columns and indexes. */
const word = (value: unknown): value is string => text(value) && value.length <= LONGEST_WORD
const number = (value: unknown): value is number => Number.isFinite(value)
const whole = (value: unknown): value is number => Number.isSafeInteger(value)
const count = (value: unknown): value is number => whole(value) && value >= 0
export const isInstant = (value: unknown): value is number => number(value) && Math.abs(value) <= FURTHEST
const boolean = (value: unknown): value is boolean => typeof value === 'boolean'
const truth = (value: unknown): value is true => value === true
const nullable =
  <T>(guard: Guard<T>): Guard<T | null> =>
  (value): value is T | null =>
    value === null || guard(value)
const either =
  <A, B>(a: Guard<A>, b: Guard<B>): Guard<A | B> =>
  (value): value is A | B =>
    a(value) || b(value)
const one =
  <const T extends string | number>(...words: readonly T[]): Guard<T> =>
  (value): value is T =>
    words.includes(value as T)
const list =
  <T>(guard: Guard<T>): Guard<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(guard)
const record =
  <T>(guard: Guard<T>): Guard<Record<string, T>> =>
  (value): value is Record<string, T> =>
    isObject(value) && Object.entries(value).every(([name, it]) => word(name) && guard(it))
const shaped =
  <T extends object>(guards: Guards<T>): Guard<T> =>
  (value): value is T =>
    isObject(value) && faultIn(value, guards) === null

function error(value: unknown): value is ErrorRecord {
  for (let at: unknown = value; ; at = at.cause) {
    if (!isObject(at) || !text(at.name) || !text(at.message)) return false
    if ([at.code, at.stack].some((it) => it !== undefined && !text(it))) return false
    if (at.cause === undefined) return true
  }
}

const remark = { note: maybe(text), actor: maybe(word) }
const cached = shaped<CacheMark>({ at: isInstant, from: one('memory', 'shared'), stale: maybe(truth) })
const trace = {
  attempt: count,
  startedAt: nullable(isInstant),
  endedAt: isInstant,
  node: nullable(word),
  cached: maybe(cached),
}
const operation = one('run', 'verify', 'undo')
const next = shaped<{ operation: 'run' | 'verify' | 'undo'; at: number }>({ operation, at: isInstant })
const parentPolicy = one('cancel', 'detach', 'wait')
const outcome = one('pending', 'success', 'warning', 'error', 'cancelled', 'compensated')
const ifHeld = one('queue', 'reject', 'replace')
const parent = shaped<Parent>({
  ...{ task: word, step: whole, ordinal: maybe(whole), awaits: maybe(truth), above: maybe(list(word)) },
})
const hook = shaped<HookOrder>({ on: list(word), workflow: word, version: word })
const retry = shaped<RetryPlan>({ attempts: count, initial: number, factor: number, max: number, jitter: boolean })
const rescue = one('skip', 'pause', 'fail', 'compensate')
const batch = shaped<BatchPolicy>({
  ...{ workflow: word, version: word, concurrency: count, page: count, tolerate: nullable(either(number, word)) },
  ...{ failFast: boolean, quorum: nullable(count), onCancel: parentPolicy, priority: maybe(whole) },
  ...{ tags: maybe(record(word)), completeWithin: maybe(number), hooks: maybe(list(hook)), secrets: maybe(list(text)) },
})
const policy = shaped<RecordedPolicy>({
  ...{
    retry: maybe(retry),
    undoRetry: maybe(retry),
    completeWithin: maybe(number),
    expiresIn: maybe(nullable(number)),
  },
  ...{ heartbeatWithin: maybe(nullable(number)), rescue: maybe(rescue), substitute: maybe(json) },
  ...{ substituted: maybe(boolean), semantics: maybe(one('at-least-once', 'at-most-once')), undo: maybe(boolean) },
  ...{ verify: maybe(boolean), priority: maybe(whole), weight: maybe(number), secrets: maybe(list(text)) },
  ...{ batch: maybe(nullable(batch)), defaults: maybe(one(1)) },
})
const carriedBatch = shaped<CarriedBatch>({ generation: count, next: count, success: count, foreign: list(count) })
const selfSignal = shaped<SelfSignal>({ name: word, payload: json, at: isInstant })
const pageMark = shaped<PageMark>({ offset: count, digest: word })
const signal = shaped<{ name: string; payload: Json }>({ name: word, payload: json })
const plannedStep = shaped<PlannedStep>({
  ...{ action: nullable(word), lock: maybe(word), unlock: maybe(whole), name: maybe(word), input: maybe(json) },
  ...{ after: maybe(list(whole)), policy: maybe(count), group: maybe(count), weight: maybe(number) },
  ...{ finalizes: maybe(either(whole, list(whole))) },
})
const group = shaped<PlannedGroup>({ action: word, name: word, group: maybe(count) })
const ended = (value: unknown): value is [number, number, 'success'] =>
  Array.isArray(value) && value.length === 3 && count(value[0]) && count(value[1]) && outcome(value[2])

const guards: EventGuards = {
  submitted: {
    ...{ workflow: word, version: word, input: json, startAt: maybe(isInstant), startBefore: maybe(isInstant) },
    ...{ completeBy: maybe(isInstant), priority: maybe(whole), tags: maybe(record(word)) },
    ...{
      share: maybe(shaped<NonNullable<Submission['share']>>({ key: word, weight: number })),
      metadata: maybe(record(text)),
    },
    exclusive: maybe(list(shaped<{ key: string; ifHeld: 'queue' | 'reject' | 'replace' }>({ key: word, ifHeld }))),
    after: maybe(list(shaped<{ task: string; on: 'success' | 'end' }>({ task: word, on: one('success', 'end') }))),
    ...{ frozen: maybe(truth), parent: maybe(parent), hooks: maybe(list(hook)), secrets: maybe(list(text)) },
    ...{ secretTexts: maybe(list(text)), incarnation: maybe(word) },
  },
  started: { completeBy: maybe(isInstant) },
  messageIgnored: { message: word, name: maybe(word), step: maybe(whole), reason: text, ...remark },
  requestReceived: { request: word, digest: maybe(word), by: maybe(one('token')) },
  paused: {
    reason: one('operator', 'lock', 'step', 'undo', 'unknown-outcome', 'mismatch', 'error', 'quarantine'),
    ...{ error: maybe(error), step: maybe(whole), ...remark },
  },
  resumed: remark,
  closing: {
    ...{ cause: one('cancel', 'deadline', 'limit', 'operator'), compensate: boolean, error: maybe(error), ...remark },
  },
  compensating: {},
  adopted: { parent },
  reset: {
    ...{ step: nullable(whole), input: maybe(json), children: maybe(list(whole)), attempts: maybe(record(count)) },
    ...{ endId: maybe(whole), ...remark },
  },
  continuedAsNew: {
    ...{
      input: json,
      nextId: whole,
      pendingSignals: list(signal),
      fromStart: maybe(truth),
      requests: maybe(list(word)),
    },
    ...{
      tokenRequests: maybe(list(word)),
      digests: maybe(record(word)),
      locksHeld: maybe(truth),
      parent: maybe(parent),
    },
    ...{ completeBy: maybe(nullable(isInstant)), left: maybe(count), stops: maybe(count) },
    ...{ secretTexts: maybe(list(text)), ...remark },
  },
  stopped: { result: outcome, output: maybe(json), error: maybe(error) },
  patched: { patch: word },
  progressed: { progress: json },
  returned: { output: json },
  threw: { error, rescue },
  continueAsNewRequested: { input: json },
  planning: {},
  planned: {
    plan: shaped<Plan>({
      ...{ first: whole, steps: list(plannedStep), policies: list(policy), groups: list(group), output: json },
      runWithin: maybe(number),
    }),
  },
  stepRequested: { id: whole, action: nullable(word), name: word, input: json, policy },
  undoRegistered: { id: whole, name: word, policy: maybe(policy) },
  stepCarried: {
    ...{ id: whole, action: nullable(word), name: word, input: json, output: json, policy, generation: count },
    ...{ requestedAt: whole, completedAt: whole, fallbackOf: maybe(list(word)), batch: maybe(carriedBatch) },
  },
  stepCompleted: { id: whole, output: json, by: maybe(one('verify', 'operator')), ...trace },
  attemptFailed: {
    ...{ id: whole, operation, error, unknown: maybe(truth), lost: maybe(one('death', 'silence', 'alive', 'stop')) },
    ...{ next: maybe(next), ...trace },
  },
  verified: { id: whole, answer: one('not-done', 'unknown'), next: maybe(next) },
  verifyRequested: { id: whole, at: isInstant },
  fallbackRequested: { id: whole, action: word, policy, at: isInstant },
  heartbeat: {
    ...{ id: whole, attempt: count, progress: maybe(json), checkpoint: maybe(json) },
    ...{ trial: maybe(one('begun', 'survived')), given: maybe(number), awaited: maybe(isInstant) },
    putOff: maybe(isInstant),
  },
  stepFailed: { id: whole, error },
  stepSkipped: {
    ...{ id: whole, output: maybe(json), cascade: maybe(list(whole)), by: one('rescue', 'operator'), ...remark },
  },
  plannedStepFailed: { id: whole, error },
  stepCancelled: { id: whole },
  stepRetried: { id: whole, input: maybe(json), at: isInstant, keepSignal: maybe(truth), ...remark },
  undoRequested: { id: whole, at: isInstant },
  undone: { id: whole, by: maybe(one('operator')), incomplete: maybe(truth), ...trace, ...remark },
  stepSuspended: {
    ...{ id: whole, until: maybe(isInstant), selfSignals: maybe(list(selfSignal)), checkpoint: maybe(json) },
    ...{ progress: maybe(json), notifyOnCancel: maybe(truth), total: maybe(count), page: maybe(pageMark), ...trace },
  },
  stepSignalled: {
    ...{ id: whole, name: word, payload: json, selfSignalAt: maybe(isInstant), queued: maybe(truth), ...remark },
  },
  timerStarted: { id: whole, until: isInstant },
  waitStarted: { id: whole, name: word, until: nullable(isInstant) },
  timerFired: { id: whole },
  signalReceived: { name: word, payload: json, ...remark },
  waitTimedOut: { id: whole },
  childStarted: {
    ...{ id: whole, task: word, workflow: word, version: word, mode: one('call', 'start'), onCancel: parentPolicy },
    ...{ undo: boolean, asked: maybe(truth) },
  },
  childCarried: {
    ...{ id: whole, task: word, workflow: word, mode: one('call', 'start'), onCancel: parentPolicy, undo: boolean },
    ...{ ended: boolean, requestedAt: whole, completedAt: whole },
  },
  childStopped: {
    ...{ id: whole, result: outcome, output: maybe(json), error: maybe(error), secretTexts: maybe(list(text)) },
  },
  batchAdvanced: {
    ...{ id: whole, ended: maybe(list(ended)), foreign: maybe(list(count)), started: maybe(count) },
    ...{ again: maybe(count), left: maybe(count), error: maybe(error) },
  },
  batchStopping: { id: whole, error: maybe(error) },
  lockRequested: { id: whole, name: word, until: nullable(isInstant) },
  lockReleased: { lock: whole, id: maybe(whole) },
  waitCancelled: { id: whole, lock: maybe(truth), signal: maybe(signal) },
  locksRequested: {},
  lockGranted: { id: whole, fence: maybe(count) },
  lockRefused: { id: whole, error },
  thawed: { startAt: maybe(isInstant), ...remark },
  predecessorStopped: { task: word, result: nullable(outcome) },
}

/** The first field of a known event that is not of the shape that this version writes; null: there is none. Unknown fields are passed over. */
export function illShaped(event: TaskEvent): string | null {
  return faultIn(event as unknown as Record<string, unknown>, guards[event.type])
}

function faultIn(value: Record<string, unknown>, fields: object): string | null {
  for (const [name, guard] of Object.entries(fields) as [string, Guard<unknown> | Maybe<unknown>][]) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const fits = typeof guard === 'function' ? guard(given) : given === undefined || guard.maybe(given)
    if (!fits) return name
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
