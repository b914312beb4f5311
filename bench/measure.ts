/** One number a measure found. */
export interface Figure {
  what: string
  value: number
  unit: string
  better: 'higher' | 'lower'
  /** What issue and docs promise: at least, or at most, by `better`. */
  target?: number
  /** The same work done by bare SQLite in the same run, in the same unit. */
  ceiling?: number
  note?: string
}

export interface Measure {
  name: string
  about: string
  run(bench: Bench): Promise<Figure[]>
}

/** What a measure is given. */
export interface Bench {
  /** Tiny sizes: shows that everything works, says nothing about speed. */
  quick: boolean
  /** The measure's own folder, on a real disk; goes when it ends. */
  folder: string
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
