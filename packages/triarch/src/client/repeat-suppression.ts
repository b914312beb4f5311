import type { Environment } from '../environment/environment.ts'

/** Most causes remembered. */
const CAUSES = 1_000

/** Suppresses repeated reports of a cause for a while, and counts them. */
export class RepeatSuppression {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #again: number
  readonly #causes = new Map<string, { at: number; more: number }>()

  /** `again`: the same cause is reported again after this long (ms). */
  constructor(environment: Pick<Environment, 'monotonic'>, again: number) {
    this.#environment = environment
    this.#again = again
  }

  /**
   * Whether to report now: the number of reports suppressed since the last one; null: not now. `refused`: whether nothing can be reported
   * at all.
   */
  next(cause: string, refused: () => boolean = () => false): number | null {
    const now = this.#environment.monotonic()
    const known = this.#causes.get(cause)
    if (known && now - known.at < this.#again) {
      known.more++
      return null
    }
    if (refused()) return null
    const first = this.#causes.size >= CAUSES ? this.#causes.keys().next().value : undefined
    if (first !== undefined) this.#causes.delete(first)
    this.#causes.delete(cause)
    this.#causes.set(cause, { at: now, more: 0 })
    return known?.more ?? 0
  }
}

/** The suffix of a repeated report. */
export function andMore(more: number): string {
  return more > 0 ? ` (and ${more} more since it was said last)` : ''
}
