import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { Outcome } from '../kernel/message.ts'
import {
  type BreakerRule,
  type BreakerState,
  type Bucket,
  isIll,
  merged,
  type Seen,
  totalOf,
} from '../policy/breaker.ts'
import { reparted } from '../policy/shift.ts'
import type { StepRequest } from '../store/port.ts'

/** An attempt may start although the breaker is not closed: as one of this wave. */
export interface ProbePermit {
  readonly lane: string
  readonly wave: number
}

/** An attempt, as far as its breaker is concerned. */
export interface GuardedAttempt {
  readonly request: StepRequest
  /** It may start although the breaker of its service is not closed. */
  readonly pass?: ProbePermit
  /** That breaker, from its start on. */
  lane?: string
}

/** A queue from which may be taken now. */
export interface OpenQueue {
  readonly queue: string
  /** As of now: it falls with each pass that is used. */
  readonly most: number
  readonly urgent: boolean
  /** Of what it gives, another bound lets less begin: there may be more. */
  narrow?(): void
  /** Of these actions only; absent: of all. */
  readonly only?: (action: string) => boolean
}

/** One breaker as this node knows it. */
export interface LocalBreaker {
  readonly name: string
  version: number
  state: BreakerState
  /** Something waits in its queue, as far as is known. */
  waiting: boolean
  /** Seen here, and not told. */
  seen: Bucket[]
  /** What this node has of the present wave. */
  share: (Seen & { wave: number; holds: number }) | null
  /** Of what it holds, not yet used. */
  unused: number
  /** The queue was asked with all of those in mind. */
  offered: boolean
  /** It gave all that it was asked for, which was less than that: something else bounds the agent. */
  narrowed: boolean
  /** What was seen here opens it, though that is not written yet. */
  tripped: boolean
  /** Nothing was found for its passes: until then it asks for no more (by the monotonic clock). */
  patientUntil: number
}

/** One of which nothing was seen or heard. */
export function newLocalBreaker(name: string, state: BreakerState): LocalBreaker {
  const blank = { offered: false, narrowed: false, tripped: false, waiting: false }
  return { name, version: 0, state, seen: [], share: null, unused: 0, patientUntil: 0, ...blank }
}

/** How long a step is put off that can neither wait in the queue nor fail (ms). */
const PUT_OFF = { least: 1_000, most: 60_000 }

export function delayOf({ until }: BreakerState, now: number): number {
  const wait = until === null ? PUT_OFF.most : until - now
  return Math.min(PUT_OFF.most, Math.max(PUT_OFF.least, wait))
}

/** What becomes of a step that does not wait for it. */
export function refusalOf(name: string, { since, until }: BreakerState): Outcome {
  const when = until === null ? '' : `, next probe at ${new Date(until).toISOString()}`
  const message = `the circuit breaker of ${name} is open since ${new Date(since).toISOString()}${when}`
  return { kind: 'failed', error: toRecord(new TriarchError('CIRCUIT_OPEN', message)), retryable: false }
}

/** It needs no more passes: it has some, or found nothing for those that it had (`now` by the monotonic clock). */
export function wantsNoPermit({ patientUntil, unused }: LocalBreaker, now: number): boolean {
  return now < patientUntil || unused > 0
}

/** From now on it is counted in parts of another window. */
export function changeWindow(lane: LocalBreaker, from: BreakerRule, to: BreakerRule): void {
  lane.seen = [...reparted(lane.seen, from, to)]
  lane.state = { ...lane.state, window: reparted(lane.state.window, from, to) }
}

/** By all that was told, and what was seen here besides. */
export function looksUnhealthy({ state, seen }: LocalBreaker, rule: BreakerRule, now: number): boolean {
  const total = totalOf({ ...state, window: merged(state.window, seen) }, rule, now)
  return total.answers >= rule.minimum && isIll(total, rule)
}

/** What came while others were told. */
export function withoutReported(seen: readonly Bucket[], told: readonly Bucket[]): Bucket[] {
  const rest = merged(
    seen,
    told.map(({ part, answers, ill, slow }) => ({ part, answers: -answers, ill: -ill, slow: -slow })),
  )
  return rest.filter(({ answers }) => answers > 0)
}

/** Its queue, as far as its passes go. */
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
