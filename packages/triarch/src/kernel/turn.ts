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

/** A change of the task's status in this turn. */
export interface Move {
  from: TaskStatus
  to: TaskStatus
  /** Count of the events up to the move. The ids of the hooks' tasks contain it, so that each of these tasks is created once. */
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
  /** Outcomes for the workflow's code, in order. */
  readonly deliveries: Delivery[]
  readonly posts: { task: string; message: Message; control: boolean }[]
  /** Children of batches that are created with this transition. */
  readonly spawned: Spawn[]
  /** Ends of batch children received in this turn, by step; the events that record them are emitted once per turn. */
  readonly ended: Table<number, EndedChildren>
  /** Status changes of this turn; only collected if the task has hooks. */
  readonly moves: Move[]
  /** Steps whose running attempt should be aborted. */
  readonly aborts: number[]
  /** Steps whose outstanding attempt no longer matters. */
  readonly forgotten: number[]
  readonly alerts: RaisedAlert[]
  readonly gates: GateRequests
  /** Messages that changed nothing: late, duplicate, of an old attempt, or for a task in another state. */
  stale: number
  /** The workflow's code must be restarted from the history. */
  reload: boolean
  /** The transition has reached its largest size; what is left to decide comes in another turn. */
  full: boolean
  /** How many of the turn's events were measured, and the characters they amount to. */
  readonly load: { events: number; size: number }
}

/** The data from which a child of a batch is created. */
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

/** Records that a request from outside the engine cannot be carried out (any more). Messages between tasks are only counted. */
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

/** Whether attempts of this step run, or may start, and their replies are awaited. A batch is undone by its children, not by an attempt. */
export function isOutstanding(step: Step): boolean {
  if (step.held !== null) return false
  return step.status === 'running' || (step.status === 'compensating' && step.policy.batch === null)
}
