import { type BreakerRule, type BreakerState, type Bucket, merged, PARTS, partLength, partOf } from './breaker.ts'

/** Clocks of nodes are behind the store's by less (ms). */
const SLACK = 5_000
/** No node may be silent about its passes for longer (ms): two of the longest leases. */
const LONGEST_SILENCE = 1_200_000

/** The same in parts of a window of another length: all of a part counts as of its beginning. */
export function reparted(
  window: readonly Bucket[],
  from: Pick<BreakerRule, 'window'>,
  to: Pick<BreakerRule, 'window'>,
): readonly Bucket[] {
  if (from.window === to.window) return window
  const length = partLength(from.window)
  return merged(
    [],
    window.map((bucket) => ({ ...bucket, part: partOf(to, bucket.part * length) })),
  )
}

/**
 * The same by a clock that was put back: what would begin later than now begins now, and lasts as long as it was to last. Without that a breaker
 * would be open, and what a dead node held be missed, for as much longer as the clock was put back.
 */
export function rebased(state: BreakerState, rule: Pick<BreakerRule, 'window'>, now: number): BreakerState {
  const ahead = state.since - now > SLACK ? state.since - now : 0
  const latest = partOf(rule, now) + PARTS
  const isLate = (until: number) => until - ahead > now + LONGEST_SILENCE
  const shares = state.wave?.shares ?? []
  if (ahead === 0 && state.window.every(({ part }) => part <= latest) && !shares.some(({ until }) => isLate(until)))
    return state
  const moved = (until: number) => (isLate(until) ? now + LONGEST_SILENCE : until - ahead)
  return {
    ...state,
    since: state.since - ahead,
    until: state.until === null ? null : state.until - ahead,
    window: state.window.filter(({ part }) => part <= latest),
    wave: state.wave && { ...state.wave, shares: shares.map((one) => ({ ...one, until: moved(one.until) })) },
  }
}
