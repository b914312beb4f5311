/**
 * Largest relative error of the middle of a bucket. The buckets are those of DDSketch (Masson, Rim, Lee: "DDSketch: a fast and
 * fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019): logarithmic, and the same everywhere, so that two histograms
 * are merged by adding the counts of their buckets.
 */
export const ACCURACY = 0.05
const GAMMA = (1 + ACCURACY) / (1 - ACCURACY)
const LOG = Math.log(GAMMA)
/** Durations beyond ten years share the last bucket. */
const LAST = Math.ceil(Math.log(10 * 365.25 * 86_400_000) / LOG)

/** The bucket of an unknown duration. */
export const UNKNOWN = -1

/** The bucket of a duration (ms); 0: up to a millisecond. */
export function bucketOf(ms: number): number {
  return ms <= 1 ? 0 : Math.min(LAST, Math.ceil(Math.log(ms) / LOG))
}

/** A duration (ms) that differs by at most `ACCURACY` from all in the bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : (2 * GAMMA ** bucket) / (GAMMA + 1)
}

/** The durations (ms) at these quantiles; null if there are none. `buckets`: the count of each. */
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
