import type { RateHand, RateMove, RateRule, RateState, Spare } from '../policy/rate.ts'
import { endOfKeys, KEYED } from './breaker.ts'
import { objectOf } from './legible.ts'

/** The content of a rate limit's row. It is stored with the circuit breakers because it is written in the same way. */
export interface StoredRate {
  format: 'rate-1'
  state: RateState
  /** The rule of the node that wrote the row last, used unless an operator set another. */
  rule: RateRule
  /** The setting of an operator. */
  hand?: RateHand
  /** Earlier settings of operators, oldest first. */
  moves?: RateMove[]
}

/** Selects the requests that wait under a rate limit. */
export interface RateLine {
  /** The name of the limit. */
  name: string
  /** The queue of the agent, or of the one key. */
  queue: string
  /** For a limit of the whole agent, also the queues of its keys, whose names are above this; null: it is the limit of one key. */
  above: string | null
  /** The upper bound of those names. */
  below: string | null
  /** The action; null: any. */
  action: string | null
}

/** Derives it from the name of the limit: `agent`, `agent.action`, and each of them with `#key`. */
export function rateLine(name: string): RateLine {
  const at = name.indexOf(KEYED)
  const of = at < 0 ? name : name.slice(0, at)
  const dot = of.indexOf('.')
  const agent = dot < 0 ? of : of.slice(0, dot)
  const keys = at < 0 ? { above: agent + KEYED, below: endOfKeys(agent) } : { above: null, below: null }
  return { name, queue: at < 0 ? agent : agent + name.slice(at), ...keys, action: dot < 0 ? null : of }
}

/** Parses a row; null if it cannot be read. */
export function storedRate(text: string | null): StoredRate | null {
  const stored = text === null ? null : objectOf<StoredRate>(text)
  const { state, rule } = stored ?? {}
  const sound = [state?.next, state?.rests, rule?.limit, rule?.per, rule?.burst].every(Number.isFinite)
  if (stored?.format !== 'rate-1' || !sound) return null
  const { next, rests, spare } = stored.state
  return spare === undefined || isSpare(spare) ? stored : { ...stored, state: { next, rests } }
}

function isSpare({ next, spans }: Partial<Spare>): boolean {
  return (
    Number.isFinite(next) && Array.isArray(spans) && spans.every((it) => it?.length === 2 && it.every(Number.isFinite))
  )
}
