import type { Network } from './network.ts'

/**
 * Every source of chance the engine has (DESIGN §4.11): clock, timers, ids, randomness. The engine takes them from here
 * and from nowhere else, so it runs unmodified on a virtual clock.
 */
export interface Environment {
  /** Wall clock, ms since the epoch. */
  now(): number
  /** Monotonic clock for waits inside one process, ms. */
  monotonic(): number
  /** Calls back once after `ms`; never early. */
  timer(ms: number, callback: () => void): Timer
  /** Calls back once all I/O and callbacks at hand had their turn: where work is collected into one commit. */
  soon(callback: () => void): void
  /** Calls back when every promise reaction that can run now has run. */
  drain(callback: () => void): void
  /** A new unique, time-ordered id (UUIDv7). */
  id(): string
  /** Uniform in [0, 1). */
  random(): number
  /** What is to be taken from `process.hrtime` to have `monotonic` (ms): threads know the time by it. Absent: they cannot. */
  readonly hrtimeOrigin?: number
  /** Which process this is; absent in virtual worlds. */
  readonly place?: Place
  /** How other processes are reached; absent: they cannot be. */
  readonly network?: Network
  /**
   * Where time does not pass by itself: somebody asks for this result of a task (`bounded`: for some time only), and time
   * may pass for it. Absent: it passes by itself.
   */
  awaited?<T>(task: string, result: Promise<T>, bounded: boolean): Promise<T>
  /** Whether that process surely is no more. Absent, or false: nobody can tell from here. */
  gone?(place: Place): boolean
}

/** A process, told apart from every other one that ever was. */
export interface Place {
  /** The name of the machine. */
  host: string
  /** This run of the machine: another one after each boot. */
  boot: string
  /** Where `pid` counts: processes of one container do not see those of another. */
  space: string
  /** The number of the process. */
  pid: number
  /** When it started, in units of its own; an id may be given again. */
  born: string
}

/** A callback that is to come. */
export interface Timer {
  /** It does not come any more. */
  cancel(): void
  /** It keeps no process from ending. Absent where none could end. */
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
