import type { TaskState } from '../state.ts'
import { nodeOf, type PlanState } from './plan.ts'

/** A plan is undone against its edges: each step after everything that depended on it, independent steps concurrently. */
export function planUndo(state: TaskState): void {
  const { plan } = state
  if (!plan) return
  const { first } = plan.plan
  // Steps of earlier runs of the task are not part of the plan.
  const pending = new Set([...state.compensable.keys()].filter((id) => id >= first))
  const undo = { left: plan.nodes.map(({ behind }) => behind.length), ready: new Set<number>(), pending }
  plan.undo = undo
  for (const [index, node] of plan.nodes.entries()) {
    if (node.behind.length > 0) continue
    if (pending.has(first + index)) undo.ready.add(first + index)
    else release(plan, undo, first + index)
  }
}

/** The undo of the step was requested. */
export function undoRequested(plan: PlanState, id: number): void {
  plan.undo?.ready.delete(id)
}

/** The step is undone, so the steps that it depended on may follow. */
export function undoDone(plan: PlanState, id: number): void {
  const { undo } = plan
  if (undo?.pending.delete(id)) release(plan, undo, id)
}

/** Passes on that the step, and all that depended on it, is undone or needs no undo. */
function release(plan: PlanState, undo: NonNullable<PlanState['undo']>, from: number): void {
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
