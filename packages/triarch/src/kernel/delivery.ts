import { settled } from './plan/plan.ts'
import type { Delivery, TaskState } from './state.ts'

/**
 * Tells who runs the task what became of something. A plan has no code: its graph learns of it. The code hears nothing more once the
 * task unwinds, and nothing yet while it is paused.
 */
export function deliver(state: TaskState, deliveries: Delivery[], delivery: Delivery): void {
  if (state.plan) {
    if (delivery.ok) settled(state.plan, delivery.id, delivery.value)
    return
  }
  if (isEnding(state)) return
  if (state.status === 'paused') state.deferred.push(delivery)
  else deliveries.push(delivery)
}

export function isEnding({ closing, status }: TaskState): boolean {
  return closing !== null || status === 'stopped'
}
