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
