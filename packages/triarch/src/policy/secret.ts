/** A secret with which a store's tokens and tickets are signed. */
export interface Secret {
  /** Counts up. */
  number: number
  /** ms since the epoch. */
  madeAt: number
  /** Until when older secrets remain valid (ms since the epoch); null: without an end. */
  overlapsUntil: number | null
}

/** A new secret signs only after this time (ms), when every process has read it. */
export const SETTLE = 60_000

/** The secrets, newest first, whose signatures are still accepted. */
export function holding<S extends Secret>(secrets: readonly S[], now: number): S[] {
  let until = Number.POSITIVE_INFINITY
  const over = secrets.findIndex(({ overlapsUntil }) => {
    if (until <= now) return true
    until = Math.min(until, overlapsUntil ?? Number.POSITIVE_INFINITY)
    return false
  })
  return over < 0 ? [...secrets] : secrets.slice(0, over)
}

/** The valid secret that signs: the newest one that all processes know. */
export function signing<S extends Secret>(held: readonly S[], now: number): S | undefined {
  const [newest, before] = held
  return newest && before && now < newest.madeAt + SETTLE ? before : newest
}
