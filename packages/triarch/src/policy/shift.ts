import { type BreakerRule, type BreakerState, type Bucket, mergedWindow, PARTS, partLength, partOf } from './breaker.ts'

/** Clocks of nodes are at most this far behind the store's (ms). */
const SLACK = 5_000
/** No node may hold passes without a report for longer (ms): two of the longest leases. */
const LONGEST_SILENCE = 1_200_000

/** Converts a window to parts of another length; a part's counts are placed at its beginning. */
export function reparted(
  window: readonly Bucket[],
  from: Pick<BreakerRule, 'window'>,
  to: Pick<BreakerRule, 'window'>,
): readonly Bucket[] {
  if (from.window === to.window) return window
  const length = partLength(from.window)
  return mergedWindow(
    [],
    window.map((bucket) => ({ ...bucket, part: partOf(to, bucket.part * length) })),
  )
}

/**
 * Adapts the state to a clock that was set back: what would begin in the future begins now and lasts as long as intended. Otherwise the
 * breaker would stay open, and the passes of a dead node would be awaited, for as much longer as the clock was set back.
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
