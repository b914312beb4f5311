import { delay, type Environment, type Timer } from '../environment/environment.ts'
import { Lifeline, type LifelineReport } from '../store/lifeline.ts'
import type { NodeBeat, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface LeaseOptions {
  environment: Environment
  /** This machine's wall clock, which knows of pauses that the monotonic one slept through. */
  wall: () => number
  store: Pick<StateStore, 'beat' | 'keepAlive'>
  node: NodeBeat
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
/** The same where all that failed is to say what the node runs. */
const TELL_AGAIN = 1_000

/**
 * One node's lease: who renews it, and whether it holds. A thread of the store's renews it where there is one, timers of
 * this process otherwise. Whoever is unsure (this process stood still, or a clock was set) asks the store before anything starts.
 */
export class Lease {
  readonly #options: LeaseOptions
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
    const { environment, wall } = options
    this.#options = options
    this.#beatenAt = environment.monotonic()
    this.#lookedAt = this.#beatenAt
    this.#offset = wall() - this.#beatenAt
  }

  /** Registers the node. False: it was taken for dead, or stopped, before it began. */
  async start(): Promise<boolean> {
    this.#renewing = this.#renew()
    await this.#renewing
    if (!this.#open) return false
    const { store, node, stall, quiet } = this.#options
    const { runs, place, ...rest } = node
    this.#lifeline = store.keepAlive?.({ node: rest, stall, quiet, report: (it) => this.#hear(it) }) ?? null
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

  /** Until when it lasts if it is not renewed, by the monotonic clock (ms). */
  get until(): number {
    const over = !this.#open || this.#lifeline?.dead === true
    return over ? Number.NEGATIVE_INFINITY : this.#renewedAt + this.#options.node.lease
  }

  /** What runs is named while it blocks the event loop; null: nobody would see it. */
  get trace(): Lifeline | null {
    return this.#lifeline
  }

  /** Whether it surely holds. Otherwise others may have taken over what this process was about to start. */
  holds(): boolean {
    const { environment, node } = this.#options
    const wall = this.#options.wall()
    // Nothing has stood still, and no machine has slept, since it was seen to hold in this very millisecond.
    if (wall === this.#heldAt && this.#open && !this.#unsure) return true
    const now = environment.monotonic()
    if (this.#lifeline?.dead || now - this.#renewedAt > node.lease) return false
    // The wall clock went further than the other: it was set, or the machine slept.
    if (wall - now - this.#offset > node.lease) this.#unsure = true
    if (!this.#open || this.#unsure) return false
    this.#heldAt = wall
    return true
  }

  /** Asks the store. False: it does not hold, and the node is lost. */
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
    const { environment, node, failed } = this.#options
    for (;;) {
      if (!this.#open || this.#lifeline?.dead) return this.#lose()
      try {
        this.#renewing = this.#renew()
        await this.#renewing
        return this.#open
      } catch (error) {
        failed(error)
      }
      // One that stood still has a chance to reach the store first; one that ran all the time has had it.
      const until = Math.max(this.#renewedAt, this.#stoodAt) + node.lease
      if (environment.monotonic() > until) return this.#lose()
      await delay(environment, AGAIN)
    }
  }

  async #renew(): Promise<void> {
    const { environment, wall, store, node, renewed } = this.#options
    const asked = environment.monotonic()
    const offset = wall() - asked
    // What it can run is told once, and again with its load where that is another.
    const { runs, place, ...rest } = node
    const load = loadOf(runs)
    const again = load === this.#load.said ? rest : { ...rest, ...(runs && { runs }), again: true as const }
    if (!(await store.beat(this.#told ? again : node))) return void this.#lose()
    this.#told = true
    this.#load = { said: load, at: asked }
    this.#beatenAt = Math.max(this.#beatenAt, asked)
    this.#offset = offset
    this.#unsure = false
    this.#tell(false)
    await renewed()
  }

  /** Without a thread. */
  #beat(): void {
    const { environment, node, failed } = this.#options
    this.#timers.beat = environment.timer(node.lease / 3, () => {
      this.#renewing = this.#renew()
        .catch(failed)
        .finally(() => {
          // By its own monotonic clock the lease is over: nobody may be sure that this node still owns anything.
          if (environment.monotonic() - this.#renewedAt > node.lease) this.#lose()
          if (this.#open) this.#beat()
        })
    })
  }

  /** With one: shows it that the event loop turns, and looks after it. */
  #look(): void {
    const { environment, node } = this.#options
    const every = Lifeline.lookEvery(node)
    this.#timers.look = environment.timer(every, () => {
      const now = environment.monotonic()
      if (now - this.#lookedAt > 3 * every) this.#stoodAt = now
      this.#lookedAt = now
      this.#lifeline?.tick()
      if (!this.holds()) void this.sure()
      else if (now - this.#load.at >= node.lease / 3 && loadOf(node.runs) !== this.#load.said) this.#say()
      if (this.#open && this.#lifeline) this.#look()
    })
  }

  /** Its load is another: the thread that renews the lease does not know it. */
  #say(): void {
    this.#renewing = this.#renew().catch(this.#options.failed)
  }

  #hear(report: LifelineReport): void {
    const { environment, wall, node, blocked, renewed, failed } = this.#options
    if (!this.#open) return
    if (report.type === 'dead') this.#lose()
    if (report.type === 'failed') failed(report.error)
    if (report.type === 'blocked') blocked(report.ms, report.ran)
    if (report.type === 'renewed') {
      const offset = wall() - environment.monotonic()
      if (Math.abs(offset - this.#offset) <= node.lease) this.#offset = offset
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

function loadOf(runs: NodeBeat['runs']): string {
  return JSON.stringify(runs?.load) ?? ''
}
