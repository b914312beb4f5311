import type { Action } from '../definition/definition.ts'
import { around, inOrder, type Middleware } from '../definition/middleware.ts'
import type { PresentedStep } from '../definition/step.ts'
import { toRecord } from '../error/record.ts'
import { type Batch, type BatchCounts, countsOf, newBatch, tryAgain } from '../kernel/batch/batch.ts'
import { batchChanged, batchPaged } from '../kernel/batch/fold.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import { nodeOf, type Plan } from '../kernel/plan/plan.ts'
import { type DatedEvent, effective, rebuild } from '../kernel/rebuild.ts'
import type { Redaction } from '../kernel/redaction.ts'
import type { TaskState } from '../kernel/state.ts'
import type { StepStatus } from '../kernel/status.ts'
import type { Step } from '../kernel/step/step.ts'
import { Table } from '../kernel/table.ts'
import type { CachedAt } from './event.ts'
import { cachedAt } from './history.ts'

/**
 * One step of a task, for display; secrets are hidden.
 * @example const failed = (await task.steps()).filter(({ status }) => status === 'error')
 */
export interface StepView {
  /** Its number in the task. */
  id: number
  /** `agent.action`; null: a local step. */
  action: string | null
  /** The action before a fallback took the step over because of an open circuit breaker: `agent.action`; absent: none did. */
  fallbackOf?: string
  /** The name of the step: the action's, unless the workflow gives another. */
  name: string
  /** `waiting`: a planned step whose turn has not come. */
  status: StepStatus | 'waiting'
  /** The input of the action. */
  input: Json
  /** The output; undefined while there is none. */
  output: Json | undefined
  /** The error of the step, or of its last attempt. */
  error: ErrorRecord | undefined
  /** Number of attempts. */
  attempts: number
  /** The output came from a cache; absent: it came from the service. */
  cached?: CachedAt
  /** When the workflow requested it. */
  requestedAt: Date | undefined
  /** When it succeeded, failed for good, or was skipped or cancelled. */
  endedAt: Date | undefined
  /** Progress of the step, 0 to 1. */
  progress: number
  /** Its share of the task's progress. */
  weight: number
  /** The description by the action's `present`. */
  summary: string | undefined
  /** Advice in case it failed. */
  hints: readonly string[]
  /** Of a batch: how many children it has, and how they ended. */
  children?: BatchCounts
  /** Its effect exists and compensation of the task would undo it. Absent: it has no undo or no effect, or is being undone or undone. */
  undoable?: true
}

/**
 * A range of steps of a task.
 * @example const first: StepRange = { limit: 100 }
 */
export interface StepRange {
  /** Steps after this number; from the first. */
  after?: number
  /** Largest number of steps; fewer are returned if they are large (1 MiB); all. */
  limit?: number
}

/** Lookups of definitions that this process has. */
interface DefinitionLookups {
  action: (key: string) => Action | undefined
  middleware: readonly Middleware[]
}

/** All steps of the current (or last) run, and those of earlier runs that it may undo, in the order of ids. */
export function stepViews(id: string, history: readonly DatedEvent[], redaction: Redaction): StepView[] {
  const { state } = rebuild(id, history)
  const views = new GrowingSteps()
  for (const dated of effective(history)) views.add(dated, redaction)
  return views.shown(state)
}

/** The same, extended as the history grows. The events must not include any that a rewind made void. */
export class GrowingSteps {
  readonly #views = new Map<number, StepView>()
  readonly #carried = new Set<number>()
  /** All batches, also those that the fold has dropped: it forgets a batch without a success once that has ended. */
  readonly #batches = { batches: new Table<number, Batch>(), steps: new Table<number, Step>() }

