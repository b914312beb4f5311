import type { BreakerState, Bucket, Seen } from '../policy/breaker.ts'
import type { StepRequest } from '../store/port.ts'

/** An attempt may start although the breaker is not closed: as one of this wave. */
export interface Pass {
  readonly lane: string
  readonly wave: number
}

/** An attempt, as far as its breaker is concerned. */
export interface GuardedAttempt {
  readonly request: StepRequest
  /** It may start although the breaker of its service is not closed. */
  readonly pass?: Pass
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
export interface Lane {
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

/** Its queue, as far as its passes go. */
export function offeredOf(lane: Lane): OpenQueue {
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
