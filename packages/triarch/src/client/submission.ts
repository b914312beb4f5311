import type { Workflow } from '../definition/definition.ts'
import { checkExclusive, type ExclusiveOptions, exclusiveKeys } from '../definition/exclusive.ts'
import type { Sharing } from '../definition/fairness.ts'
import { toHookOrders } from '../definition/hook.ts'
import { checkPriority } from '../definition/policy.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { HookOrder, Submission } from '../kernel/task/order.ts'
import { makePlan, type PlanningOptions } from '../planning/planning.ts'
import { type Draft, draftOf } from '../store/origin.ts'
import type { Creation } from '../store/port.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkMetadata } from '../value/metadata.ts'
import { checkNewTaskId, checkTaskId } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import { validate } from '../value/schema.ts'
import { checkTags, withStart } from '../value/tag.ts'

/**
 * A task that must have stopped before another one begins, and how it must have ended.
 * @example await triarch.submit(fulfil, order, { after: [{ task: 'o-1', on: 'end' }] })
 */
export interface Predecessor {
  /** Its id. */
  task: string
  /** `success` (or `warning`): otherwise the task that comes after it ends with PREDECESSOR_FAILED; or any `end`. `success` by default. */
  on?: 'success' | 'end'
}

/**
 * When a task begins, by when it must be done, and how it is found.
 * @example
 * const options: TaskOptions = { id: order.id, startAt: '1h', tags: { customer: 'c-7' } }
 * await client.submit(fulfil, order, options)
 */
export interface TaskOptions {
  /** The id of the task: the same id is the same task, however often it is submitted. A new id by default. */
  id?: string
  /**
   * What an existing task of this id means. `match`: the same task if workflow and input are the same, otherwise TASK_EXISTS; `return`:
   * the same task in any case; `reject`: TASK_EXISTS in any case. `match` by default.
   */
  ifExists?: 'match' | 'return' | 'reject'
  /** The task begins not before this instant, or this long from now; now by default. */
  startAt?: Date | Duration
  /** A task that has not started by then ends with TASK_EXPIRED; unbounded by default. */
  startBefore?: Date | Duration
  /** A task that is not done by then is undone and ends with TASK_DEADLINE; the workflow's `taskWithin` by default. */
  completeBy?: Date | Duration
  /** Mutual exclusion, overriding the workflow's; as the workflow defines it by default. */
  exclusive?: ExclusiveOptions & { key?: string }
  /**
   * Tasks that must have stopped before this one begins, at most 1,000: their ids, which requires success, or how they must have ended. A
   * task that the store does not know (any more) counts as ended without success. None by default.
   */
  after?: string | readonly (string | Predecessor)[]
  /**
   * The task does not begin before `task.thaw()`. If it is a plan, the plan can be read until then, and is the one that runs. False by
   * default.
   */
  frozen?: boolean
  /** Higher first: -1,000,000 to 1,000,000; by default the workflow's, or 0. */
  priority?: number
  /** Tags by which tasks are found: up to 32 short strings; none by default. */
  tags?: Readonly<Record<string, string>>
  /**
   * Metadata for its steps (`step.metadata`) and the tasks it starts, such as trace context or a tenant: up to 32 strings, 16,384 bytes
   * in all. It cannot be searched, and does not matter for whether two submissions are the same.
   */
  metadata?: Readonly<Record<string, string>>
}

/**
 * Task options, and a transaction of yours.
 * @example await triarch.submit(fulfil, order, { id: order.id, startAt: '1h', tags: { customer: 'c-7' } })
 */
export interface SubmitOptions extends TaskOptions {
  /**
   * Your own open transaction: the task exists if and only if it commits. A DatabaseSync on the same file; a client of `pg`, or an
   * adapter for another client (docs/postgres.md).
   */
  transaction?: unknown
}

const keys = [
  'id',
  'ifExists',
  'startAt',
  'startBefore',
  'completeBy',
  'exclusive',
  'after',
  'frozen',
  'priority',
  'tags',
  'metadata',
  'transaction',
] as const

/** Most predecessors of one task. */
const MOST_PREDECESSORS = 1_000

/** Whether the task does not join the queue of ready tasks yet. */
export function startsLater({ startAt, after, frozen }: SubmitOptions): boolean {
  return startAt !== undefined || after !== undefined || frozen === true
}

/** Makes the task to be created. Throws a typed error for whatever is wrong with it. */
export async function newTask(
  workflow: Workflow,
  input: unknown,
  options: SubmitOptions,
  given: SubmissionDeps,
): Promise<Draft> {
  checkWorkflow(workflow)
  checkOptions('submit', options, keys)
  const { ifExists } = options
  if (ifExists !== undefined && !['match', 'return', 'reject'].includes(ifExists)) {
    throw new TriarchError('INVALID_OPTION', 'submit: ifExists must be "match", "return" or "reject"')
  }
  const { definition, name } = workflow
  const value = definition.input ? await validate(definition.input, input, 'INVALID_INPUT', `input of ${name}`) : input
  const gate = gateOf(workflow, value, options)
  const draft = draftTask(workflow, input, options, { ...given, gate })
  // A task that starts later is planned when it is due; a frozen one is planned now, because its plan is what is to be approved.
  const later = draft.task.status === 'scheduled' && !gate.frozen
  if (!definition.plan || later) return draft
  const { payload, planSteps, planBytes } = given.limits
  const limits = { payload, steps: planSteps, bytes: planBytes }
  const plan = await makePlan(workflow, input, {
    first: 1,
    limits,
    transaction: options.transaction,
    exclusive: (gate.exclusive ?? []).map(({ key }) => key),
    ...given.planning,
  })
  const [submitted, ...rest] = draft.first as [TaskEvent, ...TaskEvent[]]
  return { task: { ...draft.task, status: 'planned' }, first: [submitted, { type: 'planned', plan }, ...rest] }
}

