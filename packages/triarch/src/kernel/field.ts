import type { TaskEvent } from './event.ts'
import type { ErrorRecord, Json } from './json.ts'
import type { PlannedStep } from './plan/plan.ts'
import type { RecordedPolicy } from './step/policy.ts'

/**
 * What a field of an event or message contains. `payload`: a value of the user. `error`: an error that code threw. `words`: a text that a
 * person wrote. `name`: a text chosen by the user's code to name something. `secrets`: texts that are secret. `plain`: the engine's own
 * data, which is never secret: identifiers, counts, instants, states, names of workflows and actions. `unknown`: a field that this version
 * does not know.
 */
export type Kind = 'payload' | 'error' | 'words' | 'name' | 'secrets' | 'plain' | 'unknown'

/**
 * What the table must declare for a field of this type. Payloads and errors can only be declared as such, and a type that contains one must
 * be described field by field, so that a forgotten field does not compile. A text may be declared as any other kind.
 */
export type Field<V> = [Json] extends [V]
  ? 'payload'
  : [V] extends [ErrorRecord]
    ? 'error'
    : [V] extends [readonly (infer I)[]]
      ? HoldsPayload<I> extends true
        ? readonly [Field<I>]
        : 'name' | 'secrets' | 'plain'
      : HoldsPayload<V> extends true
        ? Fields<NonNullable<V>>
        : [V] extends [number | boolean | null | undefined]
          ? 'plain'
          : 'words' | 'name' | 'plain'

export type Fields<V> = { readonly [K in keyof V]-?: Field<Exclude<V[K], undefined>> }

/** Whether the type contains a payload or an error. */
export type HoldsPayload<V> = [Json] extends [V]
  ? true
  : [V] extends [ErrorRecord]
    ? true
    : [V] extends [string | number | boolean | null | undefined]
      ? false
      : [V] extends [readonly (infer I)[]]
        ? HoldsPayload<I>
        : true extends {
              [K in keyof NonNullable<V>]-?: HoldsPayload<Exclude<NonNullable<V>[K], undefined>>
            }[keyof NonNullable<V>]
          ? true
          : false

type OfEvents = { readonly [E in TaskEvent as E['type']]: Omit<Fields<E>, 'type'> }

const remark = { note: 'words', actor: 'name' } as const
const attempt = { attempt: 'plain', startedAt: 'plain', endedAt: 'plain', node: 'plain', cached: 'plain' } as const

export const policyFields: Fields<RecordedPolicy> = {
  ...{ retry: 'plain', undoRetry: 'plain', completeWithin: 'plain', expiresIn: 'plain', heartbeatWithin: 'plain' },
  ...{
    rescue: 'plain',
    substitute: 'payload',
    substituted: 'plain',
    semantics: 'plain',
    undo: 'plain',
    verify: 'plain',
  },
  ...{ priority: 'plain', weight: 'plain', secrets: 'plain', batch: 'plain', defaults: 'plain' },
}

export const plannedFields: Fields<PlannedStep> = {
  ...{ action: 'plain', lock: 'name', unlock: 'plain', name: 'name', input: 'payload', after: 'plain' },
  ...{ policy: 'plain', group: 'plain', weight: 'plain', finalizes: 'plain' },
}

