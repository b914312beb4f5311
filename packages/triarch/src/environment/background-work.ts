import type { Environment } from './environment.ts'

/** How long one piece may take before other work runs (ms); on a clock that stands still, the number of steps. */
const PIECE = 2
const MOST = 2_000
/** The share of time that the work takes while the event loop has other work. */
const SHARE = 0.1
/** The event loop has other work if that takes this share of the time between pieces. */
const BUSY = 0.05
/** Weight of the last measurement in the moving average of the other work. */
const WEIGHT = 0.2
/** The longest pause between pieces (ms). */
const LONGEST = 250
/** Jobs that run at a time; the number is bounded because each may need much memory. */
const JOBS = 4

type BackgroundWorkDeps = Pick<Environment, 'monotonic' | 'soon' | 'timer'>

/**
 * Work with low priority, such as that for views. It runs in pieces of 2 ms. While the event loop has other work, the pieces of all jobs
 * together take a tenth of the time; otherwise they follow each other.
 */
export class BackgroundWork {
  readonly #environment: BackgroundWorkDeps
  /** Moving average of the share of time that other work took between pieces. */
  #others = 0
  #jobs = 0
  readonly #waiting: (() => void)[] = []
  /** The pause after the last piece. */
  #last: Promise<void> = Promise.resolve()

  constructor(environment: BackgroundWorkDeps) {
    this.#environment = environment
  }

  /** Runs the job, after others if JOBS of them run. */
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

  /** The pace of a short job that does not count as one of JOBS. */
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
  readonly #environment: Pick<BackgroundWorkDeps, 'monotonic'>
  readonly #rest: (took: number) => Promise<void>
  #since: number
  #steps = 0

  constructor(environment: Pick<BackgroundWorkDeps, 'monotonic'>, rest: (took: number) => Promise<void>) {
    this.#environment = environment
    this.#rest = rest
    this.#since = environment.monotonic()
  }

  /** Called after each step: the pause to await before the next one; null: none. */
  show(): Promise<void> | null {
    const took = this.#environment.monotonic() - this.#since
    if (++this.#steps < MOST && took < PIECE) return null
    return this.#rest(took).then(() => {
      this.#since = this.#environment.monotonic()
      this.#steps = 0
    })
  }

  /** Runs a generator, pausing between its steps. */
  async through<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      const rest = this.show()
      if (rest !== null) await rest
    }
  }
}
