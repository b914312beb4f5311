import type { TaskEvent } from '../event.ts'
import type { Json } from '../json.ts'
import { dependents } from '../plan/plan.ts'
import type { TaskState } from '../state.ts'

/**
 * The event that skips a step. With an output, all that depends on the step goes on. Without one, a plan skips all that depends on it by
 * data or order; a function gets null.
 */
export function skipping(
  state: TaskState,
  id: number,
  output: Json | undefined,
  by: 'rescue' | 'operator',
): Extract<TaskEvent, { type: 'stepSkipped' }> {
  if (output !== undefined || !state.plan) return { type: 'stepSkipped', id, output: output ?? null, by }
  const cascade = dependents(state.plan, id).filter(
    (other) => state.plan?.nodes[other - state.plan.plan.first]?.step.action,
  )
  return { type: 'stepSkipped', id, cascade, by }
}
