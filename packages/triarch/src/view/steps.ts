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
 * One step of a task, as people and pages want to see it: nothing secret is in it.
 * @example const failed = (await task.steps()).filter(({ status }) => status === 'error')
 */
export interface StepView {
  /** Its number in the task. */
  id: number
  /** `agent.action`; null: local. */
  action: string | null
  /** Whose step it was, until the circuit breaker of that was open and its fallback did it: `agent.action`; absent: no fallback did. */
  fallbackOf?: string
  /** What it is called: the action's name, unless the workflow says otherwise. */
  name: string
  /** `waiting`: a planned step whose turn has not come. */
  status: StepStatus | 'waiting'
  /** What the action was given. */
  input: Json
  /** What it gave; undefined while there is none. */
  output: Json | undefined
  /** How it, or its last attempt, failed. */
  error: ErrorRecord | undefined
  /** How often it was tried. */
  attempts: number
  /** Its output is the answer of before, from a cache; absent: the service gave it. */
  cached?: CachedAt
  /** When the workflow asked for it. */
  requestedAt: Date | undefined
  /** When it succeeded, failed for good, or was skipped or cancelled. */
  endedAt: Date | undefined
  /** 0 to 1. */
  progress: number
  /** Its share of the task's progress. */
  weight: number
  /** What the action says about it in words. */
  summary: string | undefined
  /** What may help when it failed. */
  hints: readonly string[]
  /** Of a batch: how many children it has, and what became of them. */
  children?: BatchCounts
  /** What it did stands, and can be undone: compensation of the task would. Absent: it has no undo, did nothing, or is being undone or undone. */
  undoable?: true
}

/**
 * Which steps of a task.
 * @example const first: StepRange = { limit: 100 }
 */
export interface StepRange {
  /** Those after the step of this number; from the first. */
  after?: number
  /** Most steps. There are fewer where they are large (1 MiB); all. */
  limit?: number
}

/** What this process knows by name. */
interface Known {
  action: (key: string) => Action | undefined
  middleware: readonly Middleware[]
}

/** Every step of the run that goes on (or ended), and what earlier runs did and it may undo, in the order of their ids. */
export function stepViews(id: string, history: readonly DatedEvent[], redaction: Redaction): StepView[] {
  const { state } = rebuild(id, history)
  const views = new GrowingSteps()
  for (const dated of effective(history)) views.add(dated, redaction)
  return views.shown(state)
}

/** The same while the history grows, by events that no rewind makes void. */
export class GrowingSteps {
  readonly #views = new Map<number, StepView>()
  readonly #carried = new Set<number>()
  /** Every batch, also those that the fold let go of: one without a success is nothing to it once it has ended. */
  readonly #batches = { batches: new Table<number, Batch>(), steps: new Table<number, Step>() }

  add({ at, event }: DatedEvent, redaction: Redaction): void {
    if (event.type === 'planned') for (const [step, view] of waiting(event.plan, redaction)) this.#views.set(step, view)
    if (event.type === 'continuedAsNew') this.#carried.clear()
    if (event.type === 'stepCarried') this.#carried.add(event.id)
    follow(this.#views, { at, event: redaction.shown(event) })
    batched(this.#batches, event)
  }

  /** Whether the step is among them. */
  has(id: number): boolean {
    return this.#views.has(id)
  }

  /** Copies of those after a number. `state`: of the task by the same events. */
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

/** Weighted share of the steps that are known which is done: 0 to 1. */
export function progressOfSteps(views: readonly StepView[]): number {
  const all = views.reduce((sum, { weight }) => sum + weight, 0)
  const done = views.reduce((sum, { weight, progress }) => sum + weight * progress, 0)
  return all === 0 ? 0 : Math.floor((done / all) * 100) / 100
}

/** Bytes of JSON of as many steps as there may be. */
const LARGEST = 1024 * 1024

/** The first of the steps, each as `shown` makes it: no more than there may be; all without a limit. */
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
    // One that is larger by itself is given alone.
    if (left < 0 && steps.length > 0) break
    steps.push(step)
  }
  return steps
}

/** What the action says about the step, as far as it is known here. What fails in saying so is what is shown. */
export async function present(view: StepView, { action, middleware }: Known): Promise<void> {
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

/** Characters of a summary and of a hint, and hints of a step. */
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
      // One that had failed, and waited for what its task makes of that, is not what was called off.
      return view.status === 'error' ? undefined : end('cancelled')
    case 'undone':
      return end('compensated')
  }
}

/** What the fold knows better: steps that are not done. */
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

/** The steps of a plan of which none has been asked for. */
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
