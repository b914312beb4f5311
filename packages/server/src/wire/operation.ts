import type { OperationAction } from 'triarch'
import { z } from 'zod'
import { said } from './control.ts'
import { ErrorRecord, instant, json, named, whole } from './schema.ts'
import { taskOutcome, taskStatus } from './task.ts'

const actions = {
  cancel: 'cancel',
  pause: 'pause',
  resume: 'resume',
  retry: 'retry',
  compensate: 'compensate',
  thaw: 'thaw',
  signal: 'signal',
} as const satisfies { [K in OperationAction]: K }
const action = z.enum(actions)

export const OperationOrder = named(
  'OperationOrder',
  z.strictObject({
    filter: z.string().max(4_000),
    action,
    /** The body of that control. */
    options: z.record(z.string(), json).optional(),
    /** Only count. */
    dryRun: z.boolean().optional(),
    /** No more tasks than this; it must be given, but for a dry run. */
    confirm: z.int().min(1).max(10_000).optional(),
    ...said,
    id: z.string().optional(),
  }),
)

export const Matching = named('Matching', z.object({ count: whole, truncated: z.literal(true).optional() }))
export const OperationReceipt = named('OperationReceipt', z.object({ id: z.string(), created: z.boolean() }))
export const OperationCancel = named('OperationCancel', z.strictObject(said))

export const Operation = named(
  'Operation',
  z.object({
    id: z.string(),
    status: taskStatus,
    outcome: taskOutcome,
    filter: z.string().optional(),
    action: action.optional(),
    options: z.record(z.string(), json).optional(),
    confirm: whole.optional(),
    reason: z.string().optional(),
    actor: z.string().optional(),
    /** Tasks that fitted when it began. */
    matched: whole.optional(),
    /** Tasks that took it, and that did not. */
    done: whole.optional(),
    failed: whole.optional(),
    error: ErrorRecord.optional(),
    submittedAt: instant,
    updatedAt: instant,
    /** Of one that was asked for by itself: tasks that were not asked, and that have not answered yet. */
    cancelled: whole.optional(),
    pending: whole.optional(),
  }),
)
export const OperationPage = named(
  'OperationPage',
  z.object({ operations: z.array(Operation), next: z.string().optional() }),
)
