import type { Json } from '../json.ts'
import type { RecordedPolicy } from '../step/policy.ts'
import { references, type Template } from './reference.ts'

/** A plan as the history keeps it. The n-th of its steps has the id `first + n`. */
export interface Plan {
  first: number
  steps: PlannedStep[]
  /** Each distinct policy once. */
  policies: RecordedPolicy[]
  /** The actions that planned others, outermost first. */
  groups: PlannedGroup[]
  /** The task's output, with references to the outputs of steps. */
  output: Template
  /** Time from the task's start to its complete-by (ms). */
  runWithin?: number
}

export interface PlannedStep {
  /** `agent.action`; null: a join, which waits for others and does nothing, or a step that takes or releases a lock. */
  action: string | null
  /** Name of the lock to take. */
  lock?: string
  /** The step that took the lock to release. */
  unlock?: number
  /** The step's name if it is not that of the action. */
  name?: string
  input?: Template
  /** Steps that must be done first, besides those that its input refers to. */
  after?: number[]
  /** Index in the plan's policies. */
  policy?: number
  /** Index in the plan's groups. */
  group?: number
  /** The step's share of the task's progress; 1. */
  weight?: number
  /** The run step that this step finalizes; a list: the whole finalize phase as one transaction. */
  finalizes?: number | number[]
}

/** The action of a step that runs the whole finalize phase; it runs in the process that owns the task. */
export const FINALIZE = 'triarch:finalize'

/** One part of the input of such a step. */
export interface FinalizedStep {
  action: string
  input: Json
  output: Json
}

export interface PlannedGroup {
  action: string
  name: string
  group?: number
}

/** How far a planned step is. A join goes directly from waiting to done. */
export type PlannedState = 'waiting' | 'ready' | 'open' | 'done' | 'skipped'

export interface PlanNode {
  step: PlannedStep
  standing: PlannedState
  /** Steps that this one waits for, and steps that wait for it. */
  before: number[]
  behind: number[]
  /** How many of `before` are not done yet. */
  waiting: number
}

/** The fold of a plan and of the states of its steps. */
export interface PlanState {
  plan: Plan
  nodes: PlanNode[]
  /** Steps that may be requested now, in the order in which they became ready. */
  ready: Set<number>
  /** Number of steps that are requested and not settled. */
  open: number
  /** Steps that have failed and wait until the rest of the plan cannot go on. */
  failedSteps: Set<number>
  /** Number of steps of the run phase that are not settled. */
  left: number
  /** Steps of the finalize phase, in order; those before `finalized` are settled. */
  finalizers: number[]
  finalized: number
  /** Steps whose output is referred to. */
  wanted: Set<number>
  outputs: Map<number, Json>
  /** Inputs that an operator edited. */
  edited: Map<number, Json>
  weight: { done: number; all: number }
  /** While the plan is undone: for each step, how many of those behind it are not undone yet. */
  undo: { left: number[]; ready: Set<number>; pending: Set<number> } | null
}

export function newPlanState(plan: Plan): PlanState {
  const state: PlanState = {
    plan,
    nodes: [],
    ready: new Set(),
    open: 0,
    failedSteps: new Set(),
    left: 0,
    finalizers: [],
    finalized: 0,
    wanted: references(plan.output),
    outputs: new Map(),
    edited: new Map(),
    weight: { done: 0, all: 0 },
    undo: null,
  }
  for (const [index, step] of plan.steps.entries()) addNode(state, step, plan.first + index)
  for (const [index, node] of state.nodes.entries()) {
    const first = node.standing === 'waiting' && node.waiting === 0 && node.step.finalizes === undefined
    if (first) reached(state, plan.first + index)
  }
  if (state.left === 0) finalizeNext(state)
  return state
}

/** The run steps that a step of the finalize phase finalizes. */
export function finalizedBy({ finalizes }: PlannedStep): number[] {
  return finalizes === undefined ? [] : [finalizes].flat()
}

export function nodeOf(state: PlanState, id: number): PlanNode | undefined {
  return state.nodes[id - state.plan.first]
}

export function requested(state: PlanState, id: number): void {
  const node = nodeOf(state, id)
  if (!node || !state.ready.delete(id)) return
  node.standing = 'open'
  state.open++
}

