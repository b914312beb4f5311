import { childLockHeld, quoted } from '../child/refusal.ts'
import type { ErrorRecord } from '../json.ts'
import type { Message } from '../message.ts'
import { remarkOf } from '../remark.ts'
import { isWaiting } from '../summary.ts'
import { emit, messageIgnored, stale, type Turn } from '../turn.ts'
import { awaited, failedPredecessor, keysOf, missingLocks } from './gate.ts'

type GateMessage = Extract<Message, { type: 'lock' | 'antecedent' | 'thaw' }>

/** Handles a message from the store about locks and predecessors. A message that the task does not wait for changes nothing. */
export function gateOpened(turn: Turn, message: GateMessage): void {
  const { state } = turn
  switch (message.type) {
    case 'lock':
      return lockAnswered(turn, message)
    case 'antecedent':
      if (state.predecessors.get(message.task)?.result !== null || state.status === 'stopped') return stale(turn)
      return emit(turn, { type: 'predecessorStopped', task: message.task, result: message.result })
    case 'thaw': {
      if (!state.frozen || !isWaiting(state)) return messageIgnored(turn, message, 'the task is not frozen')
      const { startAt } = message
      return emit(turn, { type: 'thawed', ...(startAt !== undefined && { startAt }), ...remarkOf(message) })
    }
  }
}

function lockAnswered(turn: Turn, message: Extract<Message, { type: 'lock' }>): void {
  const { state } = turn
  const { step: id, outcome, by = [], parent, fence } = message
  const lock = state.locks.get(id)
  // The decision for which the lock was requested was made void by a rewind, so the lock is released to the next in its queue.
  if (!lock && outcome === 'granted') turn.gates.unlocks.push(id)
  if (!lock || (lock.standing !== 'asked' && lock.standing !== 'reclaimed')) return stale(turn)
  if (outcome === 'granted') return emit(turn, { type: 'lockGranted', id, ...(fence !== undefined && { fence }) })
  const error = refusal(lock.name, outcome, by, parent)
  const again = lock.standing === 'reclaimed'
  emit(turn, { type: 'lockRefused', id, error })
  if (again) turn.alerts.push({ ...alertOf(turn), message: error.message })
  else if (id > 0 && state.plan) emit(turn, { type: 'threw', error, rescue: 'compensate' })
  else if (id <= 0) emit(turn, { type: 'stopped', result: 'error', error })
}

/** Pauses a task that has not got back the locks it held when it stopped, and resumes it once it holds them all. */
export function reclaim(turn: Turn): void {
  const { state } = turn
  const waits = state.pause?.reason === 'lock'
  if ((state.locks.size === 0 && !waits) || state.status === 'stopped' || isWaiting(state)) return
  if (missingLocks(state).length > 0) {
    if (state.status !== 'paused') emit(turn, { type: 'paused', reason: 'lock' })
  } else if (waits) {
    if (state.pause?.broken) turn.reload = true
    emit(turn, { type: 'resumed' })
  }
}

/** Whether a task whose start time has come may begin. Requests the locks of its submission, or stops the task if a predecessor failed. */
export function pass(turn: Turn): boolean {
  const { state } = turn
  if (state.frozen) return false
  const error = failedPredecessor(state)
  if (error) {
    emit(turn, { type: 'stopped', result: 'error', error })
    return false
  }
  if (awaited(state).length > 0) return false
  const keys = keysOf(state)
  if (keys.some(({ standing }) => standing === 'new' || standing === 'lost')) emit(turn, { type: 'locksRequested' })
  return keys.every(({ standing }) => standing === 'held')
}

/** Ends waits for locks that have timed out. */
export function expireLocks(turn: Turn): void {
  const { state, at } = turn
  for (const [id, { name, until, standing }] of [...state.locks]) {
    if (until === null || until > at || standing !== 'asked') continue
    const message = `lock "${name}" could not be had in time`
    emit(turn, {
      type: 'lockRefused',
      id,
      error: { name: 'TriarchError', code: 'LOCK_TIMEOUT', message, details: { lock: name } },
    })
  }
}

function refusal(lock: string, outcome: 'held' | 'deadlock', by: string[], parent: string | undefined): ErrorRecord {
  if (outcome === 'held') return childLockHeld(lock, by)
  const whose = by.map(quoted).join(', ')
  const details = { lock, by, ...(parent !== undefined && { parent }) }
  const message =
    parent === undefined
      ? `to wait for lock "${lock}" would be to wait for itself, through task ${whose}`
      : `to wait for lock "${lock}", which task ${whose} has or is to have first, would be to wait for task ${quoted(parent)}, which waits for the end of this one`
  return { name: 'TriarchError', code: 'LOCK_DEADLOCK', message, details }
}

function alertOf({ state }: Turn): { task: string; workflow: string; cause: string } {
  return { task: state.id, workflow: state.workflow, cause: 'lock' }
}
