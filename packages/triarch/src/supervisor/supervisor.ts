import type { Environment, Timer } from '../environment/environment.ts'
import type { StateStore, SweepReport } from '../store/port.ts'
import type { RetentionRule } from '../store/retention.ts'
import { fireSchedules } from './schedule.ts'
import { Silence } from './silence.ts'

export interface SupervisorOptions {
  environment: Environment
  store: StateStore
  node: string
  /** Length of the leadership lease (ms). */
  lease: number
  /** Distance between two sweeps (ms). */
  sweep: number
  /** How long stopped tasks are kept; none: for ever. */
  retention: readonly RetentionRule[]
  /** Told what a sweep found, when it found something. */
  swept: (report: SweepReport) => void
  /** Told that schedules were due: there are new tasks. */
  submitted: () => void
  failed: (error: unknown) => void
}

/** Rows one sweep looks at, so that no sweep holds the store for long. */
const SWEEP_LIMIT = 1_000

/** Supervisors that are ready to lead at once; others look seldom, so that a large fleet at rest is quiet. */
const DEPUTIES = 3

/** Tasks, and history records with them, that one pruning drops: bounds how long it holds the store. */
const PRUNE_LIMIT = 500
const PRUNE_RECORDS = 10_000
/** Distance between two prunings, unless one left something over (ms). */
const PRUNE_EVERY = 10_000

/**
 * Watches the store for what is late, dead or overdue and asks for its recovery; knows no business logic. One leader at
 * a time, by a lease whose fencing token is checked in the same transaction as each sweep.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  #timer: Timer | null = null
  #open = false
  #pruneAt = 0
  readonly #silence: Silence
  /** How far the store's clock leapt ahead, until a sweep has made up for it (ms). */
  #leap = 0
  /** Its place among the supervisors that live. */
  #rank = 0
  /** Until the next round, unless there is more to do at once (ms). */
  #wait: number
  #busy: Promise<void> = Promise.resolve()

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#wait = options.sweep
    this.#silence = new Silence({ lease: options.lease })
  }

  start(): void {
    this.#open = true
    this.#next(0)
  }

  async stop(): Promise<void> {
    this.#open = false
    this.#timer?.cancel()
    await this.#busy
  }

  #next(wait: number): void {
    if (!this.#open) return
    this.#timer = this.#options.environment.timer(wait, () => {
      this.#busy = this.#round().then((more) => this.#next(more ? 0 : this.#wait))
    })
  }

  async #round(): Promise<boolean> {
    const { environment, store, node, lease, swept, submitted, failed } = this.#options
    try {
      const token = await store.lead({ name: 'supervisor', node, ttl: lease })
      // While nobody can write nobody can beat: only time in which the store took a write counts.
      await this.#look()
      if (token === null) return this.#stand()
      this.#wait = this.#options.sweep
      const silent = this.#silence.dead
      const report = await store.sweep({ name: 'supervisor', token, limit: SWEEP_LIMIT, silent, shift: this.#leap })
      if (!report) return false
      this.#leap = 0
      const fired = await fireSchedules(store, environment, { name: 'supervisor', token })
      if (report.deadNodes.length + report.releasedTasks + report.expiredSteps + report.overdueTasks > 0) swept(report)
      if (fired.count > 0) submitted()
      return (await this.#prune(token)) || report.more || fired.more
    } catch (error) {
      failed(error)
      return false
    }
  }

  /** Also before it leads: who died together with the leader is known to be silent then. */
  async #look(): Promise<void> {
    const { environment, store } = this.#options
    const asked = environment.monotonic()
    const pulses = await store.pulses()
    this.#leap += this.#silence.look(pulses, asked, environment.monotonic(), 2 * this.#wait)
    this.#rank = pulses.nodes
      .filter(({ roles }) => roles.includes('supervisor'))
      .findIndex(({ id }) => id === this.#options.node)
  }

  /** Another leads. */
  #stand(): false {
    const { lease, sweep } = this.#options
    this.#leap = 0
    this.#wait = Math.max(sweep, this.#rank < DEPUTIES ? lease / 3 : 3 * lease)
    return false
  }

  /** Whether there is more to drop at once. */
  async #prune(token: number): Promise<boolean> {
    const { environment, store, retention } = this.#options
    if (retention.length === 0 || environment.monotonic() < this.#pruneAt) return false
    const bounds = { limit: PRUNE_LIMIT, records: PRUNE_RECORDS }
    const report = await store.prune({ name: 'supervisor', token, rules: retention, ...bounds })
    if (!report?.more) this.#pruneAt = environment.monotonic() + PRUNE_EVERY
    return report?.more ?? false
  }
}
