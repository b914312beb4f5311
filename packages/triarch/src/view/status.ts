import { type BatchCounts, countsOf } from '../kernel/batch/batch.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { Redaction } from '../kernel/redaction.ts'
import type { TaskState } from '../kernel/state.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { Pause, PauseCause } from '../kernel/task/pause.ts'
import { isOutstanding } from '../kernel/turn.ts'
import { unveil } from '../kernel/veiled.ts'
import { legible } from '../store/legible.ts'
import { isPlace } from '../store/output.ts'
import type { TaskRow } from '../store/port.ts'
import type { SettingPause } from './pause.ts'
import type { TaskWait } from './wait.ts'

/**
 * A task, as in its row.
 * @example for await (const { status, progress } of task.watch()) console.log(status, progress)
 */
export interface TaskInfo {
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version that it started with. */
  version: string
  /** The status of the task. */
  status: TaskStatus
  /** The outcome of the task; `pending` until it has stopped. */
  outcome: TaskOutcome
  /** Failed attempts of all its steps. */
  failures: number
  /** The last value of `task.progress`. */
  progress: Json | undefined
  /** The output of the workflow, once it has stopped. */
  output: Json | undefined
  /** Why it stopped, or is paused. */
  error: ErrorRecord | undefined
  /** Why it is paused; `reason` and `actor` are those of the person who paused it, `step` the name of the step that caused it. */
  pause: { cause: PauseCause; error?: ErrorRecord; reason?: string; actor?: string; step?: string } | undefined
  /** The priority: higher first. */
  priority: number
  /** The tags of its submission. */
  tags: Record<string, string>
  /** The id of the task that started it. */
  parent: string | undefined
  /** The node that owns it. */
  lockedBy: string | undefined
  /** When it was submitted, or created by its parent. */
  submittedAt: Date
  /** When its row was last written. */
  updatedAt: Date
  /** It waits for a scheduler: if it stays so, no node runs this version of its workflow. */
  ready: boolean
  /** When a sleeping task wakes. */
  wakeAt: Date | undefined
  /** It is quarantined (TASK_QUARANTINED): no node takes it until an operator resumes it. */
  quarantined?: true
  /**
   * The queues in which it waits, and the limits that hold it there: for the task itself until it is taken, and for its first 20 steps that
   * wait for their agents, 10 entries at most; absent: nothing waits. Set by `status()` and `tasks.list()`.
   */
  waits?: TaskWait[]
  /** Pauses by settings that apply: of its workflow, and of agents; absent: none. Set by `status()` and `tasks.list()`. */
  pausedBy?: SettingPause[]
  /** Parts that cannot be read in the store, and are undefined. */
  broken?: Broken[]
  /** Parts that lists and streams omit because they exceed 2 KiB of JSON; they are undefined here, and `status()` has them. */
  omitted?: Omitted[]
}

/** Parts of a task that lists and streams omit if they are large. */
export type Omitted = 'progress' | 'output'

/** Parts of a task that may be unreadable in the store. */
export type Broken = 'progress' | 'output' | 'error' | 'pause'

/**
 * A task and the steps it has under way.
 * @example const { status, steps, metadata } = await task.status()
 */
export interface TaskDetails extends TaskInfo {
  /** Metadata of its submission and of its ancestors' submissions. */
  metadata: Record<string, string>
  /** Steps that run, wait for their next attempt, or wait for an operator; in the order of their requests. */
  steps: StepInfo[]
}

/** A step that is under way. */
export interface StepInfo {
  /** Its number in the task. */
  id: number
  /** The name of the step: the action's, unless the workflow gives another. */
  name: string
  /** The current operation. */
  operation: Operation
  /** The number of its attempt, from 1. */
  attempt: number
  /** The progress in the last heartbeat. */
  progress: Json | undefined
  /** The error of its last attempt. */
  error: ErrorRecord | undefined
  /** Why it waits for an operator. */
  held: PauseCause | undefined
  /** Of a batch: how many children it has, and how they ended. */
  children?: BatchCounts
}

/** How a stopped task ended. */
export interface Ending {
  status: TaskStatus
  outcome: TaskOutcome
  output: Json | undefined
  error: ErrorRecord | undefined
}

/** The view of a row. It contains no secrets: the row has none, except in its output, which is stored with a copy for display. */
export function infoOf(row: TaskRow): TaskInfo {
  const { output, ...info } = wholeOf(row)
  return { ...info, output: row.veiled === undefined ? output : unveil(legible(row.veiled) as Json).shown }
}

/** The view of a row, including secrets in its output. */
export function wholeOf(row: TaskRow): TaskInfo {
  const broken: Broken[] = []
  const omitted: Omitted[] = []
  // A part that cannot be read must not hide the rest of the row or other rows.
  const read = (name: Broken): unknown => {
    const text = row[name]
    if ((name === 'progress' || name === 'output') && text !== null && isPlace(text) && !row.undecoded) {
      omitted.push(name)
      return undefined
    }
    const value = text === null ? undefined : legible(text)
    if (text !== null && value === undefined) broken.push(name)
    return value
  }
  return {
    id: row.id,
    workflow: row.workflow,
    version: row.version,
    status: row.status,
    outcome: row.result,
    failures: row.failures,
    progress: read('progress') as Json | undefined,
    output: read('output') as Json | undefined,
    error: read('error') as ErrorRecord | undefined,
    pause: pauseOf(read('pause') as Pause | undefined),
    priority: row.priority,
    tags: row.tags,
    parent: row.parent ?? undefined,
    lockedBy: row.lockedBy ?? undefined,
    submittedAt: new Date(row.submittedAt),
    updatedAt: new Date(row.updatedAt),
    ready: row.ready,
    wakeAt: row.wakeAt === null ? undefined : new Date(row.wakeAt),
    ...(row.quarantined && { quarantined: true }),
    ...(broken.length > 0 && { broken }),
    ...(omitted.length > 0 && { omitted }),
  }
}

export function stepsOf(state: TaskState): StepInfo[] {
  return [...state.steps.values()]
    .filter((step) => step.held !== null || isOutstanding(step) || state.batches.has(step.id))
    .map(({ id, name, operation, attempt, progress, error, held }) => ({
      ...{ id, name, operation, attempt, progress, error },
      held: held ?? undefined,
      ...childrenOf(state, id),
    }))
}

function childrenOf(state: TaskState, id: number): Pick<StepInfo, 'children'> {
  const batch = state.batches.get(id)
  return batch ? { children: countsOf(batch) } : {}
}

export function pauseOf(pause: Pause | undefined): TaskInfo['pause'] {
  if (!pause) return undefined
  const { reason, error, note, actor, step } = pause
  return {
    cause: reason,
    ...(error && { error }),
    ...(note !== undefined && { reason: note }),
    ...(actor !== undefined && { actor }),
    ...(step && { step: step.name }),
  }
}

/** The pause with secrets hidden. */
export function pauseShown(pause: TaskInfo['pause'], { texts }: Redaction): TaskInfo['pause'] {
  if (!pause) return undefined
  const { cause, ...said } = pause
  return { cause, ...texts.scrub(said) }
}

export function endingOf(state: TaskState): Ending {
  const { status, result, output, error } = state
  return { status, outcome: result, output, error }
}
