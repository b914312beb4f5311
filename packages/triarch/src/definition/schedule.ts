import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import type { FairShare, HookOrder } from '../kernel/task/order.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkMetadata } from '../value/metadata.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import {
  countBetween,
  lastUpTo,
  nextAfter,
  type Recurrence,
  type RecurrenceOptions,
  toRecurrence,
} from '../value/recurrence.ts'
import { validate } from '../value/schema.ts'
import { checkTags } from '../value/tag.ts'
import type { Workflow } from './definition.ts'
import { exclusiveKeys } from './exclusive.ts'
import type { Sharing } from './fairness.ts'
import { toHookOrders } from './hook.ts'
import { checkPriority } from './policy.ts'
import type { WorkflowRef } from './workflow-ref.ts'

/** What happens to an occurrence while the task of an earlier one has not stopped. */
export type Overlap = 'skip' | 'queue' | 'allow' | 'cancel-previous'

/**
 * What a schedule starts, and when.
 * @example
 * await triarch.schedules.get('nightly').register({
 *   workflow: fulfil,
 *   input: order,
 *   cron: '0 3 * * *',
 *   overlap: 'skip',
 *   catchUp: { limit: 1, within: '6h' },
 * })
 */
export interface ScheduleOptions<I = unknown, O = unknown> extends RecurrenceOptions {
  /** The workflow that each of its tasks runs. */
  workflow: WorkflowRef<I, O>
  /** The input of each of its tasks. */
  input: NoInfer<I>
  /** What happens to an occurrence while the task of an earlier one has not stopped; `skip`. */
  overlap?: Overlap
  /**
   * When several occurrences are due at once (after an outage), at most `limit` of them run, the latest ones, and none that is older than
   * `within`; 1, however old. The others are missed.
   */
  catchUp?: { limit?: number; within?: Duration }
  /** Each occurrence is delayed by a random part of this; no delay. */
  jitter?: Duration
  /** Higher first: -1,000,000 to 1,000,000; the workflow's, or 0. */
  priority?: number
  /** Tags of each of its tasks, up to 31 short strings; none. The name of the schedule is added as `schedule`. */
  tags?: Readonly<Record<string, string>>
  /** Metadata of each of its tasks, as of a submission; none. */
  metadata?: Readonly<Record<string, string>>
}

/** A schedule as the store keeps it, with everything that its tasks need. */
export interface ScheduleDefinition {
  workflow: string
  version: string
  input: Json
  recurrence: Recurrence
  overlap: Overlap
  catchUp: { limit: number; within: number | null }
  jitter: number
  priority: number
  completeWithin: number | null
  tags: Record<string, string>
  metadata?: Record<string, string>
  /** The share under which its tasks wait. */
  share?: FairShare
  /** Locks of the workflow itself. */
  exclusive: { key: string; ifHeld: IfHeld }[]
  /** Hooks of the workflow. */
  hooks?: HookOrder[]
  secrets?: string[]
}

/** The progress of a schedule. */
export interface ScheduleState {
  /** The next occurrence; null: none. */
  next: number | null
  /** The last occurrence that was due. */
  last: number | null
  paused: { since: number; note?: string } | null
  started: number
  /** Occurrences that were not started because an earlier one had not stopped. */
  skipped: number
  /** Occurrences that passed while no node ran, or that came too late. */
  missed: number
  /** Since when, how often in a row, and why its tasks could not be started. */
  failing?: { since: number; times: number; error: ErrorRecord }
}

const keys = [
  'workflow',
  'input',
  'cron',
  'timeZone',
  'every',
  'from',
  'overlap',
  'catchUp',
  'jitter',
  'priority',
  'tags',
  'metadata',
] as const
export const overlaps: readonly Overlap[] = ['skip', 'queue', 'allow', 'cancel-previous']

