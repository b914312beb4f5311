import type { Environment } from '../environment/environment.ts'
import type { Json } from '../kernel/json.ts'
import { sizeOf } from '../kernel/size.ts'

/** Calls at once, then at most once per `ms` (as it is then), with the latest arguments. */
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

/** Distance between two durable reports of one attempt (ms). */
export const REPORT_EVERY: { least: number; most: number } = { least: 250, most: 60_000 }

/**
 * How long after a report of an attempt the next one comes (ms). The longer it runs, the less a moment of it matters: a twentieth of its time
 * so far is what a crash may cost, a minute at most, and for a new checkpoint up to a quarter, by its size as a part of the largest payload.
 * So the checkpoints of an attempt grow by the logarithm of its time: by four payloads each time that it is e times as old.
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
