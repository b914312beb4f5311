import type { Child } from '../child/child.ts'
import type { TaskState } from '../state.ts'
import type { Closing } from '../task/pause.ts'
import { stop } from '../task/stop.ts'
import { emit, type Turn } from '../turn.ts'
import { settleBatches } from './failure.ts'
import type { Step } from './step.ts'

/**
 * Sagas (Garcia-Molina & Salem 1987), with the partial order kept: a unit that was requested after a step completed may depend on it, so it
 * is undone first; units that ran concurrently are undone concurrently.
 */
export function startCompensation(turn: Turn): boolean {
  const { state } = turn
  if (!state.closing?.compensate || unitsToUndo(state).length === 0) return false
  emit(turn, { type: 'compensating' })
  return true
}

export function closeCompensation(turn: Turn, reason: Closing): void {
  const { state } = turn
  for (let undone = -1; undone < state.undone; ) {
    undone = state.undone
    for (const id of readyOf(state)) {
      emit(turn, { type: 'undoRequested', id, at: turn.at })
      const child = state.children.get(id)
      if (child) turn.posts.push({ task: child.task, message: { type: 'compensate' }, control: true })
    }
    // A batch may be undone at once, which lets earlier units follow.
    if (state.batches.size > 0) settleBatches(turn)
  }
  if (!isCompensating(state)) stop(turn, reason)
}

/** The units that may be undone now. A plan's own steps come first, then what ran before the plan. */
function readyOf(state: TaskState): Iterable<number> {
  const { undo } = state.plan ?? {}
  return undo && undo.pending.size > 0 ? undo.ready : ready(state).map((unit) => unit.id)
}

/** Completed units that can be undone and were not yet asked to. */
function unitsToUndo(state: TaskState): (Step | Child)[] {
  const steps = [...state.compensable.values()].sort((a, b) => a.id - b.id)
  const children = [...state.children.values()].filter((c) => c.status === 'stopped' && c.succeeded && c.undo)
  return [...steps, ...children]
}

function underWay(state: TaskState): (Step | Child)[] {
  const steps = [...state.steps.values()].filter((step) => step.status === 'compensating')
  return [...steps, ...[...state.children.values()].filter((child) => child.status === 'compensating')]
}

/** The units to undo next: those after whose completion no unit was requested that is still to be undone. */
function ready(state: TaskState): (Step | Child)[] {
  const waiting = unitsToUndo(state)
  let latest = Number.NEGATIVE_INFINITY
  for (const { requestedAt } of [...waiting, ...underWay(state)]) latest = Math.max(latest, requestedAt)
  return waiting.filter((unit) => unit.completedAt >= latest)
}

function isCompensating(state: TaskState): boolean {
  if (state.plan?.undo && state.plan.undo.pending.size > 0) return true
  return state.compensable.size > 0 || underWay(state).length > 0 || unitsToUndo(state).length > 0
}
