import { newGate } from '../lock/standing.ts'
import type { TaskState } from '../state.ts'
import type { Submission } from './order.ts'

/** The state of a newly submitted task. */
export function submit(state: TaskState, event: Submission, at: number): void {
  state.workflow = event.workflow
  state.version = event.version
  state.input = event.input
  state.startAt = event.startAt ?? null
  state.startBefore = event.startBefore ?? null
  state.completeBy = event.completeBy ?? null
  state.priority = event.priority ?? 0
  state.tags = event.tags ?? {}
  // Frozen because the user's code gets this very object.
  state.metadata = event.metadata ? Object.freeze(event.metadata) : null
  state.share = event.share ?? null
  state.parent = event.parent ?? null
  state.hooks = event.hooks ?? []
  state.incarnation = event.incarnation ?? ''
  state.status = event.frozen || event.after || (event.startAt ?? at) > at ? 'scheduled' : 'pending'
  newGate(state, event)
}
