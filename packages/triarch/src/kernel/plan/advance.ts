import type { Json } from '../json.ts'
import { isFull } from '../load.ts'
import { attemptFailed } from '../step/failure.ts'
import { emit, type Turn } from '../turn.ts'
import { isFinished, nodeOf, type PlanNode, type PlanState } from './plan.ts'
import { missingReference, resolve } from './reference.ts'
import { rescueFailed } from './rescue.ts'

/** The driver of a plan: requests the steps that have become ready, and ends the task when none is left. It depends on the fold alone. */
export function advance(turn: Turn): void {
  const { state } = turn
  const { plan } = state
  if (!plan || state.status !== 'running' || state.closing || turn.reload) return
  for (const id of plan.ready) {
    if (plan.open - plan.failedSteps.size >= turn.limits.fanOut || isFull(turn)) return
    request(turn, plan, id)
    if (state.closing || state.status !== 'running') return
  }
  if (isFinished(plan)) {
    // A skipped step has no output; the task's output contains null in its place.
    const output = resolve(plan.plan.output, plan.outputs) ?? partly(plan.plan.output, plan)
    emit(turn, { type: 'returned', output })
  } else if (plan.open === plan.failedSteps.size) rescueFailed(turn)
}

/** A finalize phase that runs as one step gets at most this many times the payload limit. */
const PHASE_PAYLOADS = 64

function request(turn: Turn, plan: PlanState, id: number): void {
  const { step } = nodeOf(plan, id) as PlanNode
  if (step.lock !== undefined) return emit(turn, { type: 'lockRequested', id, name: step.lock, until: null })
  if (step.unlock !== undefined) return emit(turn, { type: 'lockReleased', id, lock: step.unlock })
  const action = step.action as string
  const name = step.name ?? action.slice(action.indexOf('.') + 1)
  const policy = plan.plan.policies[step.policy ?? 0] ?? {}
  const input = inputOf(plan, id)
  const refused =
    input === undefined
      ? unresolved(plan, id)
      : tooLarge(input, turn.limits.payload * (Array.isArray(step.finalizes) ? PHASE_PAYLOADS : 1))
  emit(turn, { type: 'stepRequested', id, action, name, input: refused ? null : (input ?? null), policy })
  const requested = turn.state.steps.get(id)
  if (!refused || !requested) return
  const { operation, attempt } = requested
  const outcome = { kind: 'failed' as const, error: { name: 'TriarchError', ...refused }, retryable: false }
  const reply = { type: 'reply' as const, step: id, operation, attempt, outcome }
  attemptFailed(turn, requested, { ...reply, startedAt: null, endedAt: turn.at, node: null }, outcome)
}

function inputOf(plan: PlanState, id: number): Json | undefined {
  const { step } = nodeOf(plan, id) as PlanNode
  if (step.finalizes === undefined) return plan.edited.get(id) ?? resolve(step.input ?? null, plan.outputs)
  if (!Array.isArray(step.finalizes)) return doneOf(plan, step.finalizes)
  const parts = step.finalizes.filter((of) => nodeOf(plan, of)?.standing === 'done')
  const done = parts.map((of) => ({ action: nodeOf(plan, of)?.step.action ?? null, ...doneOf(plan, of) }))
  return done.every((part) => 'input' in part) ? done : undefined
}

function doneOf(plan: PlanState, id: number): { input: Json; output: Json } | undefined {
  const input = inputOf(plan, id)
  const output = plan.outputs.get(id)
  return input === undefined || output === undefined ? undefined : { input, output }
}

function unresolved(plan: PlanState, id: number): { code: string; message: string } {
  const { step } = nodeOf(plan, id) as PlanNode
  const message = `its input refers to the ${missingReference(step.input ?? null, plan.outputs)}, which is not there`
  return { code: 'REFERENCE_UNRESOLVED', message }
}

function tooLarge(input: Json, limit: number): { code: string; message: string } | null {
  if (typeof input !== 'object' || input === null) return null
  const size = JSON.stringify(input).length
  if (size <= limit) return null
  return { code: 'PAYLOAD_TOO_LARGE', message: `its input has ${size} characters as JSON; the limit is ${limit}` }
}

function partly(template: Json, plan: PlanState): Json {
  const value = resolve(template, plan.outputs)
  if (value !== undefined || typeof template !== 'object' || template === null) return value ?? null
  if (Array.isArray(template)) return template.map((item) => partly(item, plan))
  if ('$ref' in template) return null
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, partly(item, plan)]))
}
