import type { InstantRun } from '../policy/rate.ts'

/** Of a run, those that are left. */
interface RemainingRun extends InstantRun {
  /** How many are gone. */
  gone: number
  count: number
}

/** One that is no further off than this follows upon the one before (ms). */
const GRAIN = 0.001

/** Instants of a rate limit that a node has, oldest first: however many they are, few runs. */
export class ReservedInstants {
  #runs: RemainingRun[] = []

  get count(): number {
    let count = 0
    for (const run of this.#runs) count += run.count - run.gone
    return count
  }

  get last(): number | undefined {
    const run = this.#runs.at(-1)
    return run && at(run, run.count - 1)
  }

  /** More of them, which nobody else has. */
  add(runs: readonly InstantRun[]): void {
    for (const { first, every, count } of runs) this.#insert({ first, every, count, gone: 0 })
  }

  /** One more, of those that are so far apart (ms). */
  put(instant: number, every: number): void {
    const last = this.#runs.at(-1)
    const follows = last?.every === every && Math.abs(at(last, last.count) - instant) <= Math.min(GRAIN, every / 2)
    if (last && follows) last.count++
    else this.#insert({ first: instant, every, count: 1, gone: 0 })
  }

  #insert(run: RemainingRun): void {
    const after = this.#runs.findLastIndex((other) => at(other, other.gone) <= run.first)
    this.#runs.splice(after + 1, 0, run)
  }

  /** The oldest, and how far those are apart that it is of. */
  take(): { instant: number; every: number } | null {
    const [run] = this.#runs
    if (!run) return null
    const taken = { instant: at(run, run.gone++), every: run.every }
    if (run.gone === run.count) this.#runs.shift()
    return taken
  }

  /** How many are not later than this. */
  upTo(now: number): number {
    let count = 0
    for (const run of this.#runs) count += before(run, now) - run.gone
    return count
  }

  /** The first that is later; undefined: none is. */
  after(now: number): number | undefined {
    for (const run of this.#runs) {
      const index = before(run, now)
      if (index < run.count) return at(run, index)
    }
    return undefined
  }

  /** Forgets all but those later than `after`, up to `until`. */
  keep({ after, until }: { after: number; until: number }): void {
    let some = false
    for (const run of this.#runs) {
      run.gone = before(run, after)
      run.count = before(run, until)
      some ||= run.gone === run.count
    }
    if (some) this.#runs = this.#runs.filter(({ gone, count }) => count > gone)
  }
}

function at({ first, every }: RemainingRun, index: number): number {
  return first + index * every
}

/** The number of the first, of those that are left, that is later than this. */
function before({ first, every, gone, count }: RemainingRun, now: number): number {
  if (!(now >= first + gone * every)) return gone
  return Math.min(count, Math.floor((now - first) / every) + 1)
}