interface SubmissionDeps {
  now: number
  limits: { payload: number; planSteps: number; planBytes: number }
  id: () => string
  planning: Pick<PlanningOptions, 'middleware' | 'subscribers'>
  hooks: HookOrder[]
  share: Sharing
}

function draftTask(
  workflow: Workflow,
  input: unknown,
  options: SubmitOptions,
  { now, limits, id: fresh, hooks, gate, share }: SubmissionDeps & { gate: Gate },
): Draft {
  const { definition, name, version } = workflow
  const { startAt, startBefore, completeBy } = options
  const start = startAt === undefined ? null : instant(startAt, now, 'startAt')
  const before = startBefore === undefined ? null : instant(startBefore, now, 'startBefore')
  const complete =
    completeBy !== undefined
      ? instant(completeBy, now, 'completeBy')
      : definition.taskWithin === undefined
        ? null
        : (start ?? now) + positiveMilliseconds(definition.taskWithin, 'taskWithin')
  const priority = checkPriority('submit: priority', options.priority ?? definition.priority ?? 0)
  const tags = withStart(checkTags('submit', options.tags ?? {}), gate.frozen === true)
  const id = options.id === undefined ? fresh() : checkNewTaskId(options.id)
  const metadata = options.metadata === undefined ? undefined : checkMetadata('submit', options.metadata)
  const value = encode(input, `input of ${name}`, limits.payload, definition.secrets)
  const called = [...hooks, ...toHookOrders(name, definition.hooks)]
  const order = {
    workflow: name,
    version,
    input: value,
    ...(start !== null && { startAt: start }),
    ...(before !== null && { startBefore: before }),
    ...(complete !== null && { completeBy: complete }),
    ...(priority !== 0 && { priority }),
    ...((options.tags || gate.frozen) && { tags }),
    ...(share && {
      share: share({ id, workflow: name, version, priority, tags, metadata: metadata ?? {}, input: value }),
    }),
    ...(metadata && { metadata }),
    ...gate,
    ...(called.length > 0 && { hooks: called }),
    ...(definition.secrets && { secrets: [...definition.secrets] }),
  }
  const later = (start !== null && start > now) || gate.after !== undefined || gate.frozen === true
  return draftOf({
    ...{ id, at: now, order, later },
    ...(start !== null && start > now && { startAt: start }),
  })
}

type Gate = Pick<Submission, 'exclusive' | 'after' | 'frozen'>

function gateOf(workflow: Workflow, input: unknown, options: SubmitOptions): Gate {
  const { after, frozen = false, exclusive: given } = options
  if (given !== undefined) checkExclusive('submit: exclusive', given)
  const exclusive = exclusiveKeys(workflow, input, given)
  const predecessors = predecessorsOf(after)
  if (options.id !== undefined && predecessors.has(options.id))
    throw new TriarchError('INVALID_OPTION', `submit: task "${options.id}" cannot come after itself`)
  if (typeof frozen !== 'boolean') throw new TriarchError('INVALID_OPTION', 'submit: frozen must be true or false')
  if (predecessors.size > MOST_PREDECESSORS)
    throw new TriarchError('INVALID_OPTION', `submit: a task comes after at most ${MOST_PREDECESSORS} others`)
  return {
    ...(exclusive.length > 0 && { exclusive }),
    ...(predecessors.size > 0 && { after: [...predecessors].map(([task, on]) => ({ task, on })) }),
    ...(frozen && { frozen }),
  }
}

/** How each predecessor must have ended. One that is named twice must meet both conditions. */
function predecessorsOf(after: SubmitOptions['after'] = []): Map<string, 'success' | 'end'> {
  const predecessors = new Map<string, 'success' | 'end'>()
  for (const given of [after].flat()) {
    const one = typeof given === 'object' && given !== null ? given : { task: given }
    checkOptions('submit: after', one, ['task', 'on'])
    const { task, on = 'success' } = one
    if (on !== 'success' && on !== 'end')
      throw new TriarchError('INVALID_OPTION', 'submit: after: on must be "success" or "end"')
    const id = checkTaskId(task)
    if (predecessors.get(id) !== 'success') predecessors.set(id, on)
  }
  return predecessors
}

function instant(value: Date | Duration, now: number, what: string): number {
  if (!(value instanceof Date)) return now + milliseconds(value, what)
  const at = value.getTime()
  if (Number.isNaN(at)) throw new TriarchError('INVALID_OPTION', `submit: ${what} is not a valid date`)
  return at
}

/** The error for a submission that does not wait for a held lock. */
export function submissionRefused({ gates }: Creation, holder: string): TriarchError {
  const lock = gates?.locks.find(({ ifHeld }) => ifHeld === 'reject')?.name ?? ''
  const details = { lock, by: [holder] }
  return new TriarchError('LOCK_HELD', `lock "${lock}" is held by task "${holder}"`, { details })
}
