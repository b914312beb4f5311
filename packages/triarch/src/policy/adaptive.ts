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
const TOLERANCE = 1.1
/** A window takes away no more than this share of the limit for being slow. */
const STEEPEST = 0.5
/** What is left of the limit where attempts say that the service is ill. */
const BACKOFF = 0.7
/** Such a share of ill answers is everyday life. */
const EVERYDAY = 0.1
/** How much of the way to a smaller limit is gone at a time. */
const SMOOTHING = 0.4
/** The queue that is allowed for, as a multiple of the square root of the limit. */
const QUEUE = 0.3

/**
 * The next limit: less where attempts take longer than they usually do, for then they wait in the service and not here, more where they do not.
 *
 * The gradient of durations is that of TCP Vegas (Brakmo, Peterson 1994) in the form of Netflix's concurrency-limits (`Gradient2Limit`, 2018): what is usual,
 * over what is. A part of the square root of the limit is the queue that is allowed for, and by which it grows: a service that does 16 things well settles at
 * 16 to 20. Illness takes a share away at once (multiplicative decrease; Chiu, Jain 1989). A limit that was not made use of does not grow: nobody knows
 * what more of it would do.
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

/** So many answers say what is usual. */
const ENOUGH = 10
/** How much of the way to what calm attempts took is gone at a time: what is slower is usual after ten times or so. */
const CALMLY = 0.3
/** Attempts that take less than this share of what is usual say that the service has become faster, if they are so many: the mean of fewer scatters. */
const CLEARLY_FASTER = 2 / 3
const MANY = 40

/** What is usual of one kind of attempt (ms), and of how many answers it was learnt. */
export interface Usual {
  ms: number
  count: number
}

/** So many attempts of one kind, and how long they took in all (ms). */
export interface Took {
  count: number
  ms: number
}

export function isLearnt({ count }: Usual): boolean {
  return count >= ENOUGH
}

/** What is usual with the first attempts: each counts as much as those before. What is learnt is changed by many attempts only. */
export function accustomed(before: Usual | undefined, took: number): Usual {
  if (!before) return { ms: took, count: 1 }
  if (isLearnt(before)) return before
  const count = before.count + 1
  return { ms: before.ms + (took - before.ms) / count, count }
}

/** What is usual after attempts beside which as many ran as may: they may have waited in the service, so slower ones say nothing of it. */
export function afterBusy(before: Usual, { count, ms }: Took): Usual {
  const mean = ms / count
  return mean < before.ms * CLEARLY_FASTER ? { ms: mean, count: ENOUGH } : before
}

/** Enough for `afterBusy`. */
export function areMany({ count }: Took): boolean {
  return count >= MANY
}

/** What is usual after attempts beside which few ran: those did not wait. */
export function afterCalm(before: Usual, { count, ms }: Took): Usual {
  const weight = CALMLY * Math.min(1, count / ENOUGH)
  return { ms: before.ms + (ms / count - before.ms) * weight, count: ENOUGH }
}
