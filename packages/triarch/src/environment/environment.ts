import type { Network } from './network.ts'

/**
 * Every source of nondeterminism of the engine: clock, timers, ids, randomness. The engine uses no other, so it runs unmodified on a
 * virtual clock.
 */
export interface Environment {
  /** Wall clock, ms since the epoch. */
  now(): number
  /** Monotonic clock for waits inside one process, ms. */
  monotonic(): number
  /** Calls back once after `ms`; never early. */
  timer(ms: number, callback: () => void): Timer
  /** Calls back once all pending I/O and callbacks have been handled; used to collect work into one commit. */
  soon(callback: () => void): void
  /** Calls back when every promise reaction that can run now has run. */
  drain(callback: () => void): void
  /** A new unique, time-ordered id (UUIDv7). */
  id(): string
  /** Uniform in [0, 1). */
  random(): number
  /** The difference between `process.hrtime` and `monotonic` (ms), from which threads compute the time. Absent: they cannot. */
  readonly hrtimeOrigin?: number
  /** Identifies this process; absent in virtual worlds. */
  readonly place?: ProcessIdentity
  /** Connects to other processes; absent: they cannot be reached. */
  readonly network?: Network
  /**
   * For environments where time does not pass by itself: a caller awaits this result of a task (`bounded`: with a timeout), so time may
   * pass for it. Absent: time passes by itself.
   */
  awaited?<T>(task: string, result: Promise<T>, bounded: boolean): Promise<T>
  /** Whether that process has certainly ended. Absent, or false: unknown. */
  gone?(place: ProcessIdentity): boolean
}

/** Identifies a process among all that ever ran. */
export interface ProcessIdentity {
  /** The name of the machine. */
  host: string
  /** The current boot of the machine. */
  boot: string
  /** The namespace of `pid`: processes of one container do not see those of another. */
  space: string
  /** The number of the process. */
  pid: number
  /** When it started, in units of the machine; it is needed because process ids are reused. */
  born: string
}

/** A pending callback. */
export interface Timer {
  /** Cancels the callback. */
  cancel(): void
  /** Lets the process end although the callback is pending. Absent if no process could end. */
  unref?(): void
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function delay(environment: Environment, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    const timer = environment.timer(ms, done)
    const abort = () => {
      timer.cancel()
      resolve()
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