/** Checks the options of a schedule. Throws UNKNOWN_WORKFLOW, UNKNOWN_OPTION, INVALID_*, UNSERIALISABLE, PAYLOAD_TOO_LARGE. */
export async function toSchedule(
  name: string,
  options: ScheduleOptions,
  { payload, resolve, share }: { payload: number; resolve: (workflow: WorkflowRef) => Workflow; share: Sharing },
): Promise<ScheduleDefinition> {
  const what = `schedule "${name}"`
  checkOptions(what, options, keys)
  const { input, overlap = 'skip', catchUp = {}, jitter, tags = {} } = options
  const workflow = resolve(options.workflow)
  checkOptions(`${what}: catchUp`, catchUp, ['limit', 'within'])
  checkOverlap(what, overlap)
  const { definition } = workflow
  const value = definition.input
    ? await validate(definition.input, input, 'INVALID_INPUT', `input of ${workflow.name}`)
    : input
  const { taskWithin } = definition
  const hooks = toHookOrders(what, definition.hooks)
  const given = {
    ...{ workflow: workflow.name, version: workflow.version },
    input: encode(input, `input of ${workflow.name}`, payload, definition.secrets),
    priority: checkPriority(`${what}: priority`, options.priority ?? definition.priority ?? 0),
    tags: checkTags(what, { ...tags, schedule: name }),
    metadata: options.metadata === undefined ? undefined : checkMetadata(what, options.metadata),
  }
  return {
    workflow: given.workflow,
    version: given.version,
    input: given.input,
    recurrence: toRecurrence(what, options),
    overlap,
    catchUp: {
      limit: checkInteger(`${what}: catchUp.limit`, catchUp.limit ?? 1, 1, 1_000),
      within: catchUp.within === undefined ? null : positiveMilliseconds(catchUp.within, `${what}: catchUp.within`),
    },
    jitter: jitter === undefined ? 0 : milliseconds(jitter, `${what}: jitter`),
    priority: given.priority,
    completeWithin: taskWithin === undefined ? null : positiveMilliseconds(taskWithin, 'taskWithin'),
    tags: given.tags,
    ...(given.metadata && { metadata: given.metadata }),
    exclusive: exclusiveKeys(workflow, value, undefined),
    ...(hooks.length > 0 && { hooks }),
    ...(definition.secrets && { secrets: [...definition.secrets] }),
    ...(share && { share: share({ id: name, ...given, metadata: given.metadata ?? {} }) }),
  }
}

export function checkOverlap(what: string, overlap: unknown): void {
  if (!overlaps.includes(overlap as Overlap))
    throw new TriarchError('INVALID_OPTION', `${what}: overlap must be one of ${overlaps.join(', ')}`)
}

/** The id of an occurrence's task, the same whichever node creates it. */
export function occurrenceId(name: string, occurrence: number): string {
  return `${name}@${new Date(occurrence).toISOString()}`
}

/** When an occurrence is due: its instant and its share of the jitter. */
export function dueAt(name: string, { jitter }: ScheduleDefinition, occurrence: number): number {
  if (jitter === 0) return occurrence
  const share = createHash('sha256').update(occurrenceId(name, occurrence)).digest().readUInt32BE(0) / 2 ** 32
  return occurrence + Math.floor(share * jitter)
}

/** Occurrences that are examined one by one; with more, only the latest are. */
const MOST_LOOKED_AT = 1_000

/** The occurrences to start now, and the state after them. */
export function takeDue(
  name: string,
  definition: ScheduleDefinition,
  state: ScheduleState,
  now: number,
): { start: number[]; state: ScheduleState } {
  const { recurrence, catchUp, jitter } = definition
  const { limit, within } = catchUp
  let start: number[] = []
  let [count, last, next] = [0, state.last, state.next]
  const walk = (): boolean => {
    for (let looked = 0; next !== null && dueAt(name, definition, next) <= now; looked++) {
      if (looked === MOST_LOOKED_AT) return false
      count++
      last = next
      start = [...start, next].slice(-limit)
      next = nextAfter(recurrence, next)
    }
    return true
  }
  // Occurrences up to this instant are due whatever their jitter.
  const surely = now - jitter
  if (!walk() && next !== null && next <= surely) {
    const latest = latestUpTo(recurrence, surely, { from: next, limit })
    count += countBetween(recurrence, next - 1, surely)
    start = [...start, ...latest].slice(-limit)
    last = latest.at(-1) ?? last
    next = nextAfter(recurrence, surely)
    // Remaining occurrences are handled in the next round.
    walk()
  }
  if (within !== null) start = start.filter((occurrence) => now - occurrence <= within)
  return { start, state: { ...state, next, last, missed: state.missed + count - start.length } }
}

/** The latest occurrences up to an instant, none before `from`, at most `limit`, in ascending order. */
function latestUpTo(recurrence: Recurrence, until: number, { from, limit }: { from: number; limit: number }): number[] {
  const found: number[] = []
  for (let at = lastUpTo(recurrence, until); at !== null && at >= from && found.length < limit; ) {
    found.push(at)
    at = lastUpTo(recurrence, at - 1)
  }
  return found.reverse()
}
