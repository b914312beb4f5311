import { nodeOf, type PlanState } from './plan.ts'
import type { TaskState } from './state.ts'

/** A plan is undone against its edges: a step after everything that depended on it, and independent ones side by side. */
export function startBackwards(state: TaskState): void {
  const { plan } = state
  if (!plan) return
  const { first } = plan.plan
  const pending = new Set(state.done.keys())
  plan.undo = { left: plan.nodes.map(({ behind }) => behind.length), ready: new Set(), pending }
  for (const [index, node] of plan.nodes.entries()) if (node.behind.length === 0) uncovered(plan, first + index)
}

/** The step's undo went out. */
export function wentBack(plan: PlanState, id: number): void {
  plan.undo?.ready.delete(id)
}

/** The step is undone: what it depended on may follow. */
export function isBack(plan: PlanState, id: number): void {
  if (plan.undo?.pending.delete(id)) release(plan, id)
}

/** Nothing that depended on the step is left. */
function uncovered(plan: PlanState, id: number): void {
  if (!plan.undo?.pending.has(id)) return release(plan, id)
  plan.undo.ready.add(id)
}

function release(plan: PlanState, from: number): void {
  const { undo } = plan
  if (!undo) return
  const through = [from]
  for (let at = through.pop(); at !== undefined; at = through.pop()) {
    for (const before of nodeOf(plan, at)?.before ?? []) {
      const index = before - plan.plan.first
      const left = (undo.left[index] ?? 0) - 1
      undo.left[index] = left
      if (left > 0) continue
      if (undo.pending.has(before)) undo.ready.add(before)
      else through.push(before)
    }
  }
}
