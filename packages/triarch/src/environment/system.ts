import { getHeapStatistics } from 'node:v8'
import { CallContext } from './context.ts'
import { drainer } from './drain.ts'
import type { Environment, Timer } from './environment.ts'
import { isGone, thisPlace } from './place.ts'
import { tlsNetwork } from './tls.ts'
import { uuidv7Source } from './uuid.ts'

/** The real environment, the only place where the engine uses Node's clock, timers and randomness. */
export function systemEnvironment(): Environment {
  const now = () => Date.now()
  const place = thisPlace()
  return {
    ...(place && { place, gone: (other) => isGone(other, place) }),
    now,
    monotonic: () => performance.now(),
    timer: (ms, callback) => new SystemTimer(ms, callback),
    // The callback runs without an async context, so that it neither sees nor keeps alive that of the caller.
    soon: (callback) => void CallContext.none.run(() => setImmediate(callback)),
    drain: drainer(),
    id: uuidv7Source(now, Math.random),
    random: Math.random,
    network: tlsNetwork(),
    hrtimeOrigin: Number(process.hrtime.bigint()) / 1e6 - performance.now(),
  }
}

/** Largest size of this process's heap (bytes). */
export function heapLimit(): number {
  return getHeapStatistics().heap_size_limit
}

/**
 * A timer that never fires early. Node fires up to 1 ms early, and cannot wait longer than 2
 * 31 ms.
 */
class SystemTimer implements Timer {
  readonly #due: number
  readonly #callback: () => void
  #handle: NodeJS.Timeout

  constructor(ms: number, callback: () => void) {
    this.#due = performance.now() + ms
    this.#callback = callback
    this.#handle = CallContext.none.run(() => this.#arm(ms))
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }

  unref(): void {
    this.#handle.unref()
  }

  #arm(ms: number): NodeJS.Timeout {
    return setTimeout(SystemTimer.#ring, Math.min(Math.ceil(ms), 0x7fffffff), this)
  }

  static #ring(alarm: SystemTimer): void {
    const left = alarm.#due - performance.now()
    if (left <= 0) alarm.#callback()
    else alarm.#handle = alarm.#arm(left)
  }
}