/** The step has an output, its own or (if skipped) a substitute, so that steps that waited for it alone become ready. */
export function settled(state: PlanState, id: number, output: Json, standing: 'done' | 'skipped' = 'done'): void {
  const node = nodeOf(state, id)
  if (!node || !close(state, id, node)) return
  if (state.wanted.has(id)) state.outputs.set(id, output)
  pass(state, id, standing)
}

/** The step has no output and is skipped together with `cascade`, all steps that depend on it. */
export function skipped(state: PlanState, id: number, cascade: readonly number[]): void {
  const node = nodeOf(state, id)
  if (!node || !close(state, id, node)) return
  // The event names steps only; the joins between them must be skipped too, or the plan would wait for them for ever.
  const joins = dependents(state, id).filter((other) => nodeOf(state, other)?.step.action === null)
  for (const gone of [...cascade, ...joins]) {
    const other = nodeOf(state, gone)
    if (other && other.standing === 'waiting') leave(state, other, 'skipped')
  }
  if (node.step.finalizes === undefined) leave(state, node, 'skipped')
  else pass(state, id, 'skipped')
  if (state.left === 0) finalizeNext(state)
}

/** All steps that depend on the step by data or order, directly or indirectly. */
export function dependents(state: PlanState, id: number): number[] {
  const found = new Set<number>()
  const open = [id]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of nodeOf(state, at)?.behind ?? []) {
      if (found.has(next)) continue
      found.add(next)
      open.push(next)
    }
  }
  return [...found]
}

/** Whether nothing is left to run or to finalize. */
export function isFinished(state: PlanState): boolean {
  return state.left === 0 && state.finalized === state.finalizers.length
}

/** Share of the planned work that is settled, in hundredths. */
export function progressOf({ weight }: PlanState): number {
  return weight.all === 0 ? 1 : Math.floor((weight.done / weight.all) * 100) / 100
}

function addNode(state: PlanState, step: PlannedStep, id: number): void {
  const finalizes = step.finalizes !== undefined
  const before = new Set(step.after)
  for (const of of references(step.input ?? null)) {
    state.wanted.add(of)
    before.add(of)
  }
  for (const of of finalizedBy(step)) state.wanted.add(of)
  const node: PlanNode = { step, standing: 'waiting', before: [...before], behind: [], waiting: before.size }
  state.nodes.push(node)
  for (const of of before) nodeOf(state, of)?.behind.push(id)
  if (step.action !== null) state.weight.all += step.weight ?? 1
  if (finalizes) state.finalizers.push(id)
  else state.left++
}

function close(state: PlanState, id: number, node: PlanNode): boolean {
  if (node.standing !== 'open') return false
  state.open--
  state.failedSteps.delete(id)
  return true
}

/** All that the step waited for is done. A join is done at once, and what waits for it follows. */
function reached(state: PlanState, id: number): void {
  const node = nodeOf(state, id) as PlanNode
  if (isJoin(node.step)) return pass(state, id, 'done')
  node.standing = 'ready'
  state.ready.add(id)
}

function pass(state: PlanState, id: number, standing: 'done' | 'skipped'): void {
  const through = [id]
  for (let at = through.pop(); at !== undefined; at = through.pop()) {
    const node = nodeOf(state, at) as PlanNode
    leave(state, node, at === id ? standing : 'done')
    if (node.step.finalizes !== undefined) state.finalized++
    for (const next of node.behind) {
      const other = nodeOf(state, next) as PlanNode
      if (--other.waiting > 0 || other.standing !== 'waiting') continue
      if (isJoin(other.step)) through.push(next)
      else reached(state, next)
    }
  }
  if (state.left === 0) finalizeNext(state)
}

function isJoin({ action, lock, unlock }: PlannedStep): boolean {
  return action === null && lock === undefined && unlock === undefined
}

function leave(state: PlanState, node: PlanNode, standing: 'done' | 'skipped'): void {
  node.standing = standing
  if (node.step.action !== null) state.weight.done += node.step.weight ?? 1
  if (node.step.finalizes === undefined) state.left--
}

/** Makes the next step of the finalize phase ready once the run phase is over; steps whose run step was skipped are skipped. */
function finalizeNext(state: PlanState): void {
  for (; state.finalized < state.finalizers.length; state.finalized++) {
    const id = state.finalizers[state.finalized] as number
    const node = nodeOf(state, id) as PlanNode
    if (node.standing !== 'waiting') return
    if (finalizedBy(node.step).some((of) => nodeOf(state, of)?.standing === 'done')) return reached(state, id)
    leave(state, node, 'skipped')
  }
}
