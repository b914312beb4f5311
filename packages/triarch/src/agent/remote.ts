import { MIN_PROCESS_AGE_MS } from '../flow/probation.ts'
import type { Outcome } from '../kernel/message.ts'
import type { RequestMark, StepRequest, WorkItem } from '../store/port.ts'
import { agentOf } from '../value/name.ts'
import type { Attempt, AttemptOptions, Relay, Relayed } from './attempt.ts'

/** What one remote process runs of one agent. */
export interface Offer {
  agent: string
  /** Most attempts at a time. */
  slots: number
  /** The actions, as step requests name them. */
  actions: readonly string[]
}

/** A connection to a remote process that runs attempts. */
export interface AgentLink {
  /** How long the process has been connected (ms). */
  readonly age: number
  /** Takes the attempt, which counts as one slot until `freed` is called. `under`: the name under which it already runs there. */
  give(attempt: Attempt, options: AttemptOptions, terms: { freed: () => void; under: string | undefined }): Relayed
}

/** What all remote processes together run of one agent. */
export interface Offered {
  agent: string
  actions: readonly string[]
  /** Most attempts at a time. */
  most: number
}

/** The node that remote agents currently work for. */
export interface RemoteNode {
  id: string
  offered(offers: readonly Offered[]): void
  /** The agent has not been offered for long. Drops its host; returns false if an attempt of it still runs. */
  forgotten(agent: string): boolean
  adopted(item: WorkItem): void
}

/** One agent's slots on one link. */
interface LinkSlots {
  link: AgentLink
  slots: number
  actions: ReadonlySet<string>
  taken: number
}

/** Agents that are no longer offered but still remembered, so that a process that comes back finds its host as it was. */
const MOST_EMPTY = 100

/** Delay before a request that found no free slot is made again (ms). */
const NO_ROOM = 250

/**
 * Keeps which links offer which agents, and chooses the link for each attempt. A node has a host for each of these agents; when fenced,
 * the node is replaced and this object stays.
 */
export class Remotes implements Relay {
  readonly #places = new Map<string, LinkSlots[]>()
  /** Agents that no link offers, the longest unoffered first. */
  readonly #empty = new Set<string>()
  readonly #coming = new Map<string, { link: AgentLink; under: string }>()
  #node: RemoteNode | null = null
  readonly lease: number
  /** Requests without a free slot wait in their agent's queue, from which the agent's own nodes take them. */
  readonly #queued: boolean

  /** `lease`: how long an attempt is awaited without a heartbeat after its server died (ms). */
  constructor(lease: number, { queued = false }: { queued?: boolean } = {}) {
    this.lease = lease
    this.#queued = queued
  }

  /** Converts an outcome from a remote process into one for this node. */
  judged(agent: string, outcome: Outcome): Outcome {
    return this.#queued && outcome.kind === 'withdrawn' ? { kind: 'withdrawn', lane: agent } : outcome
  }

  /** Id of the bound node; null: no node here hosts agents now. */
  get node(): string | null {
    return this.#node?.id ?? null
  }

  bind(node: RemoteNode): void {
    this.#node = node
    this.#tell([...this.#places.keys()])
  }

  unbind(): void {
    this.#node = null
  }

  /** Sets what the link offers of these agents; without slots, nothing more. The node is notified once, of all changes. */
  offer(link: AgentLink, offers: readonly Offer[]): void {
    for (const { agent, slots, actions } of offers) {
      const places = this.#places.get(agent) ?? []
      const place = places.find((it) => it.link === link)
      if (place) Object.assign(place, { slots, actions: new Set(actions) })
      else places.push({ link, slots, actions: new Set(actions), taken: 0 })
      this.#places.set(agent, places)
      this.#empty.delete(agent)
    }
    this.#tell(offers.map(({ agent }) => agent))
  }

  /** The link runs nothing more. */
  leave(link: AgentLink): void {
    const left: string[] = []
    for (const [agent, places] of this.#places) {
      const others = places.filter((it) => it.link !== link)
      if (others.length === places.length) continue
      this.#places.set(agent, others)
      left.push(agent)
      if (others.length === 0) this.#empty.add(agent)
    }
    this.#tell(left)
    this.#forget()
  }

  #forget(): void {
    for (const agent of this.#empty) {
      if (this.#empty.size <= MOST_EMPTY) return
      if (this.#node?.forgotten(agent) === false) continue
      this.#empty.delete(agent)
      this.#places.delete(agent)
    }
  }

  /** Goes on with an attempt that the link has from another node and knows by the name `under`. */
  adopt(link: AgentLink, item: WorkItem, under: string): void {
    const key = keyOf(item.request)
    this.#coming.set(key, { link, under })
    const { trial: _, ...request } = item.request
    this.#node?.adopted({ ...item, request })
    this.#coming.delete(key)
  }

  meet(request: StepRequest): Outcome | null {
    return this.#roomFor(request) ? null : this.#noRoom(request)
  }

  #noRoom({ action }: StepRequest): Outcome {
    return this.judged(agentOf(action), { kind: 'withdrawn', after: NO_ROOM })
  }

  #roomFor({ action, trial }: StepRequest): LinkSlots | undefined {
    const all = this.#places.get(agentOf(action)) ?? []
    // An attempt on probation goes only to processes of a certain age: where processes die young, the attempt may not be the cause.
    return roomiest(trial ? all.filter(({ link }) => link.age >= MIN_PROCESS_AGE_MS) : all, action)
  }

  send(attempt: Attempt, options: AttemptOptions): Relayed {
    const { request } = options
    const coming = this.#coming.get(keyOf(request))
    const place = coming
      ? this.#places.get(agentOf(request.action))?.find(({ link }) => link === coming.link)
      : this.#roomFor(request)
    if (!place) {
      attempt.told(this.#noRoom(request), { recorded: () => undefined })
      return { heardAt: Number.NEGATIVE_INFINITY, abort: () => undefined }
    }
    place.taken++
    let taken = true
    const freed = () => {
      if (taken) place.taken--
      taken = false
    }
    return place.link.give(attempt, options, { freed, under: coming?.under })
  }

  /** Takes a slot of the link for an attempt that was not given to it here; returns the function that frees it. */
  occupy(link: AgentLink, action: string): () => void {
    const place = this.#places.get(agentOf(action))?.find((it) => it.link === link)
    if (!place) return () => undefined
    place.taken++
    let taken = true
    return () => {
      if (taken) place.taken--
      taken = false
    }
  }

  #tell(agents: readonly string[]): void {
    this.#node?.offered(
      agents.map((agent) => {
        const places = this.#places.get(agent) ?? []
        const actions = [...new Set(places.flatMap((it) => [...it.actions]))]
        return { agent, actions, most: places.reduce((sum, { slots }) => sum + slots, 0) }
      }),
    )
  }
}

/** The place with the most free slots. */
function roomiest(places: readonly LinkSlots[], action: string): LinkSlots | undefined {
  let best: LinkSlots | undefined
  for (const place of places) {
    const room = place.slots - place.taken
    if (room > 0 && place.actions.has(action) && (!best || room > best.slots - best.taken)) best = place
  }
  return best
}

function keyOf({ task, step, operation, attempt }: RequestMark): string {
  return `${task}:${step}:${operation}:${attempt}`
}
