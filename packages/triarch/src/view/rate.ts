import { freeAt, ruleNow } from '../policy/rate.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { StoredRate } from '../store/rate.ts'
import { clock, span } from './reason.ts'

/** What lets no more attempts begin before then. */
export interface Limiter {
  name: string
  until: Date
  /** The service asked for it. */
  rests: boolean
  /** Null: there is none, the service asked for it. */
  limit: number | null
  /** ms. */
  per: number
}

/** The one that keeps the action longest; null: none does. */
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

/** Limits over what waits in the queue: of the agent and of the action, and of its key. */
export function namesOf(queue: string, action: string): string[] {
  const agent = agentOfQueue(queue)
  const of = [agent, action]
  return queue === agent ? of : of.flatMap((name) => [name, name + queue.slice(agent.length)])
}

/** The service of an agent without a limit asked for a rest; null: it did not, or that is over. */
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
