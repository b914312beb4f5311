import type { TaskEvent } from '../event.ts'
import type { TaskState } from '../state.ts'
import { waitingParents } from '../task/order.ts'
import type { GateRequests, IfHeld } from './lock.ts'

/** Adds the lock requests and releases that an event implies. */
export function requestsOf(state: TaskState, event: TaskEvent, requests: GateRequests): void {
  const { locks, unlocks } = requests
  switch (event.type) {
    case 'lockRequested':
      return ask(state, requests, event.id, event.name)
    case 'locksRequested':
      for (const [step, { name, ifHeld, standing }] of state.locks)
        if (step <= 0 && standing === 'asked') ask(state, requests, step, name, ifHeld)
      return
    case 'paused':
      if (event.reason !== 'lock') return
      for (const [step, { name, standing }] of state.locks)
        if (standing === 'reclaimed') ask(state, requests, step, name)
      return
    case 'stopped':
      // The store releases all locks of a stopped task, and a request of the same transition must not be carried out after that.
      locks.length = 0
      unlocks.length = 0
      return
    case 'lockReleased':
      return giveBack(requests, event.lock)
    case 'waitCancelled':
      if (event.lock) giveBack(requests, event.id)
      return
    case 'lockRefused':
      unlocks.push(event.id)
  }
}

function ask(state: TaskState, { locks }: GateRequests, step: number, name: string, ifHeld: IfHeld = 'queue'): void {
  const parents = state.parent ? waitingParents(state.parent) : []
  locks.push({ step, name, ifHeld, ...(parents.length > 0 && { parents }) })
}

/** Releases a lock. A request of the same transition is dropped, because the store handles releases first. */
export function giveBack({ locks, unlocks }: GateRequests, id: number): void {
  const asked = locks.findIndex(({ step }) => step === id)
  if (asked >= 0) locks.splice(asked, 1)
  unlocks.push(id)
}
