import type { Environment, Timer } from '../../src/environment/environment.ts'
import { seededRandom } from '../../src/environment/random.ts'

/** An environment whose clock moves only when the test says so. */
export interface HandClock extends Environment {
  advance(ms: number): void
  /** Sets the wall clock forth or back; no time passes. */
  set(ms: number): void
}

export function handClock(start = 1_800_000_000_000): HandClock {
  let time = start
  let off = 0
  let ids = 0
  const timers = new Set<{ due: number; callback: () => void }>()
  return {
    now: () => time + off,
    monotonic: () => time - start,
    timer(ms, callback): Timer {
      const timer = { due: time + ms, callback }
      timers.add(timer)
      return { cancel: () => timers.delete(timer) }
    },
    soon: (callback) => void setImmediate(callback),
    drain: (callback) => queueMicrotask(() => process.nextTick(callback)),
    id: () => `id-${++ids}`,
    random: seededRandom(1),
    set(ms) {
      off += ms
    },
    advance(ms) {
      time += ms
      const due = [...timers].filter((it) => it.due <= time).sort((a, b) => a.due - b.due)
      for (const timer of due) {
        timers.delete(timer)
        timer.callback()
      }
    },
  }
}

/** Whatever is ready has its turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets time pass, `step` ms a turn, until the promise settles: for what may have to wait for another's lock. */
export async function advancing<T>(clock: HandClock, promise: Promise<T>, step = 10): Promise<T> {
  let open = true
  const done = () => {
    open = false
  }
  promise.then(done, done)
  while (open) {
    await turn()
    if (open) clock.advance(step)
  }
  return promise
}
