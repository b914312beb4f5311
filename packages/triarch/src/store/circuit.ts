import type { BreakerRule, BreakerState } from '../policy/breaker.ts'
import { objectOf } from './legible.ts'

/** The content of a circuit breaker's row. */
export interface StoredBreaker {
  format: 1
  state: BreakerState
  /** The rule of the node that wrote the row last. */
  rule: BreakerRule
  /** Set if the agent has a breaker for each key; then this row says only that. */
  keyed?: true
}

/** Parses a row; null if it cannot be read. */
export function storedBreaker(text: string): StoredBreaker | null {
  const stored = objectOf<StoredBreaker>(text)
  return stored?.format === 1 ? stored : null
}
