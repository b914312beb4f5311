import { TriarchError } from '../error/error.ts'
import type { Fallback } from '../kernel/step/policy.ts'
import { checkOptions } from '../value/options.ts'
import { capabilities } from './action.ts'
import type { Action, WhenOpen } from './definition.ts'
import { toRecordedPolicy } from './policy.ts'

/** Checks `whenOpen` and its chain of fallbacks. Throws UNKNOWN_OPTION, UNKNOWN_ACTION, INVALID_OPTION. */
export function checkWhenOpen(action: Pick<Action, 'agent' | 'key' | 'definition'>): void {
  const { agent, key, definition } = action
  const { whenOpen, plan, finalize } = definition
  const refuse = (why: string): never => {
    throw new TriarchError('INVALID_OPTION', `${key}: whenOpen ${why}`)
  }
  if (agent.circuitBreaker === undefined) refuse(`needs a circuit breaker: agent "${agent.name}" has none`)
  if (whenOpen === 'park' || whenOpen === 'fail') return
  if (typeof whenOpen !== 'object' || whenOpen === null) return refuse('must be "park", "fail" or { fallback: action }')
  checkOptions(`${key}: whenOpen`, whenOpen, ['fallback'])
  if (plan !== undefined) refuse('has no fallback for what plans other actions')
  if (finalize !== undefined) refuse('has no fallback for what finalizes: only its own run is known to it')
  const before = [agent.name]
  for (let next: WhenOpen | undefined = whenOpen; typeof next === 'object'; ) {
    const { fallback }: { fallback: Action } = next
    if (typeof fallback?.key !== 'string' || typeof fallback.agent?.name !== 'string')
      throw new TriarchError('UNKNOWN_ACTION', `${key}: whenOpen.fallback: give what agent.action() returned`)
    const { plan, finalize, batch } = fallback.definition
    if (plan !== undefined || finalize !== undefined || batch !== undefined)
      refuse(`cannot fall back on ${fallback.key}: it plans, finalizes or is a batch`)
    if (before.includes(fallback.agent.name))
      refuse(
        `cannot fall back on ${fallback.key}: it is behind the circuit breaker of agent "${fallback.agent.name}" again`,
      )
    before.push(fallback.agent.name)
    next = fallback.definition.whenOpen
  }
}

/** The fallback as it is recorded. */
export function toFallback(action: Action): Fallback {
  return { action: action.key, policy: toRecordedPolicy(action, undefined, undefined, capabilities(action.definition)) }
}
