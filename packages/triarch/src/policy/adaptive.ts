/** Between which bounds a limit may move. */
export interface AdaptiveRule {
  least: number
  most: number
}

/** What a window of attempts showed. */
export interface Observed {
  /** Attempts whose end says something about the service. */
  answers: number
  /** Of them, how many say that it is ill. */
  ill: number
  /** How long the others took, as a multiple of what is usual, on average; null: all were ill. */
  slowness: number | null
  /** Most that ran at a time. */
  busiest: number
}

/** How much slower than usual is no sign of a queue within the service: durations scatter. */
const TOLERANCE = 1.5
/** A window takes away no more than this share of the limit for being slow. */
const STEEPEST = 0.5
/** What is left of the limit where attempts say that the service is ill. */
const BACKOFF = 0.7
/** Such a share of ill answers is everyday life. */
const EVERYDAY = 0.1
/** How much of the way to the new limit is gone at a time. */
const SMOOTHING = 0.4

/**
 * The next limit: less where attempts take longer than they usually do, for then they wait in the service and not here, more where they do not.
 *
 * The gradient of durations is that of TCP Vegas (Brakmo, Peterson 1994) in the form of Netflix's concurrency-limits (`Gradient2Limit`, 2018): what is usual,
 * over what is. The square root of the limit is the queue that is allowed for, and by which it grows. Illness takes a share away at once (multiplicative decrease;
 * Chiu, Jain 1989). A limit that was not made use of does not grow: nobody knows what more of it would do.
 */
export function adapted(limit: number, seen: Observed, { least, most }: AdaptiveRule): number {
  const bounded = (next: number) => Math.min(most, Math.max(least, next))
  if (seen.answers > 0 && seen.ill / seen.answers > EVERYDAY) return bounded(limit * BACKOFF)
  if (seen.slowness === null) return bounded(limit)
  const gradient = Math.max(STEEPEST, Math.min(1, TOLERANCE / seen.slowness))
  const next = limit * gradient + Math.sqrt(limit)
  if (next > limit && seen.busiest < Math.floor(limit)) return bounded(limit)
  return bounded(limit + (next - limit) * SMOOTHING)
}

/** Slower ones become usual in this time (ms), however many there are: a service that stays overloaded is not well. */
const SLOWLY = 600_000
/** Of faster ones, each counts for so much. */
const FASTER = 1 / 20
/** Of the first ones, each counts as much as those before. */
const FIRST = 10

/** What is usual of one kind of attempt (ms), of how many, and when the last of them ended. */
export interface Usual {
  ms: number
  count: number
  at: number
}

/** What is usual with this one, which ended at `at`. */
export function accustomed(before: Usual | undefined, took: number, at: number): Usual {
  if (!before) return { ms: took, count: 1, at }
  const { ms, count } = before
  const slowly = Math.min(1 / FIRST, Math.max(0, at - before.at) / SLOWLY)
  const weight = count < FIRST ? 1 / (count + 1) : took > ms ? slowly : FASTER
  return { ms: ms + (took - ms) * weight, count: Math.min(count + 1, FIRST), at }
}
