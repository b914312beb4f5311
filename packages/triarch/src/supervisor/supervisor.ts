import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { CacheBounds, StateStore, SweepReport } from '../store/port.ts'
import type { RetentionRule } from '../store/retention.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { Counting, type CountingOptions } from './counting.ts'
import { FailureDetector } from './failure-detector.ts'
import { RetentionJob } from './retention.ts'
import { fireSchedules } from './schedule.ts'

export interface SupervisorOptions {
  environment: Environment
  store: StateStore
  node: string
  /** Length of the leadership lease (ms); may change. */
  lease: number
  /** Interval between two sweeps (ms); may change. */
  sweep: number
  /** How long stopped tasks are kept; no rules: for ever. May change. */
  retention: readonly RetentionRule[]
  /** How histories are counted; null or absent: not at all. */
  statistics?: CountingOptions | null
  /** Why a schedule is paused; undefined: it is not. */
  paused?: (schedule: string) => string | undefined
  /** Called in each round with the current leadership; null: another node leads. */
  led?: (leadership: LeaderFence | null) => void
  /** Called with the report of a sweep that found something. */
  swept: (report: SweepReport) => void
  /** Called when schedules were due and may have created tasks. */
  submitted: () => void
  /** How much of the audit is kept: `keep` ms (null: regardless of age), this many entries, and all entries younger than `atLeast` ms. */
  audit: { keep: number | null; entries: number; atLeast: number }
  alert: (alert: RaisedAlert) => void
  telemetry: Telemetry
  failed: (error: unknown) => void
}

/** The name of the lease by which one supervisor leads. */
export const LEASE = 'supervisor'

/** The leadership as the store checks it: the name of the lease and the fencing token. */
export interface LeaderFence {
  name: string
  token: number
}

/** Most rows in one sweep, so that no sweep occupies the store for long. */
const SWEEP_LIMIT = 1_000

/**
 * Interval between the looks of supervisors that do not lead, in leases: OFTEN for the deputy, doubled for each rank after it, up to
 * SELDOM.
 */
const OFTEN = 1 / 2
const SELDOM = 20
/** The least wait before a look at a term that is about to end (ms). */
const SHORTLY = 10

/** Interval between two deletions of expired answers, after one that found some and after one that found none (ms). */
const FORGETS = { some: 30_000, none: 300_000 }
/** Interval between two trims of the audit, unless one left something over (ms). */
const TRIMS = 600_000
const CACHE: CacheBounds = { limit: 1_000, marks: 10_000, answers: 100_000 }

/** A write that waits longer than this share of the lease was blocked; other nodes may have been kept from sending heartbeats as long. */
const KEPT_OUT = 1 / 10

/** The longest wait after failed rounds (ms), and at most half a lease: nothing else recovers what failed together with the store. */
const LONGEST_WAIT = 30_000

/**
 * Watches the store for what is late, dead or overdue and asks for its recovery; it knows no business logic. One supervisor leads at a
 * time, by a lease whose fencing token is checked in the same transaction as each sweep. Its jobs are independent: one that fails does
 * not keep the others from running, and a failed round is followed by another.
 */
