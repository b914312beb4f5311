// Where the time comes from that this package needs, and nowhere else in it.

/** Wall clock, ms since the epoch. */
export function now(): number {
  return Date.now()
}

/** Told from all others there ever are. */
export function id(): string {
  return crypto.randomUUID()
}

/** Milliseconds that only grow. */
export function monotonic(): number {
  return performance.now()
}

/** How long the loop of this thread has worked (ms), as far as the runtime tells; 0. */
export function busy(): number {
  return performance.eventLoopUtilization?.().active ?? 0
}

/** Calls back after so many ms, unless what it returns is called before. Keeps no process alive. */
export function timer(ms: number, callback: () => void): () => void {
  const timeout = setTimeout(callback, ms)
  timeout.unref()
  return () => clearTimeout(timeout)
}

/** Calls back after so many ms, unless what it returns is called before. The process lives until then. */
export function alarm(ms: number, callback: () => void): () => void {
  const timeout = setTimeout(callback, ms)
  return () => clearTimeout(timeout)
}

/** Calls back after so many ms, again and again, until what it returns is called. Keeps no process alive. */
export function every(ms: number, callback: () => void): () => void {
  const interval = setInterval(callback, ms)
  interval.unref()
  return () => clearInterval(interval)
}
