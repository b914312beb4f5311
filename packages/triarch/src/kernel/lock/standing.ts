import type { TaskState } from '../state.ts'
import type { Submission } from '../task/order.ts'

/** What a task has to have before it begins. */
export function newGate(state: TaskState, { exclusive = [], after = [], frozen }: Submission): void {
  state.frozen = frozen === true
  for (const { task, on } of after) state.predecessors.set(task, { on, result: null })
  for (const [index, { key, ifHeld }] of exclusive.entries()) {
    state.locks.set(-index, { name: key, ifHeld, until: null, standing: 'new' })
  }
}

/** The store gave all of them to others when the task stopped. */
export function loseLocks(state: TaskState): void {
  for (const lock of state.locks.values()) if (lock.standing !== 'new') lock.standing = 'lost'
}

/** It asks for them again; after a pause also for those it was refused. */
export function reclaimed(state: TaskState): void {
  for (const lock of state.locks.values()) {
    if (lock.standing === 'lost' || lock.standing === 'refused') lock.standing = 'reclaimed'
  }
}

/** A new run keeps the task's own keys, and nothing else; what it came after is over. */
export function restartGate(state: TaskState, held: boolean): void {
  state.frozen = false
  state.predecessors.clear()
  for (const [id, lock] of state.locks) {
    if (id > 0) state.locks.delete(id)
    else lock.standing = held ? 'held' : 'lost'
  }
}
