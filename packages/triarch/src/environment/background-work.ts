import type { Environment } from './environment.ts'

/** How long one piece may take before others have their turn (ms); where time stands still, so many steps. */
const PIECE = 2
const MOST = 2_000
/** The part of the time that the work takes while others have something to do. */
const SHARE = 0.1
/** Others have something to do where they take this part of the time between pieces. */
const BUSY = 0.05
/** How much the last piece counts in what is known of the others. */
const WEIGHT = 0.2
/** The longest rest (ms). */
const LONGEST = 250
/** Jobs that are under way at a time: each may have much in memory. */
const JOBS = 4

type Means = Pick<Environment, 'monotonic' | 'soon' | 'timer'>

/**
 * Work that nobody waits for but whoever looks on. It runs in pieces of 2 ms. While the loop has other work, the pieces of all jobs together take a
 * tenth of the time; while it has none, they follow each other.
 */
export class BackgroundWork {
  readonly #environment: Means
  /** The part of the time between pieces that others took, of late. */
  #others = 0
  #jobs = 0
  readonly #waiting: (() => void)[] = []
  /** The rest after the last piece. */
  #last: Promise<void> = Promise.resolve()

  constructor(environment: Means) {
    this.#environment = environment
  }

  /** Runs the job once there is room for it. */
  async run<T>(job: (pace: WorkShare) => Promise<T>): Promise<T> {
    if (this.#jobs === JOBS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#jobs++
    try {
      return await job(this.pace())
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#jobs--
    }
  }

  /** For a short job that waits for no other. */
  pace(): WorkShare {
    return new WorkShare(this.#environment, (took) => {
      this.#last = this.#last.then(() => this.#rest(took))
      return this.#last
    })
  }

  async #rest(took: number): Promise<void> {
    const left = this.#environment.monotonic()
    await new Promise<void>((resolve) => this.#environment.soon(resolve))
    const others = this.#environment.monotonic() - left
    if (took + others > 0) this.#others += WEIGHT * (others / (took + others) - this.#others)
    if (this.#others < BUSY || took === 0) return
    const ms = Math.min(LONGEST, took / SHARE - took - others)
    if (ms > 0) await new Promise<void>((resolve) => this.#environment.timer(ms, resolve))
  }
}

/** The steps of one job. */
export class WorkShare {
  readonly #environment: Pick<Means, 'monotonic'>
  readonly #rest: (took: number) => Promise<void>
  #since: number
  #steps = 0

  constructor(environment: Pick<Means, 'monotonic'>, rest: (took: number) => Promise<void>) {
    this.#environment = environment
    this.#rest = rest
    this.#since = environment.monotonic()
  }

  /** After each step: what to wait for before the next one; null: nothing. */
  show(): Promise<void> | null {
    const took = this.#environment.monotonic() - this.#since
    if (++this.#steps < MOST && took < PIECE) return null
    return this.#rest(took).then(() => {
      this.#since = this.#environment.monotonic()
      this.#steps = 0
    })
  }

  /** Runs the work from step to step. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      const rest = this.show()
      if (rest !== null) await rest
    }
  }
}