  add({ at, event }: DatedEvent, redaction: Redaction): void {
    if (event.type === 'planned') for (const [step, view] of waiting(event.plan, redaction)) this.#views.set(step, view)
    if (event.type === 'continuedAsNew') this.#carried.clear()
    if (event.type === 'stepCarried') this.#carried.add(event.id)
    follow(this.#views, { at, event: redaction.shown(event) })
    batched(this.#batches, event)
  }

  /** Whether a step with this id is known. */
  has(id: number): boolean {
    return this.#views.has(id)
  }

  /** Copies of the steps after a number. `state`: the task's state after the same events. */
  shown(state: TaskState, after: number = 0): StepView[] {
    const views: StepView[] = []
    for (const known of this.#views.values()) {
      if (known.id <= after) continue
      if (known.id < state.firstId && !this.#carried.has(known.id)) continue
      const view = { ...known }
      settle(view, state, this.#batches.batches)
      views.push(view)
    }
    return views.sort((a, b) => a.id - b.id)
  }
}

/** The weighted share of the known steps that is done: 0 to 1. */
export function progressOfSteps(views: readonly StepView[]): number {
  const all = views.reduce((sum, { weight }) => sum + weight, 0)
  const done = views.reduce((sum, { weight, progress }) => sum + weight * progress, 0)
  return all === 0 ? 0 : Math.floor((done / all) * 100) / 100
}

/** Largest size of the steps in one answer, in bytes of JSON. */
const LARGEST = 1024 * 1024

/** The first of the steps, each mapped by `shown`, within the limits of one answer; all if there is no limit. */
export async function bounded(
  views: readonly StepView[],
  limit: number | undefined,
  shown: (view: StepView) => Promise<StepView>,
): Promise<StepView[]> {
  const steps: StepView[] = []
  let left = LARGEST
  for (const view of views.slice(0, limit)) {
    const step = await shown(view)
    if (limit !== undefined) left -= Buffer.byteLength(JSON.stringify(step))
    // A step that exceeds the limit by itself is returned alone.
    if (left < 0 && steps.length > 0) break
    steps.push(step)
  }
  return steps
}

/** Adds the action's description of the step, if this process has the action. If the description fails, its error is shown instead. */
export async function present(view: StepView, { action, middleware }: DefinitionLookups): Promise<void> {
  const definition = view.action === null ? undefined : action(view.action)?.definition
  const chain = inOrder(middleware, definition?.middleware)
  const { input, output, error, status, progress } = view
  const step: PresentedStep = { input, output, error, status, progress }
  const call = { action: view.action ?? view.name, input }
  try {
    const summary = await around(chain, 'present', call, (changed) =>
      definition?.present?.({ ...step, input: changed as Json }),
    )
    if (summary !== undefined) view.summary = shortened(summary)
    const { hints = [] } = definition ?? {}
    view.hints = [await (typeof hints === 'function' ? hints(step) : hints)].flat().slice(0, MOST_HINTS).map(shortened)
  } catch (failure) {
    view.summary = `cannot be presented: ${toRecord(failure).message}`
  }
}

/** Largest number of characters of a summary or hint, and of hints per step. */
const LONGEST_SUMMARY = 4_096
const MOST_HINTS = 100

function shortened(told: unknown): string {
  const text = String(told)
  return text.length > LONGEST_SUMMARY ? `${text.slice(0, LONGEST_SUMMARY - 1)}…` : text
}

function follow(views: Map<number, StepView>, { at, event }: DatedEvent): void {
  if (event.type === 'continuedAsNew') views.clear()
  if (event.type === 'reset' && event.input !== undefined) Object.assign(views.get(event.step ?? 0) ?? {}, { input: event.input }) // biome-ignore format: one line
  if (event.type === 'stepCarried') {
    const { id, action, name, input, output, policy } = event
    views.set(id, { ...blank(id, action, name), status: 'success', input, output, weight: policy.weight ?? 1 })
  }
  if (event.type === 'stepRequested') {
    const { id, action, name, input, policy } = event
    const known = views.get(id)
    views.set(id, { ...blank(id, action, name), status: 'running', input, weight: known?.weight ?? policy.weight ?? 1, requestedAt: new Date(at) }) // biome-ignore format: one line
  }
  const view = 'id' in event ? views.get(event.id) : undefined
  if (!view) return
  const end = (status: StepStatus) => void Object.assign(view, { status, endedAt: new Date(at) })
  switch (event.type) {
    case 'stepCompleted':
      view.output = event.output
      if (event.cached) view.cached = cachedAt(event.cached)
      else delete view.cached
      view.attempts = Math.max(view.attempts, event.attempt)
      return end('success')
    case 'attemptFailed':
      view.error = event.error
      view.attempts = Math.max(view.attempts, event.attempt)
      return
    case 'heartbeat':
    case 'stepSuspended':
      if (typeof event.progress === 'number') view.progress = Math.min(1, Math.max(0, event.progress))
      return
    case 'fallbackRequested':
      if (view.action !== null) view.fallbackOf ??= view.action
      view.action = event.action
      return
    case 'stepSkipped':
      view.output = event.output
      for (const gone of event.cascade ?? []) Object.assign(views.get(gone) ?? {}, { status: 'skipped' })
      return end('skipped')
    case 'plannedStepFailed':
    case 'stepFailed':
      view.error = event.error
      return end('error')
    case 'stepRetried':
      if (event.input !== undefined) view.input = event.input
      return void Object.assign(view, { status: 'running', endedAt: undefined })
    case 'stepCancelled':
      // A step that had failed and waited for its task's rescue keeps its failure; the cancellation does not concern it.
      return view.status === 'error' ? undefined : end('cancelled')
    case 'undone':
      return end('compensated')
  }
}

/** Adds what only the fold knows, about steps that are not done. */
function settle(view: StepView, state: TaskState, batches: Table<number, Batch>): void {
  const step = state.steps.get(view.id)
  if (view.status === 'waiting' && state.plan && nodeOf(state.plan, view.id)?.standing === 'skipped')
    view.status = 'skipped'
  const batch = state.batches.get(view.id) ?? batches.get(view.id)
  if (step) view.status = step.status
  if (state.compensable.has(view.id)) view.undoable = true
  if (batch) {
    view.children = countsOf(batch)
    if (batch.total) view.progress = Math.min(1, (batch.success + batch.failed + batch.cancelled) / batch.total)
  }
  if (view.status === 'success' || view.status === 'skipped') view.progress = 1
}

function batched(
  state: { batches: Table<number, Batch>; steps: Table<number, Step> },
  event: DatedEvent['event'],
): void {
  if (event.type === 'continuedAsNew') state.batches.clear()
  if (event.type === 'stepRequested' && event.policy.batch) state.batches.set(event.id, newBatch(0))
  if (event.type === 'stepSuspended') batchPaged(state, event)
  if (event.type === 'batchAdvanced' || event.type === 'batchStopping') batchChanged(state, event)
  const batch = event.type === 'stepRetried' ? state.batches.get(event.id) : undefined
  if (batch) tryAgain(batch)
}

/** Views of a plan's steps, none of which has been requested. */
function waiting(plan: Plan, redaction: Redaction): Map<number, StepView> {
  const views = new Map<number, StepView>()
  for (const [index, step] of plan.steps.entries()) {
    if (step.action === null) continue
    const id = plan.first + index
    const name = redaction.texts.scrub(step.name ?? step.action.slice(step.action.indexOf('.') + 1))
    const input = redaction.hideOf(id, step.input ?? null)
    views.set(id, { ...blank(id, step.action, name), input, weight: step.weight ?? 1 })
  }
  return views
}

function blank(id: number, action: string | null, name: string): StepView {
  return {
    ...{ id, action, name, status: 'waiting', input: null, output: undefined, error: undefined, attempts: 0 },
    ...{ requestedAt: undefined, endedAt: undefined, progress: 0, weight: 1, summary: undefined, hints: [] },
  }
}
