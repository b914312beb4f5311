import { delay, type Environment, type Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import { Lifeline, type LifelineReport } from '../store/lifeline.ts'
import type { NodeHeartbeat, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface LeaseOptions {
  environment: Environment
  /** This machine's wall clock, which knows of pauses that the monotonic one slept through. */
  wall: () => number
  store: Pick<StateStore, 'heartbeat' | 'keepAlive' | 'heartbeats'>
  node: NodeHeartbeat
  /** For how long it is renewed though the event loop stands still (ms). */
  stall: number
  quiet: boolean
  /** After each renewal. From a thread: what the store's clock said, between two instants of the monotonic one. */
  renewed: (told?: { asked: number; now: number; answered: number }) => Promise<void> | void
  /** The event loop stood still for so long, while this ran. */
  blocked: (ms: number, ran: readonly string[]) => void
  /** The node is taken for dead, or may be. */
  lost: () => void
  telemetry: Telemetry
  failed: (error: unknown) => void
}

/** How long after a renewal that failed it is tried again, by whoever must be sure (ms). */
const AGAIN = 100
/** The same once the lease is over, while the store takes no write and says that the node lives (ms). */
const LISTED_AGAIN = 500
/** With these the store says itself that it takes no write now: so it takes none of others, as far as is known. */
const REFUSED: ReadonlySet<string> = new Set(['STORE_BUSY', 'STORE_FULL'])
/** What was not answered may yet be done: no longer than this after it was asked (ms). */
const LATEST = 60_000
/** The same where all that failed is to say what the node runs. */
const TELL_AGAIN = 1_000

/**
 * One node's lease: who renews it, and whether it holds. A thread of the store's renews it where there is one, timers of
 * this process otherwise. Whoever is unsure (this process stood still, or a clock was set) asks the store before anything starts.
 */
export class Lease {
  readonly #options: LeaseOptions
  /** How long it is to be (ms), and for how long it surely lasts: the less of two until everybody who renews says the new one. */
  #length: number
  #lasts: number
  /** How long it was by the last renewal of the thread. */
  #threads: number
  /** Renewals by this thread that are under way; and by their length, when (monotonic) the last that was is surely over, answered or not. */
  readonly #sent = new Set<{ length: number }>()
  readonly #over = new Map<number, number>()
  #begun = false
  #lifeline: Lifeline | null = null
  #timers: { beat: Timer | null; look: Timer | null } = { beat: null, look: null }
  /** When the last renewal by this thread that succeeded was asked for, by the monotonic clock. */
  #beatenAt: number
  /** From the monotonic clock to the wall clock, when this was last sure. */
  #offset: number
  /** When it was last seen to hold, by the wall clock (ms). */
  #heldAt = Number.NEGATIVE_INFINITY
  #told = false
  /** What it last told of its load, and when, by the monotonic clock. */
  #load: { said: string; at: number } = { said: '', at: Number.NEGATIVE_INFINITY }
  #unsure = false
  /** When this process was last seen to have stood still. */
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

  /** Registers the node. False: it was taken for dead, or stopped, before it began. */
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

  /** What the node can run is another by now. */
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
   * From now on it is this long (ms). A shorter one holds at once, for whoever watches learns of it with the next renewal; a longer one once
   * that was acknowledged, and no renewal is under way any more that says otherwise.
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

  /** How long it is to be (ms). */
  get length(): number {
    return this.#length
  }

  /** A renewal of this length, asked for then, was acknowledged. */
  #settle(length: number, asked: number): void {
    if (this.#lasts === this.#length || length !== this.#length) return
    if (this.#lifeline && this.#threads !== length) return
    for (const sent of this.#sent) if (sent.length !== length) return
    for (const [other, over] of this.#over) if (other !== length && over > asked) return
    this.#over.clear()
    this.#lasts = length
  }

  /** Until when it lasts if it is not renewed, by the monotonic clock (ms). */
  get until(): number {
    const over = !this.#open || this.#lifeline?.dead === true
    return over ? Number.NEGATIVE_INFINITY : this.#renewedAt + this.#lasts
  }

  /** What runs is named while it blocks the event loop; null: nobody would see it. */
  get trace(): Lifeline | null {
    return this.#lifeline
  }

  /** Whether it surely holds. Otherwise others may have taken over what this process was about to start. */
  holds(): boolean {
    const { environment } = this.#options
    const lease = this.#lasts
    const wall = this.#options.wall()
    // Nothing has stood still, and no machine has slept, since it was seen to hold in this very millisecond.
    if (wall === this.#heldAt && this.#open && !this.#unsure) return true
    const now = environment.monotonic()
    if (this.#lifeline?.dead || now - this.#renewedAt > lease) return false
    // The wall clock went further than the other: it was set, or the machine slept.
    if (wall - now - this.#offset > lease) this.#unsure = true
    if (!this.#open || this.#unsure) return false
    this.#heldAt = wall
    return true
  }

  /**
   * Asks the store, for as long as that says both that it takes no write and that the node lives: whoever is to be taken for dead must first have
   * had the chance to beat. False: it does not hold, and the node is lost.
   */
  sure(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /** Renews no more once this resolves. */
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
        // Once for all the time that the store takes no write.
        if (!isListed) failed(error)
        // One that stood still has a chance to reach the store first; one that ran all the time has had it.
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
    // What it can run is told once, and again with its load where that is another.
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

  /** Without a thread. */
  #beat(): void {
    const { environment, failed } = this.#options
    this.#timers.beat?.cancel()
    this.#timers.beat = environment.timer(this.#lasts / 3, () => {
      this.#renewing = this.#renew()
        .catch(failed)
        .finally(() => {
          // By its own monotonic clock the lease is over: nobody may be sure that this node still owns anything.
          if (environment.monotonic() - this.#renewedAt > this.#lasts) void this.sure()
          if (this.#open) this.#beat()
        })
    })
  }

  /** With one: shows it that the event loop turns, and looks after it. */
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

  /** Its load is another: the thread that renews the lease does not know it. */
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
