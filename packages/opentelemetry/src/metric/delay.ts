import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Whoever reads within this long (ms) of another sees what that one saw. */
export const WINDOW = 60_000
/** Looks closer together than this are one slice of the window (ms): it has a bounded number of them. */
const SLICE = 1_000

/**
 * How long the event loop kept a timer waiting, at worst, in the last minute; since the last look, if that is longer ago. A look takes nothing
 * away from who looks next: readers of metrics cannot be told apart, and each has its own interval.
 */
export class LoopDelay {
  #monitor: ReturnType<typeof monitorEventLoopDelay> | null
  #slices: { from: number; to: number; worst: number }[] = []
  #looked: number | null = null

  constructor(monitor = monitorEventLoopDelay({ resolution: 20 })) {
    this.#monitor = monitor
    monitor.enable()
  }

  /** In seconds; null: nothing was seen yet. */
  read(now: number): number | null {
    const monitor = this.#monitor
    if (!monitor) return null
    if (monitor.count > 0) {
      this.#add(now, Math.max(0, monitor.max / 1e9))
      monitor.reset()
    }
    this.#looked = now
    // One that ended before the window began is over; the newest is always told.
    this.#slices = this.#slices.filter(({ to }, i) => i === this.#slices.length - 1 || to > now - WINDOW)
    return this.#slices.length === 0 ? null : Math.max(...this.#slices.map(({ worst }) => worst))
  }

  close(): void {
    this.#monitor?.disable()
    this.#monitor = null
  }

  #add(now: number, worst: number): void {
    const last = this.#slices.at(-1)
    if (last && now - last.from < SLICE) {
      last.to = now
      last.worst = Math.max(last.worst, worst)
    } else this.#slices.push({ from: this.#looked ?? now, to: now, worst })
  }
}
