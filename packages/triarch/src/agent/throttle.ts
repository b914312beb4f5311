import type { Environment } from '../environment/environment.ts'
import type { Json } from '../kernel/json.ts'
import { sizeOf } from '../kernel/size.ts'

/** Calls at once, then at most once per `ms` (evaluated anew each time), with the latest arguments. */
export function throttle<A extends unknown[]>(
  environment: Environment,
  ms: () => number,
  call: (...args: A) => void,
): (...args: A) => void {
  let latest: A | null = null
  let waiting = false
  const flush = () => {
    waiting = false
    if (!latest) return
    const args = latest
    latest = null
    fire(args)
  }
  const fire = (args: A) => {
    waiting = true
    environment.timer(ms(), flush)
    call(...args)
  }
  return (...args) => {
    if (waiting) latest = args
    else fire(args)
  }
}

/** Bounds of the time between two durable reports of one attempt (ms). */
export const REPORT_EVERY: { least: number; most: number } = { least: 250, most: 60_000 }

/**
 * How long after a report of an attempt the next one is made (ms). A crash may cost a twentieth of the attempt's time so far, at most a
 * minute; for a new checkpoint up to a quarter, in proportion to its size relative to the largest payload. So checkpoints written grow
 * with the logarithm of an attempt's time: about four payloads each time it has become e times as old.
 */
export function pacing(
  environment: Environment,
  of: { readonly startedAt: number; readonly checkpoint: Json | undefined },
  payload: number,
): () => number {
  let reported: Json | undefined
  return () => {
    const age = environment.now() - of.startedAt
    const saved = of.checkpoint === reported ? 0 : Math.min(1, sizeOf(of.checkpoint) / payload)
    reported = of.checkpoint
    return Math.max(REPORT_EVERY.least, Math.min(REPORT_EVERY.most, age / 20), (age / 4) * saved)
  }
}
