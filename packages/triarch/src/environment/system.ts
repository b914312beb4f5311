import type { Environment } from './environment.ts'
import { uuidv7Source } from './uuid.ts'

/** The real world: the one place where the engine touches Node's clock, timers and randomness. */
export function systemEnvironment(): Environment {
  const now = () => Date.now()
  return {
    now,
    monotonic: () => performance.now(),
    timer(ms, callback) {
      const due = performance.now() + ms
      // Node fires up to 1 ms early and no later than 2^31 ms: both are hidden here, so that timers never fire early.
      let handle: NodeJS.Timeout
      const arm = () => {
        const left = due - performance.now()
        if (left <= 0) callback()
        else handle = setTimeout(arm, Math.min(Math.ceil(left), 0x7fffffff))
      }
      handle = setTimeout(arm, Math.min(Math.ceil(ms), 0x7fffffff))
      return { cancel: () => clearTimeout(handle) }
    },
    soon: (callback) => void setImmediate(callback),
    // A tick queued from inside a microtask runs after the microtask queue is empty.
    drain: (callback) => queueMicrotask(() => process.nextTick(callback)),
    id: uuidv7Source(now, Math.random),
    random: Math.random,
  }
}
