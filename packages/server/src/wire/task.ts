import type { ListOptions, PauseCause, StepStatus, TaskOutcome, TaskStatus } from 'triarch'
import { z } from 'zod'
import {
  Cached,
  duration,
  ErrorRecord,
  instant,
  json,
  named,
  problemSchema,
  SettingPause,
  TaskWait,
  texts,
  whole,
} from './schema.ts'

/** All of them, and no other: the compiler compares both ways. */
export function all<T extends string>() {
  return <const L extends readonly T[]>(list: [T] extends [L[number]] ? L : never): z.ZodEnum<{ [K in T]: K }> =>
    z.enum(list as readonly T[] as [T, ...T[]]) as unknown as z.ZodEnum<{ [K in T]: K }>
}

export const taskStatus = all<TaskStatus>()([
  ...(['scheduled', 'pending', 'planning', 'planned', 'running', 'paused', 'compensating', 'stopped'] as const),
])
export const taskOutcome = all<TaskOutcome>()(['pending', 'success', 'warning', 'error', 'cancelled', 'compensated'])
export const pauseCause = all<PauseCause>()([
  ...(['operator', 'lock', 'step', 'undo', 'unknown-outcome', 'mismatch', 'error', 'quarantine'] as const),
])
const stepStatus = all<StepStatus | 'waiting'>()([
  ...(['waiting', 'pending', 'running', 'suspended', 'success', 'error', 'skipped', 'cancelled'] as const),
  ...(['compensating', 'compensated'] as const),
])

const info = {
  id: z.string(),
  workflow: z.string(),
  version: z.string(),
  status: taskStatus,
  outcome: taskOutcome,
  failures: whole,
  progress: json.optional(),
  output: json.optional(),
  error: ErrorRecord.optional(),
  pause: z
    .object({
      cause: pauseCause,
      error: ErrorRecord.optional(),
      reason: z.string().optional(),
      actor: z.string().optional(),
      step: z.string().optional(),
    })
    .optional(),
  priority: z.int(),
  tags: texts,
  parent: z.string().optional(),
  lockedBy: z.string().optional(),
  submittedAt: instant,
  updatedAt: instant,
  ready: z.boolean(),
  wakeAt: instant.optional(),
  quarantined: z.literal(true).optional(),
  waits: z.array(TaskWait).optional(),
  pausedBy: z.array(SettingPause).optional(),
  broken: z.array(z.enum(['progress', 'output', 'error', 'pause'])).optional(),
  omitted: z.array(z.enum(['progress', 'output'])).optional(),
}

const children = z
  .object({
    total: whole.nullable(),
    started: whole,
    pending: whole,
    success: whole,
    failed: whole,
    cancelled: whole,
  })
  .optional()

export const TaskInfo = named('TaskInfo', z.object(info))

const ending = { outcome: taskOutcome, output: json.optional(), error: ErrorRecord.optional() }
export const Outcome = named('Outcome', z.object(ending))
export const Change = named('Change', z.object({ task: TaskInfo, mark: z.string() }))

const StepInfo = named(
  'StepInfo',
  z.object({
    id: whole,
    name: z.string(),
    operation: z.enum(['run', 'undo', 'verify']),
    attempt: whole,
    progress: json.optional(),
    error: ErrorRecord.optional(),
    held: pauseCause.optional(),
    children,
  }),
)

export const Task = named('Task', z.object({ ...info, metadata: texts, steps: z.array(StepInfo) }))

export const TaskPage = named(
  'TaskPage',
  z.object({ tasks: z.array(TaskInfo), next: z.string().optional(), truncated: z.literal(true).optional() }),
)

export const stepViews = z.array(
  z.object({
    id: whole,
    action: z.string().nullable(),
    fallbackOf: z.string().optional(),
    name: z.string(),
    status: stepStatus,
    input: json.optional(),
    output: json.optional(),
    error: ErrorRecord.optional(),
    attempts: whole,
    cached: Cached.optional(),
    requestedAt: instant.optional(),
    endedAt: instant.optional(),
    progress: z.number(),
    weight: z.number(),
    summary: z.string().optional(),
    hints: z.array(z.string()),
    children,
    undoable: z.literal(true).optional(),
  }),
)

