import { freeAt, ruleNow } from '../policy/rate.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { StoredRate } from '../store/rate.ts'
import { clock, span } from './reason.ts'

/** A limit that lets no attempt begin before an instant. */
export interface Limiter {
  name: string
  until: Date
  /** The limit is a cooldown that the service asked for. */
  rests: boolean
  /** Null: a cooldown has no limit. */
  limit: number | null
  /** The span of time (ms). */
  per: number
}

/** The limit that holds the action back longest; null: none does. */
export function limiterOf(
  known: ReadonlyMap<string, StoredRate>,
  queue: string,
  action: string,
  now: number,
): Limiter | null {
  const found = namesOf(queue, action).flatMap((name): Limiter[] => {
    const stored = known.get(name)
    const until = stored ? freeAt(stored.state) : 0
    if (!stored || until <= now) return []
    const { limit, per } = ruleNow(stored.rule, stored.hand, now)
    return [{ name, until: new Date(Math.ceil(until)), rests: stored.state.rests > now, limit, per }]
  })
  return found.sort((a, b) => b.until.getTime() - a.until.getTime())[0] ?? null
}

/** The names of the limits that apply to a queue's requests: those of the agent and the action, and of the key. */
export function namesOf(queue: string, action: string): string[] {
  const agent = agentOfQueue(queue)
  const of = [agent, action]
  return queue === agent ? of : of.flatMap((name) => [name, name + queue.slice(agent.length)])
}

/** The cooldown of an agent's service; null: there is none, or it is over. */
export function restOver(rests: ReadonlyMap<string, number>, queue: string, now: number): Limiter | null {
  const found = [agentOfQueue(queue), queue].map((name) => ({ name, until: rests.get(name) ?? 0 }))
  const [last] = found.filter(({ until }) => until > now).sort((a, b) => b.until - a.until)
  return last ? { name: last.name, until: new Date(last.until), rests: true, limit: null, per: 0 } : null
}

export function limiterText({ name, until, rests, limit, per }: Limiter): string {
  if (limit === null) return `the service of ${name} asked for a rest, so that nothing begins before ${clock(until)}`
  const why = rests ? 'its service asked for a rest' : `${limit.toLocaleString('en')} attempts in ${spanText(per)}`
  return `the rate limit of ${name} (${why}) lets no more begin before ${clock(until)}`
}

function spanText(ms: number): string {
  return ms % 1_000 === 0 ? span(ms) : `${ms} ms`
}
