import type { RaisedAlert } from './alert.ts'
import { apply } from './apply.ts'
import type { BatchPolicy, EndedChildren, PageItem } from './batch/batch.ts'
import type { TaskEvent } from './event.ts'
import type { GateRequests } from './lock/lock.ts'
import { requestsOf } from './lock/request.ts'
import type { Message } from './message.ts'
import { remarkOf } from './remark.ts'
import type { Delivery, TaskState } from './state.ts'
import type { TaskStatus } from './status.ts'
import type { Step } from './step/step.ts'
import { Table } from './table.ts'

/** A move of the task in this turn. */
export interface Move {
  from: TaskStatus
  to: TaskStatus
  /** Events up to it: part of the ids of its hooks' tasks, so that each exists once. */
  ordinal: number
}

/**
 * One transition in the making: the events decided so far, and what is to leave the process once they are durable.
 * The kernel's functions take a turn and a message and only ever `emit`.
 */
export interface Turn {
  readonly state: TaskState
  /** The instant of this record: every event of it happened then. */
  readonly at: number
  /** Uniform in [0, 1): jitter. Drawn outside, recorded as the instants it led to. */
  readonly random: () => number
  readonly limits: KernelLimits
  readonly events: TaskEvent[]
  /** For the workflow's code, in order. */
  readonly deliveries: Delivery[]
  readonly posts: { task: string; message: Message; control: boolean }[]
  /** Children of batches that come to be with this transition. */
  readonly spawned: Spawn[]
  /** How children of batches ended, until it is recorded: all of a turn at once. */
  readonly ended: Table<number, EndedChildren>
  /** From state to state, where somebody wants to know. */
  readonly moves: Move[]
  /** Steps whose running attempt should be aborted. */
  readonly aborts: number[]
  /** Steps whose outstanding attempt no longer matters. */
  readonly forgotten: number[]
  readonly alerts: RaisedAlert[]
  readonly gates: GateRequests
  /** Messages that changed nothing: late, duplicate, of an old attempt, or for a task in another state. */
  stale: number
  /** The workflow's code must be started anew from the history. */
  reload: boolean
  /** It has as much as one transition may have: another turn follows. */
  full: boolean
  /** Of its events, how many were weighed, and their characters. */
  readonly load: { events: number; size: number }
}

/** A child of a batch: what it is made of. */
export interface Spawn {
  task: string
  step: number
  ordinal: number
  policy: BatchPolicy
  item: PageItem
}

export interface KernelLimits {
  /** Events a run may have before it is undone. */
  history: number
  /** Bytes of the events of a run, likewise; no bound when not given. */
  historyBytes?: number
  /** Steps, timers, waits and children outstanding at once. */
  fanOut: number
  /** Largest payload, in bytes of JSON. */
  payload: number
}

export function newTurn(state: TaskState, at: number, random: () => number, limits: KernelLimits): Turn {
  return {
    state,
    at,
    random,
    limits,
    events: [],
    deliveries: [],
    posts: [],
    spawned: [],
    moves: [],
    ended: new Table(),
    aborts: [],
    forgotten: [],
    alerts: [],
    gates: { locks: [], unlocks: [] },
    stale: 0,
    reload: false,
    full: false,
    load: { events: 0, size: 0 },
  }
}

export function emit(turn: Turn, given: TaskEvent): void {
  const { state } = turn
  const event = state.secrets === null ? given : state.secrets.recorded(given)
  const from = state.status
  turn.events.push(event)
  apply(state, event, turn.at, turn.deliveries)
  requestsOf(state, event, turn.gates)
  if (state.status !== from && state.hooks.length > 0)
    turn.moves.push({ from, to: state.status, ordinal: state.ordinal })
}

/** Counts a message that changed nothing. */
export function stale(turn: Turn): void {
  turn.stale++
}

/** What was asked for by a call and cannot be done (any more): the history says so. Between tasks it is merely counted. */
export function messageIgnored(turn: Turn, message: Message, reason: string): void {
  if (!('outside' in message)) return stale(turn)
  const { type } = message
  emit(turn, {
    type: 'messageIgnored',
    message: type,
    ...('name' in message && { name: message.name }),
    ...('step' in message && message.step !== undefined && { step: message.step }),
    reason,
    ...remarkOf(message),
  })
}

/** Attempts of this step are out, or may go out, and their replies are awaited. A batch is undone by its children. */
export function isOutstanding(step: Step): boolean {
  if (step.held !== null) return false
  return step.status === 'running' || (step.status === 'compensating' && step.policy.batch === null)
}
