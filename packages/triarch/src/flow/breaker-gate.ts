import type { AgentBreaker } from '../definition/breaker.ts'
import { toFallback } from '../definition/fallback.ts'
import type { Environment } from '../environment/environment.ts'
import { toRecord } from '../error/record.ts'
import type { Outcome } from '../kernel/message.ts'
import {
  type AnswerCounts,
  type BreakerState,
  fresh,
  isClosed,
  isShut,
  NO_ANSWERS,
  newBreaker,
  noted,
  partOf,
  type Report,
  seenOf,
  sum,
} from '../policy/breaker.ts'
import type { StepRequest } from '../store/port.ts'
import type { FallbackChoice } from './fallback-choice.ts'
import {
  changeWindow,
  delayOf,
  type GuardedAttempt,
  type LocalBreaker,
  looksUnhealthy,
  newLocalBreaker,
  type OpenQueue,
  openQueueOf,
  type ProbePermit,
  refusalOf,
  wantsNoPermit,
  withoutReported,
} from './local-breaker.ts'
import type { QueueKeys } from './queue-key.ts'
import { verdict } from './verdict.ts'

/** A process across the wire is not told which breaker refused: it asks again after this (ms). */
const ASK_AGAIN = 1_000
/** How long after a permit for which no request was found the next one is asked for (ms). */
const PATIENCE = 1_000

/** The circuit breakers of one agent in this node, as they were when they were read last. An attempt passes the gate before it begins. */
export class BreakerGate {
  readonly agent: string
  #breaker: AgentBreaker | null
  readonly keys: QueueKeys
  readonly breakers: Map<string, LocalBreaker> = new Map()
  /** The queue after which the next page of keyed breakers is read. */
  page = ''
  /** Called when the store should be written soon. */
  hurry: () => void = () => undefined
  readonly #instead: FallbackChoice
  readonly #environment: Pick<Environment, 'now' | 'monotonic'>
  /** How long a reading is valid (ms). */
  readonly #lasting: number
  #readAt = Number.NEGATIVE_INFINITY
  /** Whether attempts came since the last reading, and between the two before. */
  #used = false
  #wasUsed = true

  constructor(
    { agent, keys, instead }: { agent: string; keys: QueueKeys; instead: FallbackChoice },
    breaker: AgentBreaker | null,
    environment: Pick<Environment, 'now' | 'monotonic'>,
    lasting: number,
  ) {
    this.agent = agent
    this.#breaker = breaker
    this.keys = keys
    this.#instead = instead
    this.#environment = environment
    this.#lasting = lasting
  }

  /** Null: the agent has no breaker, only queues by key. */
  get breaker(): AgentBreaker | null {
    return this.#breaker
  }

  /** Whether it lets every attempt begin. */
  get none(): boolean {
    return this.#breaker === null && this.keys.none
  }

  /** Changes the breaker. Null removes it, and what waits for it may begin. */
  become(breaker: AgentBreaker | null): void {
    const before = this.#breaker
    this.#breaker = breaker
    for (const lane of this.breakers.values()) {
      if (before && breaker) changeWindow(lane, before.rule, breaker.rule)
      else {
        lane.seen = []
        this.#enter(lane, lane.state)
      }
    }
    if ((before === null) !== (breaker === null)) this.hurry()
  }

  /** Whether its last reading is valid. Without a valid reading no attempt begins. */
  get sure(): boolean {
    return this.breaker === null || this.#environment.monotonic() - this.#readAt <= this.#lasting
  }

