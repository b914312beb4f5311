import { SEPARATOR } from '../kernel/child/child.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Submission } from '../kernel/task/order.ts'
import { waitingParents } from '../kernel/task/order.ts'
import type { Creation, LockRequest, NewTask } from './port.ts'
import { recordText } from './record.ts'

/** What a new task is made from: its submission, and what the store must know at once. */
export interface Origin {
  id: string
  at: number
  order: Submission
  /** The task does not begin before this instant. */
  startAt?: number
  /** Whether the task waits for something first; its locks are requested only then. */
  later?: boolean
  /** The task whose hook it is; that task does not wait for it. */
  hookOf?: string
}

/** A task that is being created: its row, and its first record, which is not encoded as text yet. */
export interface Draft {
  task: Creation
  first: readonly TaskEvent[]
}

export function taskOf(origin: Origin): NewTask {
  return written(draftOf(origin))
}

export function written({ task, first }: Draft): NewTask {
  return { ...task, events: recordText(first) }
}

/**
 * Makes a task: its first event, and the columns with the same content. All tasks are made here, because columns are
 * never derived from the event again and must not contradict it.
 */
export function draftOf({ id, at, order, startAt, later = false, hookOf }: Origin): Draft {
  const { workflow, version, priority = 0, tags = {}, completeBy, startBefore, parent, after, frozen, share } = order
  const locks = later ? [] : locksOf(order)
  const startable = startBefore === undefined ? Number.POSITIVE_INFINITY : startBefore + 1
  const latest = Math.min(startable, completeBy ?? Number.POSITIVE_INFINITY)
  const deadline = latest === Number.POSITIVE_INFINITY ? null : latest
  const gated = locks.length > 0 || (after && after.length > 0) || frozen
  // Ids that the engine makes for children and hooks contain the incarnation of the parent task already.
  const incarnation = (parent || hookOf !== undefined) && id.includes(SEPARATOR) ? '' : at.toString(36)
  const submitted: TaskEvent = { type: 'submitted', ...order, incarnation }
  const task: Creation = {
    id,
    workflow,
    version,
    priority,
    tags,
    ...(share && { share }),
    at,
    status: later ? 'scheduled' : 'pending',
    // A task that waits for a message becomes ready at its deadline even if no message comes.
    startAt: startAt ?? (gated ? deadline : null),
    deadline,
    parent: parent?.task ?? hookOf ?? null,
  }
  if (parent) task.parentStep = parent.step
  if (gated) task.gates = { locks, after: (after ?? []).map((antecedent) => antecedent.task) }
  return { task, first: locks.length > 0 ? [submitted, { type: 'locksRequested' }] : [submitted] }
}

function locksOf({ exclusive = [], parent }: Submission): LockRequest[] {
  const parents = parent ? waitingParents(parent) : []
  return exclusive.map(({ key, ifHeld }, index) => {
    return { step: -index, name: key, ifHeld, ...(parents.length > 0 && { parents }) }
  })
}
