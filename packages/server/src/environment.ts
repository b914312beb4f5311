// Where the time comes from that this package needs, and nowhere else in it.

/** Wall clock, ms since the epoch. */
export function now(): number {
  return Date.now()
}