  /** Whether it is not in use and nothing waits for it, so that reading it is not urgent. Requests that wait by keys are found by reading alone. */
  get quiet(): boolean {
    if (!this.keys.none || this.#used || this.#wasUsed) return false
    return [...this.breakers.values()].every(
      ({ state, seen, waiting }) => isClosed(state) && seen.length === 0 && !waiting,
    )
  }

  /** Whether attempts of the action must go through the queue, whatever their input. */
  isShut(action: string): boolean {
    if (!this.keys.none) return false
    const shut = !this.#admits(this.agent) && !this.#rejects(this.agent, action)
    if (shut) this.#expect(this.agent)
    return shut
  }

  /** A request is about to wait in the queue of a key. */
  expect(name: string): void {
    if (name !== this.agent) this.breakerOf(name).waiting = true
  }

  /** A request is about to wait in the queue of this breaker. */
  #expect(name: string): void {
    const lane = this.breakers.get(name)
    if (!lane || lane.waiting) return
    lane.waiting = true
    if (!isClosed(lane.state) && !isShut(lane.state, this.#environment.now())) this.hurry()
  }

  /** When there may be something to do besides reading (ms from now); infinite: not known. */
  get due(): number {
    const now = this.#environment.now()
    const waits = [...this.breakers.values()]
      .filter(({ state }) => !isClosed(state))
      .map(({ state }) => (isShut(state, now) ? (state.until ?? Number.POSITIVE_INFINITY) - now : PATIENCE))
    return Math.min(Number.POSITIVE_INFINITY, ...waits)
  }

  /** Finds the breaker of the attempt. Returns the outcome of an attempt that may not begin, or null. */
  meet(attempt: GuardedAttempt): Outcome | null {
    const { request, pass } = attempt
    const { quiet } = this
    this.#used = true
    if (quiet) this.hurry()
    try {
      attempt.breakerName = pass?.breaker ?? this.keys.queueOf(request)
      return pass ? null : this.#refusal(attempt.breakerName, request)
    } catch (error) {
      // The attempt's own failure, as if its code had thrown.
      return { kind: 'failed', error: toRecord(error), retryable: true }
    }
  }

  #refusal(lane: string, { operation, action }: StepRequest): Outcome | null {
    if (this.#admits(lane)) return null
    const instead = this.#instead.of(action, this.breaker)
    if (instead === 'park' || !this.#rejects(lane, action)) {
      this.#expect(lane)
      return { kind: 'withdrawn', after: ASK_AGAIN, lane }
    }
    const { state } = this.breakerOf(lane)
    if (operation === 'run' && instead === 'fail') return refusalOf(lane, state)
    const after = delayOf(state, this.#environment.now())
    if (operation !== 'run' || typeof instead === 'string') return { kind: 'withdrawn', after }
    // The owner knows whether part of it may be done already: then it is delayed.
    return { kind: 'withdrawn', after, fallback: toFallback(instead.fallback) }
  }

  #admits(name: string): boolean {
    if (!this.sure) return false
    const lane = this.breakers.get(name)
    return !lane || (isClosed(lane.state) && !lane.tripped)
  }

  /** Whether steps of the action do not wait while it is open. Once its open time is over they wait in the queue, because some of them are its probes. */
  #rejects(name: string, action: string): boolean {
    if (this.#instead.of(action, this.breaker) === 'park' || !this.sure) return false
    const lane = this.breakers.get(name)
    return lane !== undefined && isShut(lane.state, this.#environment.now())
  }

  /** The queues that requests may be taken from now, the agent's own first. */
  queues(): OpenQueue[] {
    if (!this.sure) return []
    const own = !this.keys.none
      ? [{ queue: this.agent, most: Number.POSITIVE_INFINITY, urgent: false }]
      : this.#queue(this.agent)
    const lanes = [...this.breakers.values()].filter(({ name, waiting }) => waiting && name !== this.agent)
    return [...own, ...lanes.flatMap(({ name }) => this.#queue(name))]
  }

  #queue(name: string): OpenQueue[] {
    if (this.#admits(name)) return [{ queue: name, most: Number.POSITIVE_INFINITY, urgent: false }]
    const lane = this.breakers.get(name)
    if (lane && this.#instead.isHasty(this.breaker) && isShut(lane.state, this.#environment.now())) {
      const only = (action: string) => this.#rejects(name, action)
      return [{ queue: name, most: Number.POSITIVE_INFINITY, urgent: false, only }]
    }
    if (!lane || lane.unused === 0) return []
    return [openQueueOf(lane)]
  }

  /** Uses a permit for a request that was taken from the queue. Null: it needs none, or there is none. */
  pass(queue: string): ProbePermit | null {
    const lane = this.breakers.get(queue)
    if (!lane?.share || lane.unused <= 0 || isClosed(lane.state)) return null
    lane.unused--
    return { breaker: queue, wave: lane.share.wave }
  }

  /**
   * The queues were asked for as much as there is room for: passes that are left are for others. `room`: there was some left; `short`: in this
   * queue something may wait for all that. `busy`: it may wait for what runs here, or is not told yet, whose end has the queue asked again.
   */
  asked(room: boolean, short: (queue: string) => boolean, busy: boolean): void {
    for (const lane of this.breakers.values()) {
      if (isClosed(lane.state)) lane.waiting &&= !room || short(lane.name)
      const waits = !room || lane.narrowed || (busy && short(lane.name))
      if (waits || lane.unused === 0 || !lane.offered || !lane.share) continue
      lane.share.holds -= lane.unused
      lane.unused = 0
      lane.patientUntil = this.#environment.monotonic() + PATIENCE
      this.hurry()
    }
  }

  /** Counts the outcome of an attempt. `ms`: how long it ran; null: it did not begin. */
  ended(name: string, pass: ProbePermit | undefined, outcome: Outcome, ms: number | null): void {
    const ill = ms === null ? null : verdict(outcome)
    if (this.breaker === null) return
    const { rule } = this.breaker
    const seen = ill === null || ms === null ? null : seenOf(rule, ill, ms)
    if (pass) return this.#passed(pass, seen)
    if (!seen) return
    const lane = this.breakerOf(name)
    if (!isClosed(lane.state)) return
    const now = this.#environment.now()
    lane.seen = noted(lane.seen, partOf(rule, now), seen)
    if (lane.tripped || seen.ill + seen.slow === 0 || !this.wouldOpen(lane)) return
    lane.tripped = true
    this.hurry()
  }

  #passed({ breaker: name, wave }: ProbePermit, seen: AnswerCounts | null): void {
    const share = this.breakers.get(name)?.share
    if (share?.wave !== wave) return
    share.holds--
    Object.assign(share, sum(share, seen ?? NO_ANSWERS))
    this.hurry()
  }

  /** The outcomes seen here open the breaker. */
  wouldOpen(lane: LocalBreaker): boolean {
    return this.breaker !== null && looksUnhealthy(lane, this.breaker.rule, this.#environment.now())
  }

  breakerOf(name: string): LocalBreaker {
    const known = this.breakers.get(name)
    if (known) return known
    const lane = newLocalBreaker(name, newBreaker(this.#environment.now()))
    this.breakers.set(name, lane)
    return lane
  }

  /** Takes in the row of the store. Returns whether the state changed. */
  take(name: string, version: number, state: BreakerState, waiting: boolean): boolean {
    const lane = this.breakerOf(name)
    // Requests that waited for slots or limits may begin by now, and the queues of keys are asked by nobody else.
    const news = lane.version !== version || (waiting && (!lane.waiting || isClosed(lane.state)))
    lane.waiting = waiting
    if (lane.version === version) return news
    lane.version = version
    this.#enter(lane, state)
    return news
  }

  /** Permits of another wave are void, and outcomes count for a closed breaker only. A node without a rule does not heed an open breaker. */
  #enter(lane: LocalBreaker, heard: BreakerState): void {
    const state = this.#breaker || isClosed(heard) ? heard : newBreaker(this.#environment.now())
    lane.state = state
    if (lane.share && lane.share.wave !== state.wave?.number) {
      lane.share = null
      lane.unused = 0
    }
    if (!isClosed(state)) lane.seen = []
    lane.tripped = isClosed(state) && lane.tripped && this.wouldOpen(lane)
  }

  /**
   * All was read, as of this instant of the monotonic clock. What was not found is closed, and nothing waits for it. True: attempts may start
   * that could not before.
   */
  read(found: ReadonlySet<string>, at: number): boolean {
    let news = false
    this.#readAt = at
    this.#wasUsed = this.#used
    this.#used = false
    const now = this.#environment.now()
    for (const lane of [...this.breakers.values()]) {
      if (this.breaker) lane.seen = fresh(lane.seen, this.breaker.rule, now)
      // The outcomes are too old by now and were never written: no change is to be waited for.
      if (lane.tripped && !this.wouldOpen(lane)) {
        lane.tripped = false
        news = true
      }
      if (found.has(lane.name)) continue
      if (lane.seen.length === 0) this.breakers.delete(lane.name)
      else this.take(lane.name, 0, newBreaker(now), false)
    }
    return news
  }

  /** What this node has to write; null: nothing worth a write. `room`: attempts that it could start. */
  report(lane: LocalBreaker, node: string, lease: number, room: number): Report | null {
    const { state, seen, share, waiting } = lane
    if (isClosed(state)) {
      const now = this.#environment.now()
      const said = [...seen, ...(this.breaker ? fresh(state.window, this.breaker.rule, now) : [])]
      if (seen.length === 0 || said.every(({ ill, slow }) => ill + slow === 0)) return null
      return { node, seen, share: null, wants: 0, lease, waiting }
    }
    const wants = wantsNoPermit(lane, this.#environment.monotonic()) ? 0 : room
    return { node, seen: [], share: share && { ...share }, wants, lease, waiting }
  }

  /** The store took the report and granted so many permits. */
  wrote(lane: LocalBreaker, { seen }: Report, state: BreakerState, passes: number): void {
    lane.version++
    lane.seen = withoutReported(lane.seen, seen)
    this.#enter(lane, state)
    if (passes === 0 || !state.wave) return
    lane.share ??= { ...NO_ANSWERS, wave: state.wave.number, holds: 0 }
    lane.share.holds += passes
    lane.unused += passes
    lane.offered = false
  }

  /** It is not known whether the store took the report: outcomes are reported at most once. */
  lost(lane: LocalBreaker, { seen }: Report): void {
    lane.seen = withoutReported(lane.seen, seen)
    lane.version = -1
  }
}
