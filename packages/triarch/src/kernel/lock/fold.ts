import { deliver } from '../delivery.ts'
import type { Folds } from '../fold.ts'
import { requested, settled } from '../plan/plan.ts'
import { decided } from '../state.ts'
import { returnSignal } from '../wait/mailbox.ts'
import type { LockDecision, LockFact } from './event.ts'
import { keysOf } from './gate.ts'

export const lockFolds: Folds<LockDecision | LockFact> = {
  lockRequested(state, { id, name, until }) {
    decided(state, id)
    if (state.plan) requested(state.plan, id)
    state.locks.set(id, { name, ifHeld: 'queue', until, standing: 'asked' })
  },
  locksRequested(state) {
    for (const lock of keysOf(state)) if (lock.standing !== 'held') lock.standing = 'asked'
  },
  lockGranted(state, { id, fence }, _at, deliveries) {
    const lock = state.locks.get(id)
    if (!lock) return
    lock.standing = 'held'
    if (fence !== undefined) lock.fence = fence
    if (id <= 0 || lock.told) return
    lock.told = true
    deliver(state, deliveries, { id, ok: true, value: fence ?? null })
  },
  lockRefused(state, { id, error }, _at, deliveries) {
    const lock = state.locks.get(id)
    if (lock?.standing === 'reclaimed') {
      lock.standing = 'refused'
      return
    }
    if (id <= 0) return
    state.locks.delete(id)
    deliver(state, deliveries, { id, ok: false, reason: 'lock', error })
  },
  lockReleased(state, { lock, id }) {
    state.locks.delete(lock)
    if (!state.plan || id === undefined) return
    requested(state.plan, id)
    settled(state.plan, id, null)
  },
  /** The code has stopped waiting: the lock goes to the next in its queue, a received signal to another wait. */
  waitCancelled(state, { id, lock, signal }, _at, deliveries) {
    if (lock) state.locks.delete(id)
    else state.waits.delete(id)
    const wait = signal && returnSignal(state, signal)
    if (signal && wait !== undefined) deliver(state, deliveries, { id: wait, ok: true, value: signal.payload })
  },
  thawed(state, { startAt }) {
    state.frozen = false
    if (startAt !== undefined) state.startAt = startAt
  },
  predecessorStopped(state, { task, result }) {
    const predecessor = state.predecessors.get(task)
    if (predecessor) predecessor.result = result ?? 'unknown'
  },
}