export class Supervisor implements Service {
  readonly #options: SupervisorOptions
  readonly #retention: RetentionJob
  readonly #counting: Counting
  readonly #backoff: Backoff
  #timer: Timer | null = null
  #open = false
  readonly #failureDetector: FailureDetector
  /** The store's clock in this round's look; null: the look failed. */
  #looked: number | null = null
  /** How far the store's clock has leapt ahead plus how long it accepted no writes, until a sweep has compensated for it (ms). */
  #leap = 0
  /** Since when a write of this process has been waiting for the store. */
  #unwritten: number | null = null
  /** This supervisor's rank among those that are alive and do not lead. */
  #rank = 0
  /** Remaining time of the leader's term if it is not renewed (ms). */
  #left = 0
  /** Time until the next round, unless there is more to do at once (ms). */
  #wait: number
  #busy: Promise<void> = Promise.resolve()
  /** Whether schedules may be due; true unless this round's sweep has found that none is. */
  #schedulesDue = true
  /** The token of its last term. */
  #token: number | null = null
  #term: { token: number; renewAt: number } | null = null
  /** Another node leads. Then the next round may be brought forward (`vacant`). */
  #follows = false
  #standing = false
  /** When expired answers are next deleted (monotonic clock). */
  #forgetAt = 0
  #trimAt = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#wait = options.sweep
    this.#failureDetector = new FailureDetector()
    this.#retention = new RetentionJob(options)
    this.#counting = new Counting(options)
    this.#backoff = new Backoff(options.sweep, Math.max(options.sweep, Math.min(LONGEST_WAIT, options.lease * OFTEN)))
  }

  start(): void {
    this.#open = true
    this.#next(0)
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  drain(): Promise<void> {
    return this.#busy
  }

  abandon(): void {
    this.stop()
  }

  /** Changes the options from the next round on. */
  change(policy: Pick<SupervisorOptions, 'lease' | 'sweep' | 'retention'>): void {
    Object.assign(this.#options, policy)
  }

  /** A poll has found that no supervisor leads. */
  vacant(): void {
    if (!this.#standing) return
    this.#timer?.cancel()
    this.#next(0)
  }

  #next(wait: number): void {
    if (!this.#open) return
    this.#standing = this.#follows
    this.#follows = false
    this.#timer = this.#options.environment.timer(wait, () => {
      this.#standing = false
      this.#busy = this.#round().then((wait) => this.#next(wait))
    })
  }

  /** Runs one round; resolves to the time until the next (ms). */
  async #round(): Promise<number> {
    const { failed, led } = this.#options
    let failures = 0
    const part = async (work: () => Promise<boolean>): Promise<boolean> => {
      try {
        return this.#open && (await work())
      } catch (error) {
        failures++
        this.#term = null
        if (this.#open) failed(error)
        return false
      }
    }
    let more = false
    await part(async () => {
      const token = await this.#lead()
      led?.(token === null ? null : { name: LEASE, token })
      // A look counts only after a write: while the store accepts no writes, no node can send heartbeats.
      await part(() => this.#look())
      if (token === null) return this.#stand()
      this.#wait = this.#options.sweep
      const leadership = { name: LEASE, token }
      this.#schedulesDue = true
      for (const work of [this.#sweep, this.#fire, this.#count, this.#prune, this.#forget])
        more = (await part(() => work.call(this, leadership))) || more
      return true
    })
    if (failures === 0) this.#backoff.reset()
    if (more) return 0
    return failures > 0 ? this.#backoff.next() : this.#wait
  }

  /**
   * Takes or renews the leadership; null: another node leads. A term is renewed after a third of it, since each sweep writes anyway, and
   * after any failure.
   */
  async #lead(): Promise<number | null> {
    const { environment, store, node, lease } = this.#options
    const asked = environment.monotonic()
    if (this.#term && asked < this.#term.renewAt) return this.#term.token
    this.#term = null
    const token = await this.#write(() => store.lead({ name: LEASE, node, ttl: lease }))
    if (token !== null && token !== this.#token) this.#taken(token)
    if (token !== null) this.#term = { token, renewAt: asked + lease / 3 }
    return token
  }

  /**
   * While the store accepts no writes, heartbeats and replies cannot arrive. That time counts towards no node's silence, and running
   * attempts get as much more.
   */
  async #write<T>(write: () => Promise<T>): Promise<T> {
    const { environment, lease } = this.#options
    const since = this.#unwritten ?? environment.monotonic()
    this.#unwritten = since
    const result = await write().catch((error) => {
      this.#failureDetector.unwritable()
      throw error
    })
    const ms = environment.monotonic() - since
    this.#unwritten = null
    if (ms < lease * KEPT_OUT) return result
    this.#failureDetector.unwritable()
    this.#leap += Math.ceil(ms)
    return result
  }

  #taken(token: number): void {
    const { environment, node, telemetry } = this.#options
    this.#token = token
    if (telemetry['leader:taken'].open) telemetry['leader:taken'].tell({ at: environment.now(), node, token })
  }

  /**
   * Reads the nodes' heartbeats. Followers do this too, so that a new leader already knows which nodes fell silent together with the
   * former leader.
   */
  async #look(): Promise<boolean> {
    const { environment, store, node } = this.#options
    const asked = environment.monotonic()
    this.#looked = null
    const pulses = await store.heartbeats(LEASE)
    this.#looked = pulses.now
    this.#leap += this.#failureDetector.look(pulses, asked, environment.monotonic(), 2 * this.#wait)
    const { nodes, term } = pulses
    this.#left = term?.left ?? 0
    this.#rank = nodes
      .filter(({ id, roles, late }) => roles.includes('supervisor') && id !== term?.holder && (!late || id === node))
      .findIndex(({ id }) => id === node)
    return true
  }

  /**
   * Another node leads. The deputy looks as soon as the term may be over, and by then knows which nodes died with the leader. The next in
   * rank look often enough to know the same before a further leader is likely to die. All are woken when nobody leads.
   */
  #stand(): false {
    const { lease } = this.#options
    this.#leap = 0
    this.#follows = true
    const seldom = lease * Math.min(OFTEN * 2 ** Math.max(0, this.#rank), SELDOM)
    this.#wait = this.#rank > 0 ? seldom : Math.max(SHORTLY, Math.min(this.#left, seldom))
    return false
  }

  /** Each job resolves to whether there is more to do at once. */
  async #sweep(leadership: LeaderFence): Promise<boolean> {
    const { store, swept, environment } = this.#options
    const asked = environment.monotonic()
    const silent = this.#failureDetector.dead
    const shift = this.#leap
    const until = this.#looked
    const request = { ...leadership, limit: SWEEP_LIMIT, silent, shift, ...(until !== null && { until }) }
    const report = await this.#write(() => store.sweep(request))
    if (!report) {
      this.#term = null
      return false
    }
    this.#tellSweep(report, asked)
    this.#tellDead(report, silent)
    this.#leap -= shift
    this.#schedulesDue = report.schedules
    if (report.deadNodes.length + report.releasedTasks + report.expiredSteps + report.overdueTasks > 0) swept(report)
    return report.more
  }

  #tellSweep({ deadNodes, releasedTasks, expiredSteps, overdueTasks }: SweepReport, asked: number): void {
    const { environment, node, telemetry } = this.#options
    if (!telemetry.sweep.open) return
    const found = { deadNodes, releasedTasks, expiredSteps, overdueTasks }
    telemetry.sweep.tell({ at: environment.now(), node, ...found, ms: environment.monotonic() - asked })
  }

  #tellDead({ deadNodes }: SweepReport, heard: readonly { id: string; silence: number }[]): void {
    const { environment, node, telemetry } = this.#options
    if (deadNodes.length === 0 || !telemetry['node:died'].open) return
    const at = environment.now()
    for (const dead of deadNodes) {
      const silent = heard.find(({ id }) => id === dead)?.silence ?? null
      telemetry['node:died'].tell({ at, node, dead, silent })
    }
  }

  async #fire(leadership: LeaderFence): Promise<boolean> {
    if (!this.#schedulesDue) return false
    const { count, more } = await fireSchedules(this.#options, leadership)
    if (count > 0) this.#options.submitted()
    return more
  }

  /** Deletes expired answers of the action cache. */
  async #forget(): Promise<boolean> {
    const { environment, store } = this.#options
    const now = environment.monotonic()
    if (now < this.#forgetAt) return false
    this.#forgetAt = now + FORGETS.some
    const found = (await store.trimCache(CACHE)) + (await this.#trim(now))
    const more = found >= CACHE.limit
    if (more) this.#forgetAt = now
    else if (found === 0) this.#forgetAt = now + FORGETS.none
    return more
  }

  /** Deletes audit entries that are too old, or too many. */
  async #trim(now: number): Promise<number> {
    if (now < this.#trimAt) return 0
    this.#trimAt = now + TRIMS
    const { environment, store, audit } = this.#options
    const at = environment.now()
    const before = audit.keep === null ? null : at - audit.keep
    const bounds = { before, entries: audit.entries, surplus: at - audit.atLeast }
    const found = await store.trimAudit({ ...bounds, limit: CACHE.limit })
    if (found >= CACHE.limit) this.#trimAt = now
    return found
  }

  #prune(leadership: LeaderFence): Promise<boolean> {
    return this.#retention.prune(leadership, this.#counting.uncounted)
  }

  #count(leadership: LeaderFence): Promise<boolean> {
    return this.#counting.count(leadership)
  }
}
