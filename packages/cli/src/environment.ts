// Where the time comes from that this package needs, and nowhere else in it.

/** Wall clock, ms since the epoch. */
export function now(): number {
  return Date.now()
}

/** Calls back after so many ms, unless what it returns is called before. */
export function timer(ms: number, callback: () => void): () => void {
  const timeout = setTimeout(callback, Math.min(ms, 2 ** 31 - 1))
  return () => clearTimeout(timeout)
}

/** Calls back after so many ms, again and again, until what it returns is called. */
export function every(ms: number, callback: () => void): () => void {
  const interval = setInterval(callback, ms)
  return () => clearInterval(interval)
}
