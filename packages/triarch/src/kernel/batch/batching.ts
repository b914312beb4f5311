import { childRefused } from '../child/refusal.ts'
import type { ErrorRecord } from '../json.ts'
import type { Message } from '../message.ts'
import type { TaskState } from '../state.ts'
import { succeeded } from '../status.ts'
import type { Step } from '../step/step.ts'
import { leftBy } from '../task/left.ts'
import { undoesCalledOff } from '../task/pause.ts'
import { emit, type Turn } from '../turn.ts'
import {
  type Batch,
  type BatchPolicy,
  borne,
  childId,
  countsOf,
  type EndedChildren,
  type Page,
  ranges,
} from './batch.ts'

type ChildMessage = Extract<Message, { type: 'child' }>

/** Notes how a child of a batch ended; all ends of a turn are recorded as one event. Returns false if the end was known already. */
export function childEnded(turn: Turn, { step, ordinal, result, error, refused }: ChildMessage): boolean {
  const batch = turn.state.batches.get(step)
  if (!batch) return false
  const ended = turn.ended.get(step) ?? newEnded()
  if (ordinal === undefined) {
    const name = refused?.child
    const unmade = [...batch.outstanding].find((other) => childId(turn.state, step, batch, other) === name)
    if (unmade === undefined || ended.foreign.has(unmade)) return false
    ended.foreign.add(unmade)
  } else if (!batch.outstanding.has(ordinal) || ended.results.has(ordinal)) return false
  else ended.results.set(ordinal, result)
  if (!succeeded(result)) ended.error ??= refused ? childRefused(refused) : error
  // A child that failed before is asked to undo again and reports the same rest; it is counted once.
  if (ordinal !== undefined && !batch.unhappy.has(ordinal)) ended.left += leftBy(error)
  turn.ended.set(step, ended)
  return true
}

/** The error for a page that repeats the items of another offset, because such a source would never end; null: the page is accepted. */
export function repeatedPage(turn: Turn, id: number, { offset, digest }: Page): ErrorRecord | null {
  const before = turn.state.batches.get(id)?.page
  if (!before || before.offset === offset || before.digest !== digest) return null
  const message = `the items of a batch gave the same page from ${offset} on as from ${before.offset} on: give the part that is asked for, or an iterable of all that there is`
  return { name: 'TriarchError', code: 'BATCH_PAGE_INVALID', message, details: { offset, before: before.offset } }
}

/** Whether the messages of children, this one being the last, must be handled now. If not, the turn waits for more of them. */
export function isUrgent(state: TaskState, message: Message, waiting: number): boolean {
  if (message.type !== 'child' || message.ordinal === undefined) return true
  const batch = state.batches.get(message.step)
  const policy = policyOf(state, message.step)
  if (!batch || !policy) return true
  if (waiting >= batch.outstanding.size || waiting >= Math.floor(policy.concurrency / 10)) return true
  if (policy.quorum !== null && batch.success + waiting >= policy.quorum) return true
  return !succeeded(message.result) && policy.failFast && batch.failed + waiting > borne(policy, batch.total)
}

/** A batch that failed; its step's rescue strategy decides what follows. */
interface FailedBatch {
  step: Step
  error: ErrorRecord
}

/**
 * The driver of batches: records what ended, starts as many children as there is room for, asks for the next page, and ends a batch that
 * has nothing left to do. It depends on the fold alone, except for the current page; a lost page is asked for again.
 */
export function driveBatches(turn: Turn): FailedBatch[] {
  const failed: FailedBatch[] = []
  for (const [id, batch] of turn.state.batches) {
    const step = turn.state.steps.get(id)
    const policy = step?.policy.batch
    if (!step || !policy) continue
    if (step.status === 'compensating') undo(turn, step, batch, policy)
    else if (step.status === 'running' || step.status === 'suspended') {
      run(turn, step, batch, policy)
      const error = step.status === 'suspended' && isDrained(batch, policy) ? finish(turn, step, batch, policy) : null
      if (error) failed.push({ step, error })
    }
  }
  turn.ended.clear()
  return failed
}

/** Starts no more children of the batch; those that run are cancelled and awaited, unless its policy says otherwise. */
export function stopBatch(turn: Turn, step: Step, error?: ErrorRecord): void {
  const batch = turn.state.batches.get(step.id)
  const policy = step.policy.batch
  if (!batch || !policy) return
  const first = !batch.stopping
  if (step.status === 'running' && step.dispatched) {
    // The page that the source would give is not needed any more.
    turn.aborts.push(step.id)
    turn.forgotten.push(step.id)
  }
  emit(turn, { type: 'batchStopping', id: step.id, ...(error && { error }) })
  if (!first || policy.onCancel !== 'cancel') return
  const { closing } = turn.state
  const compensate = closing === null || undoesCalledOff(closing)
  callOff(turn, step, { type: 'cancel', force: false, compensate, reason: 'the batch was stopped' })
}

export function callOff(turn: Turn, step: Step, message: Message): void {
  const batch = turn.state.batches.get(step.id)
  if (!batch || step.policy.batch?.onCancel === 'detach') return
  for (const ordinal of batch.outstanding) tell(turn, step, batch, ordinal, message)
}

/** Whether none of the batch's children is awaited any more. */
export function isDrained({ outstanding, stopping }: Batch, { onCancel }: BatchPolicy): boolean {
  return outstanding.size === 0 || (stopping && onCancel === 'detach')
}

