import type { Environment } from '../environment/environment.ts'
import type { NodeHeartbeats, NodeRow, StateStore } from '../store/port.ts'
import { LEASE } from '../supervisor/supervisor.ts'
import type { BreakerInfo } from '../view/breaker.ts'
import type { AgentInfo } from '../view/inventory.ts'
import { type KeptEndpoint, keptEndpoint, PROBE_PAGE } from './endpoint.ts'
import type { HealthSettings } from './options.ts'

/** The parts of the engine that checks examine. */
export interface Engine {
  /** Resolves to the opened store. */
  store(): Promise<StateStore>
  environment: Environment
  /** The machine's own clock. */
  machine: Pick<Environment, 'now'>
  settings: HealthSettings
  /** The node of this process; undefined: it plays no role. */
  node(): string | undefined
  /** The last time that the event loop was blocked: for how long (ms), and when that was noticed, by the monotonic clock; null: never. */
  blocked(): { at: number; ms: number } | null
  /** Whether it has begun to stop. */
  stopping(): boolean
  /** How API keys are known here; null: keys are not used. */
  keys(): { age: number; failure: unknown; grace: number } | null
  agents(cursor: string | undefined): Promise<{ agents: AgentInfo[]; next?: string }>
  breakers(cursor: string | undefined): Promise<{ breakers: BreakerInfo[]; next?: string }>
}

/** Largest number of pages that one check reads of a list. */
const MOST_PAGES = 10

/** Data that the checks of one report share; each is read once, when the first check needs it. */
export class HealthReads {
  readonly engine: Engine
  #nodes: Promise<NodeRow[]> | null = null
  #heartbeats: Promise<NodeHeartbeats> | null = null
  #agents: Promise<AgentInfo[]> | null = null
  #probes: Promise<KeptEndpoint[]> | null = null

  constructor(engine: Engine) {
    this.engine = engine
  }

  nodes(): Promise<NodeRow[]> {
    this.#nodes ??= this.engine.store().then((store) => store.nodes())
    return this.#nodes
  }

  heartbeats(): Promise<NodeHeartbeats> {
    this.#heartbeats ??= this.engine.store().then((store) => store.heartbeats(LEASE))
    return this.#heartbeats
  }

  agents(): Promise<AgentInfo[]> {
    this.#agents ??= paged(async (cursor) => {
      const { agents: items, ...rest } = await this.engine.agents(cursor)
      return { items, ...rest }
    })
    return this.#agents
  }

  /** The first thousand endpoints by name; a prober has no more. */
  probes(): Promise<KeptEndpoint[]> {
    this.#probes ??= this.engine
      .store()
      .then((store) => store.probes({ after: '', limit: PROBE_PAGE, results: false }))
      .then((rows) => rows.flatMap((row) => keptEndpoint(row) ?? []))
    return this.#probes
  }

  breakers(): Promise<BreakerInfo[]> {
    return paged(async (cursor) => {
      const { breakers: items, ...rest } = await this.engine.breakers(cursor)
      return { items, ...rest }
    })
  }
}

async function paged<T>(read: (cursor: string | undefined) => Promise<{ items: T[]; next?: string }>): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const { items, next } = await read(cursor)
    all.push(...items)
    cursor = next
    if (cursor === undefined) break
  }
  return all
}
