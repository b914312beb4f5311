import { drainer } from '../environment/drain.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { Heap } from '../environment/heap.ts'
import { seededRandom } from '../environment/random.ts'
import { uuidv7Source } from '../environment/uuid.ts'
import { type ResultWait, Skipping } from './skipping.ts'

/**
 * The start time and the seed of a virtual environment.
 * @example const environment = new VirtualEnvironment({ seed: 7, start: new Date('2026-12-24') })
 */
export interface VirtualOptions {
  /** The same seed gives the same randomness and ids; 1. */
  seed?: number
  /** The start time; 2026-01-01T00:00:00Z. */
  start?: Date
}

const START = Date.UTC(2026, 0, 1)
/** Rounds of the event loop without activity, after which nothing more is expected to happen by itself. */
const QUIET_ROUNDS = 4
/** Number of rounds that indicates an endless loop of callbacks. */
const MOST_ROUNDS = 1_000_000

/**
 * Time that stands still until it is advanced. Promises and callbacks run on the real event loop; timers, clocks, ids and randomness are
 * virtual, so that the same seed gives the same run.
 * @example
 * const environment = new VirtualEnvironment({ seed: 7 })
 * const [a, b] = [await testEngine({ environment }), await testEngine({ environment })]
 */
export class VirtualEnvironment implements Environment {
  /** Uniform in [0, 1), determined by the seed. */
  readonly random: () => number
  /** A UUIDv7 of the virtual time, determined by the seed. */
  readonly id: () => string
  readonly #start: number
  readonly #drain = drainer()
  readonly #timers = new Heap<VirtualTimer>(before)
  #arrivals = 0
  #now: number
  /** Callbacks handed to the real event loop that have not run yet. */
  #underWay = 0
  /** Number of unanswered store calls, and of operations that move time. */
  #busy = 0
  /** A number that changes whenever something happens. */
  #mark = 0
  readonly #skipping = new Skipping({
    now: () => this.#now,
    real: () => performance.now(),
    breath: () => new Promise((resolve) => setTimeout(resolve, 1)),
    settle: () => this.#settle(),
    busy: () => this.#busy > 0,
    mark: () => this.#mark,
    pass: (until) => {
      if (!this.#fire(until)) this.#now = until
    },
  })

  constructor({ seed = 1, start }: VirtualOptions = {}) {
    this.#start = start?.getTime() ?? START
    this.#now = this.#start
    this.random = seededRandom(seed)
    this.id = uuidv7Source(() => this.#now, this.random)
  }

  /**
   * The virtual instant, ms since the epoch.
   * @example const today = new Date(environment.now())
   */
  now(): number {
    return this.#now
  }

  /**
   * ms since the clock began.
   * @example const elapsed = environment.monotonic()
   */
  monotonic(): number {
    return this.#now - this.#start
  }

  /**
   * Calls back when time has advanced by `ms`.
   * @example environment.timer(60_000, () => console.log('a virtual minute has passed'))
   */
  timer(ms: number, callback: () => void): Timer {
    const due = this.#now + Math.max(0, Math.ceil(ms))
    const entry: VirtualTimer = { due, arrival: this.#arrivals++, callback }
    this.#timers.add(entry)
    this.#mark++
    // A timer that is due now needs no advance.
    if (entry.due <= this.#now) this.soon(() => this.#fire(this.#now))
    return {
      cancel: () => {
        entry.callback = null
      },
    }
  }

  /**
   * Calls back once all pending I/O and callbacks have been handled.
   * @example environment.soon(() => console.log('all callbacks at hand had their turn'))
   */
  soon(callback: () => void): void {
    this.#underWay++
    this.#mark++
    setImmediate(() => {
      this.#underWay--
      callback()
    })
  }

  /**
   * Calls back when every promise reaction that can run now has run.
   * @example environment.drain(() => console.log('all promise reactions have run'))
   */
  drain(callback: () => void): void {
    this.#underWay++
    this.#mark++
    this.#drain(() => {
      this.#underWay--
      callback()
    })
  }

  /**
   * Lets everything happen that needs no passing of time. Real I/O is not awaited.
   * @example await environment.settle()
   */
  settle(): Promise<void> {
    return this.during(this.#settle())
  }

  /** @internal Until then nobody else moves time. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy++
    try {
      return await work
    } finally {
      this.#busy--
      this.#mark++
    }
  }

  // While the result is awaited, time passes for it whenever nothing can happen otherwise; if no passing of time brings it, it is rejected
  // with WAIT_ENDLESS.
  /** @internal The same result. */
  awaitedBy<T>(result: Promise<T>, about: Omit<ResultWait, 'reject'>): Promise<T> {
    return new ObservedPromise(result, (reject) => {
      const wait = { ...about, reject }
      this.#skipping.add(wait)
      const drop = () => this.#skipping.drop(wait)
      result.then(drop, drop)
    })
  }

  async #settle(): Promise<void> {
    for (let round = 0, quiet = 0; quiet < QUIET_ROUNDS; round++) {
      if (round > MOST_ROUNDS) throw new Error('virtual time: something keeps itself busy without time passing')
      await new Promise((resolve) => setImmediate(resolve))
      quiet = this.#underWay > 0 ? 0 : quiet + 1
    }
  }

  /**
   * Lets this much time pass: fires what becomes due in order, and lets everything settle after each timer.
   * @example await environment.advance(60_000)
   */
  advance(ms: number): Promise<void> {
    return this.during(this.#advance(ms))
  }

  async #advance(ms: number): Promise<void> {
    await this.#settle()
    const until = this.#now + Math.max(0, Math.round(ms))
    while (this.#fire(until)) await this.#settle()
    this.#now = Math.max(this.#now, until)
    await this.#settle()
  }

  /** Fires the first timer that is due by then. */
  #fire(until: number): boolean {
    for (let first = this.#timers.first; first; first = this.#timers.first) {
      if (first.callback && first.due > until) return false
      this.#timers.take()
      if (!first.callback) continue
      this.#now = Math.max(this.#now, first.due)
      this.#mark++
      first.callback()
      return true
    }
    return false
  }
}

/** A promise that reports when it is awaited; a result that is only kept does not move time. */
class ObservedPromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  #awaited: (() => void) | null

  constructor(result: Promise<T>, awaited: (reject: (error: Error) => void) => void) {
    let fail: (error: Error) => void = () => undefined
    super((resolve, reject) => {
      fail = reject
      result.then(resolve, reject)
    })
    this.#awaited = () => awaited(fail)
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, which learns here that it is awaited
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#awaited?.()
    this.#awaited = null
    return super.then(fulfilled, rejected)
  }
}

interface VirtualTimer {
  due: number
  arrival: number
  /** Null after it was cancelled. */
  callback: (() => void) | null
}

/** Ordered by instant, then by arrival. */
function before(a: VirtualTimer, b: VirtualTimer): boolean {
  return a.due < b.due || (a.due === b.due && a.arrival < b.arrival)
}
