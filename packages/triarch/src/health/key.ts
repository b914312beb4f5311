import { type Finding, finding } from './finding.ts'
import type { Look } from './look.ts'

/** Whoever guards a way to this engine by keys can read them; else those that are known hold for a while, and then none. */
export async function keys(look: Look): Promise<Finding> {
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
