import type { TaskState } from '../state.ts'
import type { Submission } from '../task/order.ts'

/** Sets up what the task needs before it begins: locks, predecessors, and a thaw if it is frozen. */
export function newGate(state: TaskState, { exclusive = [], after = [], frozen }: Submission): void {
  state.frozen = frozen === true
  for (const { task, on } of after) state.predecessors.set(task, { on, result: null })
  for (const [index, { key, ifHeld }] of exclusive.entries()) {
    state.locks.set(-index, { name: key, ifHeld, until: null, standing: 'new' })
  }
}

/** The store gave the locks to other tasks when this one stopped. */
export function loseLocks(state: TaskState): void {
  for (const lock of state.locks.values()) if (lock.standing !== 'new') lock.standing = 'lost'
}

/** Marks lost locks, and locks refused before a pause, as requested again. */
export function reclaimed(state: TaskState): void {
  for (const lock of state.locks.values()) {
    if (lock.standing === 'lost' || lock.standing === 'refused') lock.standing = 'reclaimed'
  }
}

/** A new run keeps the locks of the submission only, and has no predecessors. */
export function restartGate(state: TaskState, held: boolean): void {
  state.frozen = false
  state.predecessors.clear()
  for (const [id, lock] of state.locks) {
    if (id > 0) state.locks.delete(id)
    else lock.standing = held ? 'held' : 'lost'
  }
}
