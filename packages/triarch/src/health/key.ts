import type { Finding } from './finding.ts'
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
  if (left <= 0) return { status: 'critical', message: 'API keys cannot be read, and none is taken any more', observed }
  const message = `API keys cannot be read: those that are known are taken for another ${left} s, and of others nobody can say`
  return { status: 'warning', message, observed }
}
