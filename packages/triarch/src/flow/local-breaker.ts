import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { Outcome } from '../kernel/message.ts'
import {
  type AnswerCounts,
  type BreakerRule,
  type BreakerState,
  type Bucket,
  isIll,
  mergedWindow,
  totalOf,
} from '../policy/breaker.ts'
import { reparted } from '../policy/shift.ts'
import type { StepRequest } from '../store/port.ts'

/** Lets one attempt start although its breaker is not closed, as one of a wave of probes. */
export interface ProbePermit {
  readonly breaker: string
  readonly wave: number
}

/** What a breaker needs to know of an attempt. */
export interface GuardedAttempt {
  readonly request: StepRequest
  /** Lets it start although the breaker of its service is not closed. */
  readonly pass?: ProbePermit
  /** The name of that breaker, from the start of the attempt on. */
  breakerName?: string
}

/** A queue that requests may be taken from now. */
export interface OpenQueue {
  readonly queue: string
  /** Requests that may be taken; falls with each permit that is used. */
  readonly most: number
  readonly urgent: boolean
  /** Called when another limit let fewer attempts begin than the queue gave: it may hold more. */
  narrow?(): void
  /** Whether requests of the action may be taken; absent: of all actions. */
  readonly only?: (action: string) => boolean
}

/** The state of one breaker as this node has read it, and what the node has seen since. */
export interface LocalBreaker {
  readonly name: string
  version: number
  state: BreakerState
  /** Requests wait in its queue, as far as this node knows. */
  waiting: boolean
  /** Outcomes seen here and not yet written to the store. */
  seen: Bucket[]
  /** This node's part of the present wave of probes. */
  share: (AnswerCounts & { wave: number; holds: number }) | null
  /** Permits of that part that are not used yet. */
  unused: number
  /** The queue was asked for as many requests as there are unused permits. */
  offered: boolean
  /** The queue gave all it was asked for, which was fewer than the permits: another limit bounds the agent. */
  narrowed: boolean
  /** The outcomes seen here open the breaker; that is not written yet. */
  tripped: boolean
  /** No request was found for its permits: no more are asked for until then (monotonic clock, ms). */
  patientUntil: number
}

/** A breaker of which nothing was read or seen yet. */
export function newLocalBreaker(name: string, state: BreakerState): LocalBreaker {
  const blank = { offered: false, narrowed: false, tripped: false, waiting: false }
  return { name, version: 0, state, seen: [], share: null, unused: 0, patientUntil: 0, ...blank }
}

/** The delay of a step that can neither wait in the queue nor fail. */
const DELAY_MS = { least: 1_000, most: 60_000 }

export function delayOf({ until }: BreakerState, now: number): number {
  const wait = until === null ? DELAY_MS.most : until - now
  return Math.min(DELAY_MS.most, Math.max(DELAY_MS.least, wait))
}

/** The outcome of a step that does not wait for an open breaker. */
export function refusalOf(name: string, { since, until }: BreakerState): Outcome {
  const when = until === null ? '' : `, next probe at ${new Date(until).toISOString()}`
  const message = `the circuit breaker of ${name} is open since ${new Date(since).toISOString()}${when}`
  return { kind: 'failed', error: toRecord(new TriarchError('CIRCUIT_OPEN', message)), retryable: false }
}

/** Whether it needs no more permits: some are unused, or no request was found for them (`now`: monotonic clock, ms). */
export function wantsNoPermit({ patientUntil, unused }: LocalBreaker, now: number): boolean {
  return now < patientUntil || unused > 0
}

/** Counts from now on in buckets of another window. */
export function changeWindow(lane: LocalBreaker, from: BreakerRule, to: BreakerRule): void {
  lane.seen = [...reparted(lane.seen, from, to)]
  lane.state = { ...lane.state, window: reparted(lane.state.window, from, to) }
}

/** Whether the written state and the outcomes seen here open the breaker. */
export function looksUnhealthy({ state, seen }: LocalBreaker, rule: BreakerRule, now: number): boolean {
  const total = totalOf({ ...state, window: mergedWindow(state.window, seen) }, rule, now)
  return total.answers >= rule.minimum && isIll(total, rule)
}

/** The outcomes that came while others were written. */
export function withoutReported(seen: readonly Bucket[], told: readonly Bucket[]): Bucket[] {
  const rest = mergedWindow(
    seen,
    told.map(({ part, answers, ill, slow }) => ({ part, answers: -answers, ill: -ill, slow: -slow })),
  )
  return rest.filter(({ answers }) => answers > 0)
}

/** The queue of the breaker, for as many requests as it has permits. */
export function openQueueOf(lane: LocalBreaker): OpenQueue {
  lane.offered = true
  lane.narrowed = false
  return {
    queue: lane.name,
    get most() {
      return lane.unused
    },
    urgent: lane.state.phase === 'half-open',
    narrow: () => {
      lane.narrowed = true
    },
  }
}
