import { SEPARATOR } from '../kernel/child/child.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Submission } from '../kernel/task/order.ts'
import { waitingParents } from '../kernel/task/order.ts'
import type { Creation, LockRequest, NewTask } from './port.ts'
import { recordText } from './record.ts'

/** Where a task comes from: the order it is given, and what the store must know of that at once. */
export interface Origin {
  id: string
  at: number
  order: Submission
  /** It does not begin before this instant. */
  startAt?: number
  /** Something must come first: its locks are asked for then. */
  later?: boolean
  /** The task of which it is the hook: that does not wait for it. */
  hookOf?: string
}

/** A task in the making: its row, and its first record, which is not text yet. */
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
 * The one way to make a task: its first event, and the columns that say the same. Nobody reads the columns back out of the
 * event, so the two must not be made apart.
 */
export function draftOf({ id, at, order, startAt, later = false, hookOf }: Origin): Draft {
  const { workflow, version, priority = 0, tags = {}, completeBy, startBefore, parent, after, frozen, share } = order
  const locks = later ? [] : locksOf(order)
  const startable = startBefore === undefined ? Number.POSITIVE_INFINITY : startBefore + 1
  const latest = Math.min(startable, completeBy ?? Number.POSITIVE_INFINITY)
  const deadline = latest === Number.POSITIVE_INFINITY ? null : latest
  const gated = locks.length > 0 || (after && after.length > 0) || frozen
  // The id that the engine makes for what a task starts is of that task's incarnation.
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
    // One that waits for a letter is looked at on time though none comes.
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
