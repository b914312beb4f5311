import { agentOfQueue, refsOf } from '../store/breaker.ts'
import { restsOver, storedRest } from '../store/cooldown.ts'
import type { BreakerKind, NodeRow, ParkedRow, PermitRow, StateStore } from '../store/port.ts'
import { type StoredRate, storedRate } from '../store/rate.ts'
import { type BreakerInfo, breakerInfo } from './breaker.ts'
import { agentPauses, type NodePause, type SettingPause } from './pause.ts'
import { type FullBound, fullBoundOf } from './permit.ts'
import { type Limiter, limiterOf, namesOf, restOver } from './rate.ts'

/** The queue and action of a request that has not been taken. */
export type UntakenRequest = Pick<ParkedRow, 'queue' | 'action'>

/** The reason for which a request is not taken. */
export type Hindrance =
  | { code: 'no-agent' }
  | { code: 'agent-paused'; pause: SettingPause }
  | { code: 'breaker'; breaker: BreakerInfo }
  | { code: 'rate-limit'; limiter: Limiter }
  | { code: 'concurrency'; full: FullBound }

/** Everything that may keep the given requests from being taken, read once for all of them. */
export interface Hindrances {
  now: number
  /** The living nodes. */
  nodes: readonly NodeRow[]
  /** Pauses, by agent. */
  paused: ReadonlyMap<string, NodePause>
  /** Circuit breakers that are not closed, by the queues that they hold. */
  breakers: ReadonlyMap<string, BreakerInfo>
  /** Rate limits, by agent or action. */
  rates: ReadonlyMap<string, StoredRate>
  /** Ends of cooldowns that services asked for (ms since the epoch), by queue. */
  rests: ReadonlyMap<string, number>
  /** Limits over all nodes without a free permit, by agent or action. */
  full: ReadonlyMap<string, PermitRow>
  /** Number of requests that wait in each queue, counted up to `count`. */
  waiting: ReadonlyMap<string, number>
}

/** Reads the hindrances. `count`: requests of each queue are counted up to this number. */
export async function hindrancesOf(
  store: StateStore,
  waits: readonly UntakenRequest[],
  { now, nodes, count }: Pick<Hindrances, 'now' | 'nodes'> & { count: number },
): Promise<Hindrances> {
  const queues = [...new Set(waits.map(({ queue }) => queue))]
  const limits = [...new Set(waits.flatMap(({ queue, action }) => namesOf(queue, action)))]
  const agents = [...new Set(queues.map(agentOfQueue))]
  if (queues.length === 0)
    return {
      ...{ now, nodes, paused: new Map(), breakers: new Map() },
      rates: new Map(),
      rests: new Map(),
      full: new Map(),
      waiting: new Map(),
    }
  const [rows, seats, paused] = await Promise.all([
    store.breakers({
      refs: [
        ...refsOf('breaker', queues),
        ...refsOf('rate', limits),
        ...refsOf('rest', new Set(queues.flatMap(restsOver))),
      ],
      count,
    }),
    store.permits(limits),
    agentPauses(store, agents, nodes),
  ])
  const of = (kind: BreakerKind) => rows.filter((row) => row.kind === kind)
  const [rates, queued] = [of('rate'), of('breaker')]
  const infos = queued.map((row) => breakerInfo(row, now))
  return {
    ...{ now, nodes, paused },
    breakers: new Map(infos.flatMap((info) => (info && info.state !== 'closed' ? [[info.name, info]] : []))),
    rates: new Map(
      limits.flatMap((name): [string, StoredRate][] => {
        const stored = storedRate(rates.find((row) => row.name === name)?.state ?? null)
        return stored ? [[name, stored]] : []
      }),
    ),
    rests: new Map(of('rest').map(({ name, state }) => [name, storedRest(state)])),
    full: new Map(seats.filter(({ taken, most }) => taken >= most).map((row) => [row.name, row])),
    waiting: new Map(queued.map(({ name, waiting }) => [name, waiting])),
  }
}

/** The first hindrance that applies; null: the request only waits for a free slot. */
export function hindranceOf(known: Hindrances, { queue, action }: UntakenRequest): Hindrance | null {
  const { now, nodes, paused, breakers, rates, rests, full, waiting } = known
  // A node that does not report its actions is taken to have the action.
  if (!nodes.some(({ roles, runs }) => roles.includes('agent') && (runs?.actions.includes(action) ?? true)))
    return { code: 'no-agent' }
  const pause = paused.get(agentOfQueue(queue))
  if (pause?.everywhere) return { code: 'agent-paused', pause: pause.pause }
  const breaker = breakers.get(queue)
  if (breaker) return { code: 'breaker', breaker }
  const limiter = restOver(rests, queue, now) ?? limiterOf(rates, queue, action, now)
  if (limiter) return { code: 'rate-limit', limiter }
  const bound = fullBoundOf({ bounds: full, waiting }, queue, action)
  return bound ? { code: 'concurrency', full: bound } : null
}
