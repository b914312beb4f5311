/** A secret by which a store's tokens and tickets are signed. */
export interface Secret {
  /** Counts up. */
  number: number
  /** ms since the epoch. */
  madeAt: number
  /** Until when those before it hold (ms since the epoch); null: without an end. */
  overlapsUntil: number | null
}

/** A new secret signs after so long (ms): by then every process has read it. */
export const SETTLE = 60_000

/** Of secrets, the newest first, those that hold: what is signed by them is taken. */
export function holding<S extends Secret>(secrets: readonly S[], now: number): S[] {
  let until = Number.POSITIVE_INFINITY
  const over = secrets.findIndex(({ overlapsUntil }) => {
    if (until <= now) return true
    until = Math.min(until, overlapsUntil ?? Number.POSITIVE_INFINITY)
    return false
  })
  return over < 0 ? [...secrets] : secrets.slice(0, over)
}

/** Of those that hold, the one that signs: the newest, once all processes know it. */
export function signing<S extends Secret>(held: readonly S[], now: number): S | undefined {
  const [newest, before] = held
  return newest && before && now < newest.madeAt + SETTLE ? before : newest
}
