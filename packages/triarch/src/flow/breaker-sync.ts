import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import { type BreakerState, hear, isClosed, newBreaker, type Report } from '../policy/breaker.ts'
import { rebased, reparted } from '../policy/shift.ts'
import { refsOf } from '../store/breaker.ts'
import { type StoredBreaker, storedBreaker } from '../store/circuit.ts'
import type { BreakerRow, StateStore } from '../store/port.ts'
import { breakerAlert } from './breaker-change.ts'
import type { BreakerGate } from './breaker-gate.ts'
import type { LocalBreaker } from './local-breaker.ts'

export interface BreakerSyncOptions {
  environment: Environment
  store: Pick<StateStore, 'breakers' | 'writeBreaker'>
  node: string
  guards: () => readonly BreakerGate[]
  /** Between two readings (ms). */
  every: number
  /** How long a node keeps its permits without a report (ms). */
  lease: () => number
  /** How many attempts of the agent could begin in this process now. */
  room: (agent: string) => number
  /** Called when attempts may begin that could not before. */
  wake: () => void
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/** The least distance of two readings, unless something is to be written (ms). */
const LEAST = 50
/** Breakers that are not in use are read so many times less often: still several times while a reading is valid. */
const QUIET = 5
/** The pause after a reading is three times what the reading took, up to this (ms), so that thousands of keys are not read without a pause. */
const REST = 4
const LONGEST_REST = 400
/** The wait before a failed round is tried again: at first, and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 2_000
/** Rows of one reading. */
const PAGE = 1_000
/** Lost races for one row before it is left to the next reading. */
const MOST_TRIES = 5
/** The breaker of a key that was not used for this long is deleted (ms). */
const KEPT = 24 * 60 * 60 * 1_000

/** Reads the circuit breakers of this node's agents and writes the outcomes that the node has seen. */
export class BreakerSync implements Service {
  readonly #options: BreakerSyncOptions
  #open = false
  #timer: Timer | null = null
  #round: Promise<void> | null = null
  /** A round is due at once. */
  #hurry = false
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  /** How long the last round took (ms). */
  #took = 0
  /** The wait after a failed round (ms). */
  #again: number | null = null
  /** Gates whose breaker has a row in the store. */
  readonly #known = new Set<BreakerGate>()
  /** The rule of each breaker as it is written in the store. */
  readonly #rules = new Map<BreakerGate, string>()

  constructor(options: BreakerSyncOptions) {
    this.#options = options
    for (const guard of options.guards()) {
      guard.hurry = () => this.tell()
      if (guard.breaker) this.#rules.set(guard, ruleOf(guard))
    }
  }

  /** Adds the gate of an agent that came later. */
  add(guard: BreakerGate): void {
    guard.hurry = () => this.tell()
    this.tell()
  }

  /** The gates with something to read or write. */
  get #gates(): BreakerGate[] {
    return this.#options.guards().filter((guard) => !guard.none || this.#rules.has(guard))
  }

  start(): void {
    this.#open = true
    this.#look()
  }

  /** Resolves when the first reading is over. */
  async known(): Promise<void> {
    await this.#round
  }

  /** Outcomes of running attempts are still written until it has drained. */
  stop(): void {
    // A node that starts no more attempts needs no permits: its hosts are closed.
  }

