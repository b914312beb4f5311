import { settled } from './plan/plan.ts'
import type { Delivery, TaskState } from './state.ts'

/**
 * Delivers an outcome to whatever runs the task: the graph of a plan, or the workflow's code. The code gets no more outcomes once the task
 * unwinds; while the task is paused they are deferred.
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
