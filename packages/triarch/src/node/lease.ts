import { delay, type Environment, type Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import { Lifeline, type LifelineReport } from '../store/lifeline.ts'
import type { NodeHeartbeat, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface LeaseOptions {
  environment: Environment
  /** This machine's wall clock, which also advances during sleep that the monotonic clock misses. */
  wall: () => number
  store: Pick<StateStore, 'heartbeat' | 'keepAlive' | 'heartbeats'>
  node: NodeHeartbeat
  /** How long the lease is renewed while the event loop is blocked (ms). */
  stall: number
  quiet: boolean
  /** Called after each renewal. If a thread renewed, with the store's clock reading between two readings of the monotonic clock. */
  renewed: (told?: { asked: number; now: number; answered: number }) => Promise<void> | void
  /** Called when the event loop was blocked for `ms` while these steps ran. */
  blocked: (ms: number, ran: readonly string[]) => void
  /** Called when the node counts as dead, or may. */
  lost: () => void
  telemetry: Telemetry
  failed: (error: unknown) => void
}

/** Delay before a failed renewal is retried by a caller that must be sure (ms). */
const AGAIN = 100
/** The same delay after the lease is over, while the store refuses writes but lists the node as alive (ms). */
const LISTED_AGAIN = 500
/** With these errors the store says that it takes no writes at the moment; as far as is known, it takes none from other nodes either. */
const REFUSED: ReadonlySet<string> = new Set(['STORE_BUSY', 'STORE_FULL'])
/** A renewal without an answer may still be executed, but no later than this after it was sent (ms). */
const LATEST = 60_000
/** Delay before the report of what the node runs is retried (ms). */
const TELL_AGAIN = 1_000

/**
 * One node's lease: renews it, and knows whether it holds. A thread of the store renews it if there is one, otherwise timers of this
 * process. When that is uncertain (this process was blocked, or a clock was set), the store is asked before anything starts.
 */
export class Lease {
  readonly #options: LeaseOptions
  /**
   * The configured length, and how long the lease certainly lasts (ms): the shorter of old and new until every renewer uses the new
   * length.
   */
  #length: number
  #lasts: number
  /** The length in the thread's last renewal (ms). */
  #threads: number
  /** Renewals by this process in flight; and by length, until when (monotonic) one of that length may still be executed. */
  readonly #sent = new Set<{ length: number }>()
  readonly #over = new Map<number, number>()
  #begun = false
  #lifeline: Lifeline | null = null
  #timers: { beat: Timer | null; look: Timer | null } = { beat: null, look: null }
  /** When the last successful renewal by this process was sent (monotonic clock). */
  #beatenAt: number
  /** Difference between wall clock and monotonic clock when the lease was last certain (ms). */
  #offset: number
  /** When the lease was last seen to hold (wall clock, ms). */
  #heldAt = Number.NEGATIVE_INFINITY
  #told = false
  /** The load last reported, and when (monotonic clock). */
  #load: { said: string; at: number } = { said: '', at: Number.NEGATIVE_INFINITY }
  #unsure = false
  /** When this process was last seen to have been blocked (monotonic clock). */
  #stoodAt = Number.NEGATIVE_INFINITY
  #lookedAt: number
  #renewing: Promise<unknown> = Promise.resolve()
  #asking: Promise<boolean> | null = null
  #closing: Promise<void> | null = null
  #open = true

  constructor(options: LeaseOptions) {
    const { environment, wall, node } = options
    this.#options = options
    this.#length = node.lease
    this.#lasts = node.lease
    this.#threads = node.lease
    this.#beatenAt = environment.monotonic()
    this.#lookedAt = this.#beatenAt
    this.#offset = wall() - this.#beatenAt
  }

  /** Registers the node. Resolves to false if it was declared dead, or stopped, before it began. */
  async start(): Promise<boolean> {
    for (let said = 0; said !== this.#length && this.#open; ) {
      said = this.#length
      this.#renewing = this.#renew()
      await this.#renewing
    }
    if (!this.#open) return false
    this.#begun = true
    const { store, node, stall, quiet } = this.#options
    const { runs, place, ...rest } = node
    const own = { ...rest, lease: this.#length }
    this.#threads = this.#length
    this.#lifeline = store.keepAlive?.({ node: own, stall, quiet, report: (it) => this.#hear(it) }) ?? null
    if (this.#lifeline) this.#look()
    else this.#beat()
    return true
  }

  /** What the node can run has changed, and is reported. */
  tell(): void {
    if (!this.#told || !this.#open) return
    this.#told = false
    const { environment, failed } = this.#options
    this.#renewing = this.#renew().catch((error) => {
      failed(error)
      this.#told = true
      environment.timer(TELL_AGAIN, () => this.tell())
    })
  }

  /**
   * Changes the length (ms). A shorter lease applies at once, because those who watch this node learn of it with the next renewal. A
   * longer one applies once it was acknowledged and no renewal with another length is in flight.
   */
  resize(length: number): void {
    if (length === this.#length) return
    this.#length = length
    this.#lasts = Math.min(this.#lasts, length)
    if (!this.#begun || !this.#open) {
      if (this.#sent.size === 0) this.#lasts = length
      return
    }
    this.#threads = Number.NaN
    this.#lifeline?.resize(length)
    if (this.#lifeline) this.#look()
    else this.#beat()
    this.#say()
  }

  /** The configured length (ms). */
  get length(): number {
    return this.#length
  }

  /** A renewal of this length, sent at `asked`, was acknowledged. */
  #settle(length: number, asked: number): void {
    if (this.#lasts === this.#length || length !== this.#length) return
    if (this.#lifeline && this.#threads !== length) return
    for (const sent of this.#sent) if (sent.length !== length) return
    for (const [other, over] of this.#over) if (other !== length && over > asked) return
    this.#over.clear()
    this.#lasts = length
  }

  /** Until when the lease lasts if it is not renewed (monotonic clock, ms). */
  get until(): number {
    const over = !this.#open || this.#lifeline?.dead === true
    return over ? Number.NEGATIVE_INFINITY : this.#renewedAt + this.#lasts
  }

  /** Records what runs, so that it can be named if it blocks the event loop; null: nothing watches the event loop. */
  get trace(): Lifeline | null {
    return this.#lifeline
  }

  /** Whether the lease certainly holds. If not, others may have taken over what this process is about to start. */
  holds(): boolean {
    const { environment } = this.#options
    const lease = this.#lasts
    const wall = this.#options.wall()
    // The lease was seen to hold in this very millisecond, so the process was neither blocked nor suspended since.
    if (wall === this.#heldAt && this.#open && !this.#unsure) return true
    const now = environment.monotonic()
    if (this.#lifeline?.dead || now - this.#renewedAt > lease) return false
    // The wall clock advanced further than the monotonic one: it was set, or the machine slept.
    if (wall - now - this.#offset > lease) this.#unsure = true
    if (!this.#open || this.#unsure) return false
    this.#heldAt = wall
    return true
  }

  /**
   * Renews the lease, retrying until it is over; and beyond that as long as the store says both that it takes no writes and that the node
   * is alive, because a node must have had the chance to renew before it counts as dead. Resolves to false if the lease does not hold;
   * then the node is lost.
   */
  sure(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /** Ends all renewals; none follows once this resolves. */
  stop(): Promise<void> {
    this.#open = false
    this.#timers.beat?.cancel()
    this.#timers.look?.cancel()
    this.#closing ??= Promise.all([this.#lifeline?.close(), this.#renewing.catch(() => undefined)]).then(
      () => undefined,
    )
    return this.#closing
  }

  get #renewedAt(): number {
    return Math.max(this.#beatenAt, this.#lifeline?.renewedAt ?? this.#beatenAt)
  }

  async #ask(): Promise<boolean> {
    const { environment, failed } = this.#options
    for (let isListed = false; ; ) {
      if (!this.#open || this.#lifeline?.dead) return this.#lose()
      try {
        this.#renewing = this.#renew()
        await this.#renewing
        return this.#open
      } catch (error) {
        // The error is reported once for the whole time that the store takes no writes.
        if (!isListed) failed(error)
        // A process that was blocked first gets a chance to reach the store; one that ran all the time has had it.
        const until = Math.max(this.#renewedAt, this.#stoodAt) + this.#lasts
        const over = environment.monotonic() > until
        isListed = over && (await this.#isListed(error))
        if (over && !isListed) return this.#lose()
      }
      await delay(environment, isListed ? LISTED_AGAIN : AGAIN)
    }
  }

  async #isListed(error: unknown): Promise<boolean> {
    const { store, node } = this.#options
    if (!isTriarchError(error) || !REFUSED.has(error.code)) return false
    try {
      return (await store.heartbeats('')).nodes.some(({ id }) => id === node.id)
    } catch {
      return false
    }
  }

  async #renew(): Promise<void> {
    const { environment, wall, store, node, renewed } = this.#options
    const asked = environment.monotonic()
    const offset = wall() - asked
    // Capabilities are reported once, and again together with the load when that changes.
    const { runs, place, ...rest } = node
    const load = loadOf(runs)
    const lease = this.#length
    const again = load === this.#load.said ? rest : { ...rest, ...(runs && { runs }), again: true as const }
    const own = this.#told ? again : { ...rest, ...(runs && { runs }), ...(place && { place }) }
    if (!(await this.#sending(lease, store.heartbeat({ ...own, lease })))) return void this.#lose()
    this.#told = true
    this.#load = { said: load, at: asked }
    this.#beatenAt = Math.max(this.#beatenAt, asked)
    this.#offset = offset
    this.#unsure = false
    this.#settle(lease, asked)
    this.#tell(false)
    await renewed()
  }

  async #sending(length: number, beat: Promise<boolean>): Promise<boolean> {
    const { environment } = this.#options
    const own = { length }
    let late = LATEST
    this.#sent.add(own)
    try {
      const alive = await beat
      late = 0
      return alive
    } finally {
      this.#sent.delete(own)
      const over = environment.monotonic() + late
      this.#over.set(length, Math.max(over, this.#over.get(length) ?? over))
    }
  }

  /** Renews by timers, without a thread. */
  #beat(): void {
    const { environment, failed } = this.#options
    this.#timers.beat?.cancel()
    this.#timers.beat = environment.timer(this.#lasts / 3, () => {
      this.#renewing = this.#renew()
        .catch(failed)
        .finally(() => {
          // By its own monotonic clock the lease is over, so this node cannot be sure that it still owns anything.
          if (environment.monotonic() - this.#renewedAt > this.#lasts) void this.sure()
          if (this.#open) this.#beat()
        })
    })
  }

  /** With a thread: signals it that the event loop runs, and checks the lease. */
  #look(): void {
    const { environment, node } = this.#options
    const every = Lifeline.lookEvery({ lease: this.#lasts })
    this.#timers.look?.cancel()
    this.#timers.look = environment.timer(every, () => {
      const now = environment.monotonic()
      if (now - this.#lookedAt > 3 * every) this.#stoodAt = now
      this.#lookedAt = now
      this.#lifeline?.tick()
      if (!this.holds()) void this.sure()
      else if (now - this.#load.at >= this.#length / 3 && loadOf(node.runs) !== this.#load.said) this.#say()
      if (this.#open && this.#lifeline) this.#look()
    })
  }

  /** Reports a changed load, which the renewing thread does not know. */
  #say(): void {
    this.#renewing = this.#renew().catch(this.#options.failed)
  }

  #hear(report: LifelineReport): void {
    const { environment, wall, blocked, renewed, failed } = this.#options
    if (!this.#open) return
    if (report.type === 'dead') this.#lose()
    if (report.type === 'failed') failed(report.error)
    if (report.type === 'blocked') blocked(report.ms, report.ran)
    if (report.type === 'renewed') {
      const offset = wall() - environment.monotonic()
      if (Math.abs(offset - this.#offset) <= this.#lasts) this.#offset = offset
      this.#threads = report.lease
      this.#settle(report.lease, report.asked)
      this.#tell(true)
      void renewed(report)
    }
    if (report.type === 'ended') {
      this.#beatenAt = this.#renewedAt
      this.#lifeline = null
      this.#timers.look?.cancel()
      this.#beat()
    }
  }

  #tell(thread: boolean): void {
    const { environment, node, telemetry } = this.#options
    const outlet = telemetry['lease:renewed']
    if (outlet.open) outlet.tell({ at: environment.now(), node: node.id, thread })
  }

  #lose(): false {
    if (!this.#open) return false
    void this.stop()
    this.#options.lost()
    return false
  }
}

function loadOf(runs: NodeHeartbeat['runs']): string {
  return JSON.stringify(runs?.load) ?? ''
}
