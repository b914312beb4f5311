import type { HistoryEvent, Operation } from 'triarch'
import { z } from 'zod'
import { Cached, ErrorRecord, instant, json, named, texts, whole } from './schema.ts'
import { all, Plan, pauseCause, taskOutcome } from './task.ts'

// What happened to a task: one schema for each type of event, and the compiler holds them against those of `task.history()`.

const id = whole
const error = ErrorRecord.optional()
const flag = z.literal(true).optional()
const said = { reason: z.string().optional(), actor: z.string().optional() } as const
const attempt = {
  attempt: whole,
  startedAt: instant.optional(),
  endedAt: instant,
  node: z.string().optional(),
  cached: Cached.optional(),
} as const
const operation = all<Operation>()(['run', 'verify', 'undo'])
const next = z.object({ operation, at: instant }).optional()
const onCancel = z.enum(['cancel', 'detach', 'wait'])
const rescue = z.enum(['skip', 'pause', 'fail', 'compensate'])
const sent = { name: z.string(), payload: json } as const

const retry = z
  .object({
    attempts: whole.optional(),
    backoff: z
      .object({
        initial: z.number().optional(),
        factor: z.number().optional(),
        max: z.number().optional(),
        jitter: z.boolean().optional(),
      })
      .optional(),
  })
  .optional()

/** What differs from the defaults; spans in ms. */
const Policy = named(
  'HistoryPolicy',
  z.object({
    attemptWithin: z.number().optional(),
    stepWithin: z.number().optional(),
    heartbeatWithin: z.number().optional(),
    retry,
    undoRetry: retry,
    rescue: z.union([rescue, z.object({ skip: json })]).optional(),
    semantics: z.enum(['at-least-once', 'at-most-once']).optional(),
    priority: z.number().optional(),
    weight: z.number().optional(),
  }),
)

