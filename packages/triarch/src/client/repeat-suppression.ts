import type { Environment } from '../environment/environment.ts'

/** Causes remembered, at most. */
const CAUSES = 1_000

/** Who says something once does not say it again before a while has passed, but how often it was the case meanwhile. */
export class RepeatSuppression {
  readonly #environment: Pick<Environment, 'monotonic'>
  readonly #again: number
  readonly #causes = new Map<string, { at: number; more: number }>()

  /** `again`: after how long the same cause is told again (ms). */
  constructor(environment: Pick<Environment, 'monotonic'>, again: number) {
    this.#environment = environment
    this.#again = again
  }

  /** How often it was not told since it was told last; null: it was told a moment ago. `refused`: nobody may be told now. */
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

/** What is added to what is told again. */
export function andMore(more: number): string {
  return more > 0 ? ` (and ${more} more since it was said last)` : ''
}
