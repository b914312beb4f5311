/** The bounds within which a limit may move. */
export interface AdaptiveRule {
  least: number
  most: number
}

/** Observations of one window of attempts. */
export interface Observed {
  /** Attempts whose end tells something about the service's health. */
  answers: number
  /** How many of the answers show an unhealthy service. */
  ill: number
  /** Average duration of the healthy answers as a multiple of the usual one; null: there were none. */
  slowness: number | null
  /** Most attempts that ran at a time. */
  busiest: number
}

/** Being slower than usual up to this factor is no sign of a queue inside the service, because durations scatter. */
const TOLERANCE = 1.1
/** One window reduces the limit because of slowness to no less than this share. */
const STEEPEST = 0.5
/** Share of the limit that is kept when the service is unhealthy. */
const BACKOFF = 0.7
/** Up to this share of unhealthy answers is normal. */
const EVERYDAY = 0.1
/** How much of the way to a smaller limit is taken at a time. */
const SMOOTHING = 0.4
/** The queue that is allowed for, as a multiple of the square root of the limit. */
const QUEUE = 0.3

/**
 * Computes the next limit: lower if attempts take longer than usual, because then they queue inside the service instead of here, higher if
 * they do not.
 *
 * The gradient of durations is that of TCP Vegas (Brakmo, Peterson 1994) in the form of Netflix's concurrency-limits (`Gradient2Limit`,
 * 2018): the usual duration over the observed one. The queue that is allowed for, and by which the limit grows, is a part of the square
 * root of the limit: a service that handles 16 requests well settles at 16 to 20. An unhealthy service reduces the limit by a share at once
 * (multiplicative decrease; Chiu, Jain 1989). A limit that was not reached does not grow, because the effect of a higher one is unknown.
 */
export function adapted(limit: number, seen: Observed, { least, most }: AdaptiveRule): number {
  const bounded = (next: number) => Math.min(most, Math.max(least, next))
  if (seen.answers > 0 && seen.ill / seen.answers > EVERYDAY) return bounded(limit * BACKOFF)
  if (seen.slowness === null) return bounded(limit)
  const gradient = Math.max(STEEPEST, Math.min(1, TOLERANCE / seen.slowness))
  const next = limit * gradient + QUEUE * Math.sqrt(limit)
  if (next < limit) return bounded(limit + (next - limit) * SMOOTHING)
  return bounded(seen.busiest < Math.floor(limit) ? limit : next)
}

/** Number of answers after which the usual duration is known. */
const ENOUGH = 10
/** How much of the way to the duration of calm attempts is taken at a time: a slower duration is the usual one after ten times or so. */
const CALMLY = 0.3
/**
 * Attempts that take less than this share of the usual duration show that the service has become faster, if there are MANY of them: the
 * mean of fewer scatters.
 */
const CLEARLY_FASTER = 2 / 3
const MANY = 40

/** The usual duration of one kind of attempt (ms), and the number of answers it was learnt from. */
export interface Usual {
  ms: number
  count: number
}

/** A number of attempts of one kind, and their total duration (ms). */
export interface Took {
  count: number
  ms: number
}

export function isLearnt({ count }: Usual): boolean {
  return count >= ENOUGH
}

/** Learns the usual duration from the first attempts, as their mean. Once it is known, single attempts do not change it. */
export function accustomed(before: Usual | undefined, took: number): Usual {
  if (!before) return { ms: took, count: 1 }
  if (isLearnt(before)) return before
  const count = before.count + 1
  return { ms: before.ms + (took - before.ms) / count, count }
}

/**
 * The usual duration after attempts that ran at the full limit. They may have queued inside the service, so only clearly faster ones are
 * taken into account.
 */
export function afterBusy(before: Usual, { count, ms }: Took): Usual {
  const mean = ms / count
  return mean < before.ms * CLEARLY_FASTER ? { ms: mean, count: ENOUGH } : before
}

/** Whether there are enough attempts for `afterBusy`. */
export function areMany({ count }: Took): boolean {
  return count >= MANY
}

/** The usual duration after attempts that ran beside few others and so did not queue. */
export function afterCalm(before: Usual, { count, ms }: Took): Usual {
  const weight = CALMLY * Math.min(1, count / ENOUGH)
  return { ms: before.ms + (ms / count - before.ms) * weight, count: ENOUGH }
}