export const Steps = named('Steps', z.object({ steps: stepViews, next: whole.optional() }))

export const Plan = named(
  'Plan',
  z.object({
    plan: z
      .object({
        steps: z.array(
          z.object({
            id: whole,
            action: z.string().nullable(),
            name: z.string(),
            phase: z.enum(['run', 'finalize']),
            input: json.optional(),
            after: z.array(whole),
            within: z.array(z.string()),
            rescue: z.enum(['skip', 'pause', 'fail', 'compensate']),
            standing: z.enum(['waiting', 'ready', 'open', 'done', 'skipped']),
          }),
        ),
        output: json.optional(),
      })
      .nullable(),
  }),
)

export const Explanation = named(
  'Explanation',
  z.object({
    task: z.string(),
    workflow: z.string(),
    status: z.string(),
    text: z.string(),
    reasons: z.array(z.looseObject({ code: z.string(), text: z.string() })),
    holds: z.array(z.object({ lock: z.string(), since: instant })),
  }),
)

/** What tasks.list() takes. */
export const listQuery = z.strictObject({
  filter: z.string().max(4_000).optional(),
  status: z.array(taskStatus).optional(),
  outcome: z.array(taskOutcome).optional(),
  workflow: z.string().optional(),
  version: z.string().optional(),
  parent: z.string().optional(),
  quarantined: z.literal('true').optional(),
  tags: texts.optional(),
  submittedAfter: instant.optional(),
  submittedBefore: instant.optional(),
  cursor: z
    .string()
    .regex(/^\d{1,16}$/)
    .optional(),
  limit: z.int().min(1).max(1_000).optional(),
  order: z.enum(['newest', 'oldest']).optional(),
} satisfies Record<keyof ListOptions, z.ZodType>)

export const childrenQuery = z.strictObject({
  ...listQuery.pick({ status: true, outcome: true, workflow: true, cursor: true, limit: true }).shape,
  step: z.int().min(1).optional(),
})

const when = z.union([instant, duration])

const entry = {
  input: json.optional(),
  id: z.string().optional(),
  ifExists: z.enum(['match', 'return', 'reject']).optional(),
  startAt: when.optional(),
  startBefore: when.optional(),
  completeBy: when.optional(),
  exclusive: z
    .strictObject({ key: z.string().optional(), ifHeld: z.enum(['queue', 'reject', 'replace']).optional() })
    .optional(),
  after: z
    .array(z.union([z.string(), z.strictObject({ task: z.string(), on: z.enum(['success', 'end']).optional() })]))
    .max(1_000)
    .optional(),
  frozen: z.boolean().optional(),
  priority: z.int().optional(),
  tags: texts.optional(),
  metadata: texts.optional(),
}

/** A task to be submitted, beside its workflow. */
export const Entry = named('Entry', z.strictObject(entry))

export const Submission = named(
  'Submission',
  z.strictObject({ workflow: z.string(), version: z.string().optional(), ...entry }),
)

/** Of one request. */
const MOST_SUBMITTED = 1_000

export const SubmissionList = named(
  'SubmissionList',
  z.strictObject({
    workflow: z.string(),
    version: z.string().optional(),
    tasks: z.array(Entry).min(1).max(MOST_SUBMITTED),
  }),
)

export const SubmittedList = named(
  'SubmittedList',
  z.object({
    results: z.array(
      z.union([z.object({ id: z.string(), created: z.boolean() }), z.object({ problem: problemSchema })]),
    ),
  }),
)

export const Submitted = named(
  'Submitted',
  z.object({
    id: z.string(),
    created: z.boolean(),
    outcome: taskOutcome.optional(),
    output: json.optional(),
    error: ErrorRecord.optional(),
  }),
)
