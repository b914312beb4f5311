import type { RateHand, RateMove, RateRule, RateState, Spare } from '../policy/rate.ts'
import { endOfKeys, KEYED } from './breaker.ts'
import { objectOf } from './legible.ts'

/** What the row of a rate limit holds: it lies beside those of breakers, for it is written in the same way. */
export interface StoredRate {
  format: 'rate-1'
  state: RateState
  /** By which the node reserves that wrote it last, where no operator says otherwise. */
  rule: RateRule
  /** What an operator says. */
  hand?: RateHand
  /** And what operators said before, oldest first. */
  moves?: RateMove[]
}

/** What waits under a rate limit. */
export interface RateLine {
  /** Of the limit. */
  name: string
  /** What waits in this queue, */
  queue: string
  /** and in those of the agent's keys, whose names are above this; null: it is the limit of one key. */
  above: string | null
  /** And below this. */
  below: string | null
  /** Null: whatever the action. */
  action: string | null
}

/** By its name: `agent`, `agent.action`, and each of them with `#key`. */
export function rateLine(name: string): RateLine {
  const at = name.indexOf(KEYED)
  const of = at < 0 ? name : name.slice(0, at)
  const dot = of.indexOf('.')
  const agent = dot < 0 ? of : of.slice(0, dot)
  const keys = at < 0 ? { above: agent + KEYED, below: endOfKeys(agent) } : { above: null, below: null }
  return { name, queue: at < 0 ? agent : agent + name.slice(at), ...keys, action: dot < 0 ? null : of }
}

/** Null: it cannot be read. */
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
