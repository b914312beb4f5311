import type { BreakerRule, BreakerState } from '../policy/breaker.ts'
import { objectOf } from './legible.ts'

/** What the row of a breaker holds. */
export interface StoredBreaker {
  format: 1
  state: BreakerState
  /** By which the node judges that wrote it last. */
  rule: BreakerRule
  /** The agent has one for each key; this row only says so. */
  keyed?: true
}

/** Null: it cannot be read. */
export function storedBreaker(text: string): StoredBreaker | null {
  const stored = objectOf<StoredBreaker>(text)
  return stored?.format === 1 ? stored : null
}