  async drain(): Promise<void> {
    this.#timer?.cancel()
    await this.#round
    this.#timer?.cancel()
    if (!this.#open) return
    this.#open = false
    await this.#all()
  }

  abandon(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  /** Asks for a round at once. */
  tell(): void {
    if (this.#hurry || !this.#open) return
    this.#hurry = true
    if (this.#round !== null) return
    this.#timer?.cancel()
    this.#options.environment.soon(() => this.#look())
  }

  #look(): void {
    if (!this.#open || this.#round !== null) return
    this.#hurry = false
    if (this.#gates.length === 0) return
    const { environment } = this.#options
    const began = environment.monotonic()
    this.#round = this.#all().finally(() => {
      this.#round = null
      this.#took = environment.monotonic() - began
      if (!this.#open) return
      if (this.#hurry && this.#again === null) return this.#look()
      this.#timer = environment.timer(this.#wait, () => this.#look())
    })
  }

  get #wait(): number {
    if (this.#again !== null) return this.#again
    const guards = this.#gates
    const every = this.#options.every * (guards.every(({ quiet }) => quiet) ? QUIET : 1)
    const first = guards.reduce((least, guard) => Math.min(least, guard.due), Number.POSITIVE_INFINITY)
    const due = Math.min(every, Math.max(LEAST, first))
    return Math.max(due, Math.min(LONGEST_REST, this.#took * REST))
  }

  async #all(): Promise<void> {
    let news = false
    let failed = false
    for (const guard of this.#gates) {
      try {
        news = (await this.#one(guard)) || news
      } catch (error) {
        failed = true
        if (this.#open) this.#options.failed(error)
      }
    }
    this.#again = failed ? this.#backoff.next() : null
    if (!failed) this.#backoff.reset()
    if (news && this.#open) this.#options.wake()
  }

  /** Returns whether attempts may begin that could not before. */
  async #one(guard: BreakerGate): Promise<boolean> {
    let news = await this.#read(guard)
    if (guard.breaker === null) {
      await this.#withdraw(guard)
      return news
    }
    if (!this.#known.has(guard)) await this.#register(guard)
    if (this.#rules.get(guard) !== ruleOf(guard)) await this.#proclaim(guard)
    for (const lane of [...guard.breakers.values()]) {
      if (!guard.keys.none && lane.name === guard.agent) continue
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const told = await this.#say(guard, lane)
        news = news || told === 'said'
        if (told !== 'outrun') break
        const [row] = await this.#options.store.breakers({ refs: [{ kind: 'breaker', name: lane.name }], count: 1 })
        if (row) this.#take(guard, row)
      }
    }
    return news
  }

  async #read(guard: BreakerGate): Promise<boolean> {
    const { store, environment } = this.#options
    const { agent } = guard
    const asked = environment.monotonic()
    const sure = guard.sure
    const found = new Set<string>()
    let news = false
    const first = guard.page
    for (let after = first; ; ) {
      const rows = await store.breakers({ agent, after, limit: PAGE, count: 1 })
      for (const row of rows) {
        news = this.#take(guard, row) || news
        found.add(row.name)
        if (row.name === agent && row.version > 0) this.#known.add(guard)
      }
      after = rows.at(-1)?.name ?? ''
      if (rows.length < PAGE) {
        guard.page = ''
        break
      }
      // Keyed breakers that only wait are read a page at a time.
      if (guard.breaker === null) {
        guard.page = after
        break
      }
    }
    return guard.read(found, asked) || news || !sure
  }

  /** A row that cannot be read counts as closed; the next write replaces it. */
  #take(guard: BreakerGate, { name, version, state, waiting }: BreakerRow): boolean {
    const stored = state === null ? null : storedBreaker(state)
    if (!stored) return guard.take(name, version, newBreaker(this.#options.environment.now()), waiting > 0)
    // The node that wrote it may have counted in buckets of another window.
    const window = guard.breaker ? reparted(stored.state.window, stored.rule, guard.breaker.rule) : stored.state.window
    return guard.take(name, version, { ...stored.state, window }, waiting > 0)
  }

  /** Writes the row of a breaker before it ever opens, so that lists have it and operators can open it. */
  async #register(guard: BreakerGate): Promise<void> {
    const lane = guard.breakerOf(guard.agent)
    const written = await this.#write(guard, lane, lane.state)
    if (written) {
      lane.version = 1
      this.#rules.set(guard, ruleOf(guard))
    }
    this.#known.add(guard)
  }

  /** Deletes the row of a breaker that a setting no longer has. The breakers of nodes whose code has another rule stay. */
  async #withdraw(guard: BreakerGate): Promise<void> {
    const rule = this.#rules.get(guard)
    if (rule === undefined) return
    const { store } = this.#options
    const names = [...guard.breakers.values()].flatMap(({ name, version }) => (version > 0 ? [name] : []))
    for (const { name, version, state } of names.length > 0
      ? await store.breakers({ refs: refsOf('breaker', names), count: 1 })
      : []) {
      const stored = state === null ? null : storedBreaker(state)
      if (stored && JSON.stringify(stored.rule) === rule)
        await store.writeBreaker({ kind: 'breaker', name, expected: version, state: null })
    }
    this.#known.delete(guard)
    this.#rules.delete(guard)
  }

  /** Writes a rule that a setting changed: once by each node that read it, and not by nodes whose code has other rules. */
  async #proclaim(guard: BreakerGate): Promise<void> {
    const rule = ruleOf(guard)
    for (const lane of guard.breakers.values()) {
      // A node that lost the race reads the rule from the winner's row, or writes it next time.
      if (lane.version > 0 && (await this.#write(guard, lane, lane.state))) lane.version++
    }
    this.#rules.set(guard, rule)
  }

  async #say(guard: BreakerGate, lane: LocalBreaker): Promise<'nothing' | 'said' | 'outrun'> {
    const { environment, node, lease, room, alert } = this.#options
    const now = environment.now()
    if (isForgotten(guard, lane, now)) {
      await this.#options.store.writeBreaker({ kind: 'breaker', name: lane.name, expected: lane.version, state: null })
      guard.breakers.delete(lane.name)
      return 'nothing'
    }
    if (guard.breaker === null) return 'nothing'
    const report = guard.report(lane, node, lease(), this.#open ? room(guard.agent) : 0)
    if (!report) return 'nothing'
    const before = lane.state
    const { rule } = guard.breaker
    const { state, passes } = hear(rebased(before, rule, now), rule, report, now, environment.random())
    if (JSON.stringify(state) === JSON.stringify(before)) return 'nothing'
    if (!(await this.#written(guard, lane, report, state))) return 'outrun'
    guard.wrote(lane, report, state, passes)
    // Several moves at once: its open time was over, and the outcomes opened it again.
    for (const move of state.moves.filter((it) => !before.moves.includes(it)))
      alert(breakerAlert(lane.name, move, state, node))
    return 'said'
  }

  async #written(guard: BreakerGate, lane: LocalBreaker, report: Report, state: BreakerState): Promise<boolean> {
    try {
      return await this.#write(guard, lane, state)
    } catch (error) {
      guard.lost(lane, report)
      throw error
    }
  }

  async #write(
    { breaker, agent, keys }: BreakerGate,
    { name, version }: LocalBreaker,
    state: BreakerState,
  ): Promise<boolean> {
    if (breaker === null) return false
    const keyed = !keys.none && name === agent
    const stored: StoredBreaker = { format: 1, state, rule: breaker.rule, ...(keyed && { keyed: true }) }
    return this.#options.store.writeBreaker({ kind: 'breaker', name, expected: version, state: JSON.stringify(stored) })
  }
}

function ruleOf({ breaker }: BreakerGate): string {
  return JSON.stringify(breaker?.rule)
}

function isForgotten(
  { agent }: BreakerGate,
  { name, version, state, waiting, seen }: LocalBreaker,
  now: number,
): boolean {
  const idle = isClosed(state) && !waiting && seen.length === 0
  return idle && name !== agent && version > 0 && now - state.since > KEPT && state.window.every(({ ill }) => ill === 0)
}
