import type { RawStore } from './raw.ts'

/** One number a measure found. */
export interface Figure {
  what: string
  value: number
  unit: string
  better: 'higher' | 'lower'
  /** What issue and docs promise: at least, or at most, by `better`. */
  target?: number
  /** The same work done by the bare database in the same run, in the same unit. */
  ceiling?: number
  note?: string
}

export interface Measure {
  name: string
  about: string
  run(bench: Bench): Promise<Figure[]>
}

export type StoreName = 'sqlite' | 'postgres'

/** How much a measure does. */
export interface Sizes {
  /** Tiny sizes: shows that everything works, says nothing about speed. */
  quick: boolean
  /** Tasks that a full store has; not given: as many as the measure thinks right. */
  stored?: number
  /** How long a long load lasts; not given: as long as the measure thinks right. */
  minutes?: number
}

/** What a measure is given. */
export interface Bench extends Sizes {
  store: StoreName
  /**
   * Tasks submitted and not finished at once. Enough to fill each commit, where a round trip to the store is long more than
   * where it is short; beyond that a task in flight only lives through more collections.
   */
  inFlight: number
  /** An empty store under this name, as `start` takes it: a path, or a URL. */
  place(name: string): Promise<string>
  /** The same facts written by hand, into an empty database of their own. */
  raw(): Promise<RawStore>
  /** Bytes that a store takes that nobody has open. */
  size(place: string): Promise<number>
  /** What the database server has done so far; null: there is none. */
  look(): Promise<Spent | null>
}

/** Of a database server. */
export interface Spent {
  /** CPU time of all its processes (ms). */
  cpu: number
  /** Bytes of its write-ahead log. */
  wal: number
}

/** What one measure's process reports. */
export interface Outcome {
  name: string
  about: string
  seconds: number
  /** Cores that other processes kept busy meanwhile: the figures are only as good as this is low. */
  others: number
  figures: Figure[]
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = ((sorted.length - 1) * percent) / 100
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN]
  return low + (high - low) * (at - Math.floor(at))
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Opens once as many have passed as it waits for. */
export class Gate {
  readonly open: Promise<void>
  readonly #opened: () => void
  #left: number

  constructor(count: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.open = promise
    this.#opened = resolve
    this.#left = count
    if (count === 0) resolve()
  }

  pass(): void {
    if (--this.#left === 0) this.#opened()
  }
}
