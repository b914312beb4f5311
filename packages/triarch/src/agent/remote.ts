import { MIN_PROCESS_AGE_MS } from '../flow/probation.ts'
import type { Outcome } from '../kernel/message.ts'
import type { RequestMark, StepRequest, WorkItem } from '../store/port.ts'
import { agentOf } from '../value/name.ts'
import type { Attempt, AttemptOptions, Relay, Relayed } from './attempt.ts'

/** What a process elsewhere runs of one agent. */
export interface Offer {
  agent: string
  /** Most attempts at a time. */
  slots: number
  /** As step requests name them. */
  actions: readonly string[]
}

/** A process elsewhere that runs attempts. */
export interface AgentLink {
  /** For how long its process has been here (ms). */
  readonly age: number
  /** Takes the attempt; there is room for it until `freed` is called. `under`: the name by which it runs there already. */
  give(attempt: Attempt, options: AttemptOptions, terms: { freed: () => void; under: string | undefined }): Relayed
}

/** What all processes elsewhere together run of one agent. */
export interface Offered {
  agent: string
  actions: readonly string[]
  /** Most attempts at a time. */
  most: number
}

/** The node through which agents that are elsewhere work now. */
export interface RemoteNode {
  id: string
  offered(offers: readonly Offered[]): void
  /** Nobody has offered the agent for long, and nothing of it runs: it is to be forgotten. False: something does. */
  forgotten(agent: string): boolean
  adopted(item: WorkItem): void
}

/** One agent of one link. */
interface Place {
  link: AgentLink
  slots: number
  actions: ReadonlySet<string>
  taken: number
}

/** Agents that nobody offers any more, and that are remembered: whoever comes back finds its host as it was. */
const MOST_EMPTY = 100

/** After how long a request that finds no room where there should be some is asked for again (ms). */
const NO_ROOM = 250

/** Who offers which agents, and which of them is given an attempt. A node has a host for each of these agents, and is replaced when it is fenced. */
export class Remotes implements Relay {
  readonly #places = new Map<string, Place[]>()
  /** Agents without a place, those first that have been so for longest. */
  readonly #empty = new Set<string>()
  readonly #coming = new Map<string, { link: AgentLink; under: string }>()
  #node: RemoteNode | null = null
  readonly lease: number
  /** What finds no place waits in its agent's queue, which those who have the agent ask themselves. */
  readonly #queued: boolean

  /** `lease`: for how long the attempt of a dead server is awaited without a word (ms). */
  constructor(lease: number, { queued = false }: { queued?: boolean } = {}) {
    this.lease = lease
    this.#queued = queued
  }

  /** What an outcome from elsewhere is here. */
  judged(agent: string, outcome: Outcome): Outcome {
    return this.#queued && outcome.kind === 'withdrawn' ? { kind: 'withdrawn', lane: agent } : outcome
  }

  /** Null: no node here hosts agents now. */
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

  /** What the link has to offer of these agents from now on; of none: nothing more. The node is told once, of all. */
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

  /** It runs nothing more. */
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

  /** Goes on with an attempt that the link has from another node, under the name by which it knows it. */
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

  #roomFor({ action, trial }: StepRequest): Place | undefined {
    const all = this.#places.get(agentOf(action)) ?? []
    // Where processes die young, what is tried is not to blame.
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

  /** A place of the link for an attempt that nobody here has given to it, until it is freed. */
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

/** Spread over all that have room. */
function roomiest(places: readonly Place[], action: string): Place | undefined {
  let best: Place | undefined
  for (const place of places) {
    const room = place.slots - place.taken
    if (room > 0 && place.actions.has(action) && (!best || room > best.slots - best.taken)) best = place
  }
  return best
}

function keyOf({ task, step, operation, attempt }: RequestMark): string {
  return `${task}:${step}:${operation}:${attempt}`
}
