import type { Environment } from '../environment/environment.ts'

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

/** The longer it runs, the less a moment of it matters: a twentieth of its time so far is what a crash may cost. */
export function reportEvery(age: number): number {
  return Math.min(REPORT_EVERY.most, Math.max(REPORT_EVERY.least, age / 20))
}
