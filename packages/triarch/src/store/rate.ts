import type { RateRule, RateState } from '../policy/rate.ts'
import { objectOf } from './legible.ts'

/** What the row of a rate limit holds: it lies beside those of breakers, for it is written in the same way. */
export interface StoredRate {
  format: 'rate-1'
  state: RateState
  /** By which the node reserves that wrote it last. */
  rule: RateRule
}

/** No agent, and no breaker, can be called so. */
const MARK = '~'

/** The row of the rate limit of an agent, or of one of its actions. */
export function rateRow(name: string): string {
  return MARK + name
}

export function isRateRow(name: string): boolean {
  return name.startsWith(MARK)
}

/** Null: it cannot be read, or is the row of a breaker. */
export function storedRate(text: string | null): StoredRate | null {
  const stored = text === null ? null : objectOf<StoredRate>(text)
  const { state, rule } = stored ?? {}
  const sound = [state?.next, state?.rests, rule?.limit, rule?.per, rule?.burst].every(Number.isFinite)
  return stored?.format === 'rate-1' && sound ? stored : null
}
