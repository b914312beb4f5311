/**
 * How much the middle of a bucket may be off, as a share of the duration. The buckets are those of DDSketch (Masson, Rim, Lee: "DDSketch: a
 * fast and fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019): logarithmic, and the same everywhere, so that two
 * histograms are merged by adding what is in each.
 */
export const ACCURACY = 0.05
const GAMMA = (1 + ACCURACY) / (1 - ACCURACY)
const LOG = Math.log(GAMMA)
/** Durations beyond ten years share the last bucket. */
const LAST = Math.ceil(Math.log(10 * 365.25 * 86_400_000) / LOG)

/** The bucket of a duration that is not known. */
export const UNKNOWN = -1

/** The number of the bucket that this duration (ms) is in; 0: up to a millisecond. */
export function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(LAST, Math.ceil(Math.log(ms) / LOG))
}

/** A duration (ms) that is no further than `ACCURACY` from all that are in the bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : (2 * GAMMA ** bucket) / (GAMMA + 1)
}

/** The durations (ms) below which these shares are; null without any. `buckets`: how many are in each. */
export function quantiles(buckets: ReadonlyMap<number, number>, shares: readonly number[]): (number | null)[] {
  const known = [...buckets].filter(([bucket]) => bucket !== UNKNOWN).sort(([a], [b]) => a - b)
  const total = known.reduce((sum, [, count]) => sum + count, 0)
  return shares.map((share) => {
    let left = Math.max(1, Math.ceil(share * total))
    for (const [bucket, count] of known) {
      left -= count
      if (left <= 0) return Math.round(middleOf(bucket))
    }
    return null
  })
}
