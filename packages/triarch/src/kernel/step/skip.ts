import type { TaskEvent } from '../event.ts'
import type { Json } from '../json.ts'
import { dependents } from '../plan/plan.ts'
import type { TaskState } from '../state.ts'

/**
 * How a step is skipped. With an output in its place, whatever depends on it goes on. Without one, a plan takes all of it
 * along, by data or order; a function is told null.
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