/** What each field of each event contains. */
export const eventFields: OfEvents = {
  submitted: {
    ...{ workflow: 'plain', version: 'plain', input: 'payload', startAt: 'plain', startBefore: 'plain' },
    ...{ completeBy: 'plain', priority: 'plain', tags: 'name', share: 'name', metadata: 'name', exclusive: 'name' },
    ...{ after: 'plain', frozen: 'plain', parent: 'plain', hooks: 'plain', secrets: 'plain', secretTexts: 'secrets' },
    incarnation: 'plain',
  },
  started: { completeBy: 'plain' },
  messageIgnored: { message: 'plain', name: 'name', step: 'plain', reason: 'plain', ...remark },
  requestReceived: { request: 'name', digest: 'plain', by: 'plain' },
  paused: { reason: 'plain', error: 'error', step: 'plain', ...remark },
  resumed: remark,
  closing: { cause: 'plain', compensate: 'plain', error: 'error', ...remark },
  compensating: {},
  reset: { children: 'plain', step: 'plain', input: 'payload', attempts: 'plain', endId: 'plain', ...remark },
  adopted: { parent: 'plain' },
  continuedAsNew: {
    parent: 'plain',
    completeBy: 'plain',
    left: 'plain',
    stops: 'plain',
    ...{
      input: 'payload',
      nextId: 'plain',
      pendingSignals: [{ name: 'name', payload: 'payload' }],
      fromStart: 'plain',
    },
    ...{
      requests: 'name',
      digests: 'name',
      tokenRequests: 'name',
      locksHeld: 'plain',
      secretTexts: 'secrets',
      ...remark,
    },
  },
  stopped: { result: 'plain', output: 'payload', error: 'error' },
  patched: { patch: 'name' },
  progressed: { progress: 'payload' },
  returned: { output: 'payload' },
  threw: { error: 'error', rescue: 'plain' },
  continueAsNewRequested: { input: 'payload' },
  planning: {},
  planned: {
    plan: {
      ...{ first: 'plain', steps: [plannedFields], policies: [policyFields], groups: 'plain', output: 'payload' },
      runWithin: 'plain',
    },
  },
  stepRequested: { id: 'plain', action: 'plain', name: 'name', input: 'payload', policy: policyFields },
  undoRegistered: { id: 'plain', name: 'name', policy: policyFields },
  stepCarried: {
    ...{ id: 'plain', action: 'plain', name: 'name', input: 'payload', output: 'payload', policy: policyFields },
    ...{ generation: 'plain', requestedAt: 'plain', completedAt: 'plain', fallbackOf: 'plain', batch: 'plain' },
  },
  stepCompleted: { id: 'plain', output: 'payload', by: 'plain', ...attempt },
  attemptFailed: {
    ...{ id: 'plain', operation: 'plain', error: 'error', unknown: 'plain', lost: 'plain', next: 'plain', ...attempt },
  },
  verified: { id: 'plain', answer: 'plain', next: 'plain' },
  verifyRequested: { id: 'plain', at: 'plain' },
  fallbackRequested: { id: 'plain', action: 'plain', policy: policyFields, at: 'plain' },
  heartbeat: {
    ...{ id: 'plain', attempt: 'plain', progress: 'payload', checkpoint: 'payload', trial: 'plain', given: 'plain' },
    ...{ awaited: 'plain', putOff: 'plain' },
  },
  stepFailed: { id: 'plain', error: 'error' },
  stepSkipped: { id: 'plain', output: 'payload', cascade: 'plain', by: 'plain', ...remark },
  plannedStepFailed: { id: 'plain', error: 'error' },
  stepCancelled: { id: 'plain' },
  stepRetried: { id: 'plain', input: 'payload', at: 'plain', keepSignal: 'plain', ...remark },
  undoRequested: { id: 'plain', at: 'plain' },
  undone: { incomplete: 'plain', id: 'plain', by: 'plain', ...attempt, ...remark },
  stepSuspended: {
    page: 'plain',
    ...{ id: 'plain', until: 'plain', selfSignals: [{ name: 'name', payload: 'payload', at: 'plain' }] },
    ...{ checkpoint: 'payload', progress: 'payload', notifyOnCancel: 'plain', total: 'plain', ...attempt },
  },
  stepSignalled: { id: 'plain', name: 'name', payload: 'payload', selfSignalAt: 'plain', queued: 'plain', ...remark },
  timerStarted: { id: 'plain', until: 'plain' },
  waitStarted: { id: 'plain', name: 'name', until: 'plain' },
  timerFired: { id: 'plain' },
  signalReceived: { name: 'name', payload: 'payload', ...remark },
  waitTimedOut: { id: 'plain' },
  childStarted: {
    asked: 'plain',
    ...{ id: 'plain', task: 'plain', workflow: 'plain', version: 'plain', mode: 'plain', onCancel: 'plain' },
    undo: 'plain',
  },
  childCarried: {
    ...{ id: 'plain', task: 'plain', workflow: 'plain', mode: 'plain', onCancel: 'plain', undo: 'plain' },
    ...{ ended: 'plain', requestedAt: 'plain', completedAt: 'plain' },
  },
  childStopped: { id: 'plain', result: 'plain', output: 'payload', error: 'error', secretTexts: 'secrets' },
  batchAdvanced: {
    ...{
      id: 'plain',
      ended: 'plain',
      foreign: 'plain',
      started: 'plain',
      again: 'plain',
      left: 'plain',
      error: 'error',
    },
  },
  batchStopping: { id: 'plain', error: 'error' },
  lockRequested: { id: 'plain', name: 'name', until: 'plain' },
  lockReleased: { lock: 'plain', id: 'plain' },
  waitCancelled: { id: 'plain', lock: 'plain', signal: { name: 'name', payload: 'payload' } },
  locksRequested: {},
  lockGranted: { id: 'plain', fence: 'plain' },
  lockRefused: { id: 'plain', error: 'error' },
  thawed: { startAt: 'plain', ...remark },
  predecessorStopped: { task: 'plain', result: 'plain' },
}

/** A description of fields, in the form in which it is walked. */
export type Shape = Kind | readonly [Shape] | { readonly [name: string]: Shape }

/**
 * The value with each described part replaced by what `to` returns; the value itself if nothing changes. A field that becomes undefined is
 * left out. The `type` field is not described.
 */
export function changed<V>(value: V, shape: Shape, to: (kind: Kind, part: unknown) => unknown): V {
  if (typeof shape === 'string') return (shape === 'plain' ? value : to(shape, value)) as V
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const [item] = shape as readonly [Shape]
    const items = value.map((it) => changed(it, item, to))
    return items.every((it, index) => it === value[index]) ? value : (items as V)
  }
  let copy: Record<string, unknown> | null = null
  for (const [name, part] of Object.entries(value as object)) {
    if (part === undefined || name === 'type') continue
    const known = Object.hasOwn(shape, name) ? (shape as { readonly [name: string]: Shape })[name] : undefined
    const now = changed(part, known ?? 'unknown', to)
    if (now === part) continue
    copy ??= { ...value } as Record<string, unknown>
    if (now === undefined) delete copy[name]
    else copy[name] = now
  }
  return (copy ?? value) as V
}