function run(turn: Turn, step: Step, batch: Batch, policy: BatchPolicy): void {
  const { id } = step
  const { results, foreign, left, error } = turn.ended.get(id) ?? newEnded()
  const gone = results.size + foreign.size
  const { status } = turn.state
  const isOn = status === 'running' || (status === 'paused' && step.released && turn.state.pause?.from === 'running')
  const goes = isOn && !turn.state.closing && !batch.stopping && !turn.reload
  const well = [...results.values()].filter(succeeded).length
  const verdict = goes ? decide(policy, batch.total, batch.success + well, batch.failed + gone - well) : 'open'
  const room = goes && verdict === 'open' ? policy.concurrency - (batch.outstanding.size - gone) : 0
  const again = Math.min(room, batch.again.length)
  const started = Math.min(room - again, batch.buffer.length)
  retry(turn, step, batch, again)
  spawn(turn, step, batch, policy, started)
  if (gone + again + started > 0) {
    emit(turn, {
      type: 'batchAdvanced',
      id,
      ...(results.size > 0 && { ended: ranges(results) }),
      ...(foreign.size > 0 && { foreign: [...foreign] }),
      ...(started > 0 && { started }),
      ...(again > 0 && { again }),
      ...(left > 0 && { left }),
      ...(error && !batch.cause && { error }),
    })
  }
  if (verdict !== 'open') stopBatch(turn, step, verdict === 'enough' ? undefined : failure(step, batch))
  else if (goes && step.status === 'suspended' && room > again + started && batch.next !== batch.total)
    emit(turn, { type: 'stepSignalled', id, name: 'page', payload: null })
}

function newEnded(): EndedChildren {
  return { results: new Map(), foreign: new Set(), left: 0, error: undefined }
}

function retry(turn: Turn, step: Step, batch: Batch, count: number): void {
  for (const ordinal of batch.again.slice(0, count)) {
    tell(turn, step, batch, ordinal, { type: 'retry' })
    // A child that succeeded meanwhile ignores the retry; the report makes it send its result.
    tell(turn, step, batch, ordinal, { type: 'report' })
  }
}

function spawn(turn: Turn, step: Step, batch: Batch, policy: BatchPolicy, count: number): void {
  for (const [n, item] of batch.buffer.splice(0, count).entries()) {
    const ordinal = batch.next + n
    turn.spawned.push({ task: childId(turn.state, step.id, batch, ordinal), step: step.id, ordinal, policy, item })
  }
}

/** Undoes the children from the last to the first, at most `concurrency` of them at a time. */
function undo(turn: Turn, step: Step, batch: Batch, policy: BatchPolicy): void {
  const { results, left } = turn.ended.get(step.id) ?? newEnded()
  const goes = turn.state.status === 'compensating'
  for (const [ordinal, result] of results) {
    if (!succeeded(result)) continue
    // The child sent this result before it received the request to undo.
    tell(turn, step, batch, ordinal, { type: 'compensate' })
    results.delete(ordinal)
  }
  const from = batch.undoFrom ?? 0
  let room = goes ? policy.concurrency - (batch.outstanding.size - results.size) : 0
  let started = 0
  for (; started < from && room > 0; started++) {
    const ordinal = from - 1 - started
    // No message is sent to such an id, so no reply would free the room that it takes.
    if (batch.foreign.has(ordinal)) continue
    tell(turn, step, batch, ordinal, { type: 'compensate' })
    room--
  }
  if (results.size + started > 0) {
    emit(turn, {
      type: 'batchAdvanced',
      id: step.id,
      ...(results.size > 0 && { ended: ranges(results) }),
      ...(started > 0 && { started }),
      ...(left > 0 && { left }),
    })
  }
  if (!goes || batch.undoFrom !== 0 || batch.outstanding.size > 0) return
  emit(turn, { type: 'undone', id: step.id, attempt: step.attempt, startedAt: null, endedAt: turn.at, node: null })
}

/** Ends a drained batch: completes its step, or returns the error with which it fails. Returns null without an event if more is to come. */
function finish(turn: Turn, step: Step, batch: Batch, policy: BatchPolicy): ErrorRecord | null {
  if (turn.state.closing || (!batch.stopping && (batch.next !== batch.total || batch.again.length > 0))) return null
  if (batch.error) return batch.error
  const missed = policy.quorum !== null && batch.success < policy.quorum
  if (!batch.stopping && (missed || batch.failed > borne(policy, batch.total))) return failure(step, batch)
  const { total, success, failed, cancelled } = countsOf(batch)
  emit(turn, {
    type: 'stepCompleted',
    id: step.id,
    output: { total: total ?? batch.next, success, failed, cancelled },
    attempt: step.attempt,
    startedAt: null,
    endedAt: turn.at,
    node: null,
  })
  return null
}

function decide(
  policy: BatchPolicy,
  total: number | null,
  success: number,
  failed: number,
): 'open' | 'enough' | 'failed' {
  if (policy.quorum !== null && success >= policy.quorum) return 'enough'
  if (!policy.failFast) return 'open'
  if (failed > borne(policy, total)) return 'failed'
  return policy.quorum !== null && total !== null && total - failed < policy.quorum ? 'failed' : 'open'
}

function failure(step: Step, batch: Batch): ErrorRecord {
  const { cause } = batch
  const { total, started, success, failed } = countsOf(batch)
  const message = `${failed} of ${total ?? started} children of ${step.name} failed`
  return {
    name: 'TriarchError',
    code: 'BATCH_FAILED',
    message: cause ? `${message}, the first with: ${cause.message}` : message,
    details: { success, failed },
    ...(cause && { cause }),
  }
}

function tell(turn: Turn, step: Step, batch: Batch, ordinal: number, message: Message): void {
  turn.posts.push({ task: childId(turn.state, step.id, batch, ordinal), message, control: true })
}

function policyOf(state: TaskState, id: number): BatchPolicy | null | undefined {
  return (state.steps.get(id) ?? state.compensable.get(id))?.policy.batch
}
