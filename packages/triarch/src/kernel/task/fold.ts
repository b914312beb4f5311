import type { Folds } from '../fold.ts'
import type { ErrorRecord } from '../json.ts'
import { loseLocks, reclaimed } from '../lock/standing.ts'
import { planUndo } from '../plan/undo.ts'
import { isRequested, moveTask, type TaskState } from '../state.ts'
import { moveStep } from '../step/change.ts'
import type { TaskDecision, TaskFact } from './event.ts'
import type { PauseCause } from './pause.ts'
import { restart, rewind } from './restart.ts'
import { submit } from './start.ts'

/** How many request ids a task keeps, and how many of requests by token; neither displaces the other. */
const MOST_REQUESTS = 100

export const taskFolds: Folds<TaskDecision | TaskFact> = {
  submitted: submit,
  started(state, { completeBy }) {
    state.begun = true
    if (completeBy !== undefined) state.completeBy = completeBy
    moveTask(state, 'running')
  },
  messageIgnored(state) {
    state.asides++
  },
  requestReceived(state, { request, digest, by }) {
    state.asides++
    const list = by === 'token' ? 'tokenRequests' : 'requests'
    state[list] = [...state[list], request].slice(-MOST_REQUESTS)
    if (digest === undefined) return
    const kept = Object.entries(state.digests).filter(([name]) => isRequested(state, name))
    state.digests = Object.fromEntries([...kept, [request, digest]])
  },
  patched(state, { patch }) {
    state.patches.set(patch, true)
  },
  progressed(state, { progress }) {
    state.progress = progress
  },
  returned(state, { output }) {
    state.closing = { cause: 'returned', compensate: false, output }
  },
  threw(state, { error, rescue }) {
    const failed = failedBy(state, error)
    const child = failed === null ? undefined : state.children.get(failed)
    if (child) state.failedAt = child.completedAt
    else if (failed === null || failed !== state.lastFailed) state.failedAt = state.ordinal
    state.lastFailed = failed
    state.closing = { cause: 'threw', compensate: rescue === 'compensate', error }
  },
  continueAsNewRequested(state, { input }) {
    state.closing = { cause: 'continue', compensate: false, output: input }
  },
  closing(state, { cause, compensate, error }) {
    if (state.pause) unpause(state)
    state.deferred = []
    if (state.closing === null && state.status !== 'stopped') state.failedAt = state.ordinal
    state.closing = { cause, compensate, ...(error && { error }) }
    if (state.status !== 'stopped') return
    loseLocks(state)
    moveTask(state, 'running')
  },
  paused(state, { reason, error, step: id, note, actor }, now) {
    const step = id === undefined ? undefined : state.steps.get(id)
    if (step) {
      step.held = reason
      step.released = false
      if (reason === 'step') moveStep(step, 'error')
    }
    const from = state.pause?.from ?? state.status
    moveTask(state, 'paused')
    // A step that is held meanwhile does not repair what stopped the code.
    const broken = state.pause?.broken === true || ofCode.has(reason)
    if (reason === 'lock') reclaimed(state)
    if (reason === 'operator') state.asides++
    const at = step ? { name: step.name, ...(step.action !== null && { action: step.action }) } : state.pause?.step
    // An operator's remark on a pause is kept until there is another one, or the pause is over.
    const said = note !== undefined || actor !== undefined ? { note, actor } : state.pause
    const since = state.pause?.since ?? now
    state.pause = { reason, since, from, error, note: said?.note, broken, ...(at && { step: at }) }
    if (said?.actor !== undefined) state.pause.actor = said.actor
  },
  resumed(state, _event, _at, deliveries) {
    state.asides++
    unpause(state)
    deliveries.push(...state.deferred)
    state.deferred = []
  },
  adopted(state, { parent }) {
    state.parent = parent
    state.adopted = true
  },
  compensating(state) {
    state.undoBegun = true
    planUndo(state)
    moveTask(state, 'compensating')
  },
  reset(state, event, at, deliveries) {
    if (event.attempts) deliveries.push(...state.deferred)
    rewind(state, event, at)
  },
  continuedAsNew: restart,
  stopped(state, { result, output, error }) {
    moveTask(state, 'stopped')
    state.stops++
    state.result = result
    state.output = output
    state.error = error
    state.closing = null
    state.timers.clear()
    state.waits.clear()
    state.mailbox = []
    loseLocks(state)
    // A forced stop leaves undos that are not awaited any more.
    for (const step of state.steps.values()) if (step.status === 'compensating') state.steps.delete(step.id)
  },
}

/** Pauses caused by the code, which cannot go on from where it is. */
const ofCode: ReadonlySet<PauseCause> = new Set(['mismatch', 'error'])

/** The step or child whose failure ended the run, if the code let it through; a retry goes on from there. */
function failedBy(state: TaskState, error: ErrorRecord): number | null {
  const { stepId, childId } = (error.details ?? {}) as { stepId?: number; childId?: string }
  if (error.code === 'STEP_FAILED') return stepId ?? null
  if (error.code !== 'CHILD_FAILED') return null
  return [...state.children.values()].find((child) => child.task === childId)?.id ?? null
}

function unpause(state: TaskState): void {
  state.status = state.pause?.from ?? 'running'
  state.pause = null
}
