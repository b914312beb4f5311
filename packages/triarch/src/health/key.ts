import { type Finding, finding } from './finding.ts'
import type { HealthReads } from './look.ts'

/** Check: the API keys can be read. If not, known keys are accepted for a grace period, and then none. */
export async function keys(look: HealthReads): Promise<Finding> {
  const state = look.engine.keys()
  if (!state) return { status: 'ok' }
  const { failure, grace } = state
  const age = Math.round(Math.min(state.age, grace))
  const observed = { age }
  if (failure === null) return { status: 'ok', observed }
  const left = Math.ceil((grace - age) / 1_000)
  if (left <= 0) return finding('critical', 'keys-lost', null, observed)
  return finding('warning', 'keys-unread', { seconds: left }, observed)
}