const events = {
  submitted: {
    workflow: z.string(),
    version: z.string(),
    input: json,
    startAt: instant.optional(),
    startBefore: instant.optional(),
    completeBy: instant.optional(),
    priority: z.int().optional(),
    tags: texts.optional(),
    share: z.object({ key: z.string(), weight: z.number() }).optional(),
    metadata: texts.optional(),
    exclusive: z.array(z.object({ key: z.string(), ifHeld: z.enum(['queue', 'reject', 'replace']) })).optional(),
    after: z.array(z.object({ task: z.string(), on: z.enum(['success', 'end']) })).optional(),
    frozen: flag,
    parent: z.object({ task: z.string(), step: whole }).optional(),
  },
  thawed: { startAt: instant.optional(), ...said },
  predecessorStopped: { task: z.string(), outcome: taskOutcome.optional() },
  planning: {},
  planned: { plan: Plan.shape.plan.unwrap() },
  started: { completeBy: instant.optional() },
  patched: { patch: z.string() },
  progressed: { progress: json },
  returned: { output: json },
  threw: { error: ErrorRecord, rescue },
  continueAsNewRequested: { input: json },
  continuedAsNew: {
    input: json,
    fromStart: flag,
    pendingSignals: z.array(z.object(sent)),
    left: whole.optional(),
    ...said,
  },
  requestReceived: { request: z.string() },
  messageIgnored: {
    message: z.string(),
    name: z.string().optional(),
    step: whole.optional(),
    cause: z.string(),
    ...said,
  },
  paused: { cause: pauseCause, step: whole.optional(), error, ...said },
  resumed: said,
  closing: { cause: z.enum(['cancel', 'deadline', 'limit', 'operator']), compensate: z.boolean(), error, ...said },
  compensating: {},
  adopted: { parent: z.object({ task: z.string(), step: whole }) },
  stopped: { outcome: taskOutcome, output: json.optional(), error },
  reset: { step: whole.optional(), input: json.optional(), ...said },
  stepRequested: { id, action: z.string().nullable(), name: z.string(), input: json, policy: Policy },
  stepCompleted: { id, output: json, by: z.enum(['verify', 'operator']).optional(), ...attempt },
  attemptFailed: {
    ...{ id, operation, error: ErrorRecord, unknown: flag },
    lost: z.enum(['death', 'silence', 'alive', 'stop']).optional(),
    next,
    ...attempt,
  },
  verifyRequested: { id, at: instant },
  fallbackRequested: { id, action: z.string(), at: instant },
  verified: { id, answer: z.enum(['not-done', 'unknown']), next },
  heartbeat: { id, attempt: whole, progress: json.optional(), checkpoint: json.optional() },
  stepFailed: { id, error: ErrorRecord },
  plannedStepFailed: { id, error: ErrorRecord },
  stepSkipped: {
    id,
    output: json.optional(),
    cascade: z.array(whole).optional(),
    by: z.enum(['rescue', 'operator']),
    ...said,
  },
  stepCancelled: { id },
  stepRetried: { id, input: json.optional(), at: instant, ...said },
  stepSuspended: {
    id,
    until: instant.optional(),
    selfSignals: z.array(z.object({ ...sent, at: instant })).optional(),
    checkpoint: json.optional(),
    progress: json.optional(),
    onCancel: flag,
    total: whole.optional(),
    ...attempt,
  },
  stepSignalled: { id, ...sent, selfSignalAt: instant.optional(), queued: flag, ...said },
  undoRegistered: { id, name: z.string(), policy: Policy.optional() },
  undoRequested: { id, at: instant },
  undone: { id, by: z.literal('operator').optional(), incomplete: flag, ...attempt, ...said },
  stepCarried: { id, action: z.string().nullable(), name: z.string(), input: json, output: json, policy: Policy },
  timerStarted: { id, until: instant },
  timerFired: { id },
  waitStarted: { id, name: z.string(), until: instant.optional() },
  waitTimedOut: { id },
  waitCancelled: { id, lock: flag, signal: z.object(sent).optional() },
  signalReceived: { ...sent, ...said },
  childStarted: {
    id,
    task: z.string(),
    workflow: z.string(),
    version: z.string(),
    mode: z.enum(['call', 'start']),
    onCancel,
    undo: z.boolean(),
  },
  childCarried: {
    ...{ id, task: z.string(), workflow: z.string() },
    ...{ mode: z.enum(['call', 'start']), onCancel, undo: z.boolean() },
  },
  childStopped: { id, outcome: taskOutcome, output: json.optional(), error },
  batchAdvanced: {
    id,
    ended: z.array(z.object({ from: whole, to: whole, outcome: taskOutcome })).optional(),
    refused: z.array(whole).optional(),
    started: whole.optional(),
    retried: whole.optional(),
    left: whole.optional(),
    error,
  },
  batchStopping: { id, error },
  locksRequested: {},
  lockRequested: { id, name: z.string(), until: instant.optional() },
  lockGranted: { id: z.int(), fence: whole.optional() },
  lockRefused: { id: z.int(), error: ErrorRecord },
  lockReleased: { lock: z.int(), id: whole.optional() },
} as const satisfies { readonly [T in HistoryEvent['type']]: Fields<T> }

/** Each field that an event has, and no other. */
type Fields<T extends HistoryEvent['type']> = {
  readonly [F in Exclude<keyof Extract<HistoryEvent, { type: T }>, 'type'>]-?: z.ZodType
}

const [first, ...rest] = Object.entries(events).map(([type, fields]) => z.object({ type: z.literal(type), ...fields }))

export const Event = named(
  'HistoryEvent',
  z.discriminatedUnion('type', [first as NonNullable<typeof first>, ...rest]) as unknown as z.ZodType<HistoryEvent>,
)

const record = {
  seq: whole,
  error: ErrorRecord.optional(),
  missing: z.object({ from: whole, to: whole }).optional(),
} as const

export const History = named(
  'History',
  z.object({ records: z.array(z.object({ ...record, at: instant, events: z.array(Event) })), next: whole.optional() }),
)

export const Export = named(
  'Export',
  z.object({
    format: whole,
    task: z.string(),
    veiled: z.boolean(),
    records: z.array(z.object({ ...record, at: z.number(), events: z.array(json) })),
    next: whole.optional(),
  }),
)

export const ImportOrder = named(
  'ImportOrder',
  z.strictObject({
    history: z.object({
      format: z.int().min(1),
      task: z.string(),
      veiled: z.boolean(),
      records: z.array(z.object({ ...record, at: z.int(), events: z.array(json) })),
    }),
    paused: z.boolean().optional(),
    reason: z.string().max(1_000).optional(),
    actor: z.string().max(200).optional(),
  }),
)
