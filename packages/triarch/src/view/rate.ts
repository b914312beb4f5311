import type { TaskState } from '../kernel/state.ts'
import { ruleNow } from '../policy/rate.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { QueuedRow, StateStore } from '../store/port.ts'
import { rateRow, type StoredRate, storedRate } from '../store/rate.ts'
import { clock, span } from './reason.ts'

/** What lets no more attempts begin before then. */
export interface Limiter {
  name: string
  until: Date
  /** The service asked for it. */
  rests: boolean
  limit: number
  /** ms. */
  per: number
}

/** The rate limits of what waits in the queues, by what they are of. */
export async function limiters(
  store: StateStore,
  { work }: QueuedRow,
  { steps }: Pick<TaskState, 'steps'>,
): Promise<ReadonlyMap<string, StoredRate>> {
  const names = new Set<string>()
  for (const { node, queue, step } of work) {
    if (node !== null) continue
    for (const name of namesOf(queue, steps.get(step)?.action)) names.add(name)
  }
  if (names.size === 0) return new Map()
  const rows = await store.breakers({ names: [...names].map(rateRow), count: 1 })
  return new Map(
    [...names].flatMap((name): [string, StoredRate][] => {
      const stored = storedRate(rows.find((row) => row.name === rateRow(name))?.state ?? null)
      return stored ? [[name, stored]] : []
    }),
  )
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
    const until = stored ? Math.max(stored.state.next, stored.state.rests) : 0
    if (!stored || until <= now) return []
    const { limit, per } = ruleNow(stored.rule, stored.hand, now)
    return [{ name, until: new Date(Math.ceil(until)), rests: stored.state.rests > now, limit, per }]
  })
  return found.sort((a, b) => b.until.getTime() - a.until.getTime())[0] ?? null
}

/** Limits over what waits in the queue: of the agent and of the action, and of its key. */
export function namesOf(queue: string, action: string | null | undefined): string[] {
  const agent = agentOfQueue(queue)
  const of = action ? [agent, action] : [agent]
  return queue === agent ? of : of.flatMap((name) => [name, name + queue.slice(agent.length)])
}

export function limiterText({ name, until, rests, limit, per }: Limiter): string {
  const why = rests ? 'its service asked for a rest' : `${limit.toLocaleString('en')} attempts in ${spanText(per)}`
  return `the rate limit of ${name} (${why}) lets no more begin before ${clock(until)}`
}

function spanText(ms: number): string {
  return ms % 1_000 === 0 ? span(ms) : `${ms} ms`
}
