import type { AgentHost } from '../agent/host.ts'
import type { Peering, PeerNode, PeerPlace } from '../agent/peer.ts'
import { Remotes } from '../agent/remote.ts'
import { delay, type Environment, type Timer } from '../environment/environment.ts'
import type { Address, Network, NetworkListener } from '../environment/network.ts'
import { PooledBacklog } from '../flow/backlog.ts'
import type { TaskState } from '../kernel/state.ts'
import type { NodeRow, StateStore } from '../store/port.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { agentOf } from '../value/name.ts'
import type { AgentHosts } from './agent-hosts.ts'
import { Link } from './link.ts'
import { Peer } from './peer.ts'
import { Sessions } from './sessions.ts'

/** Delay before listening is retried after a failure (ms), for example while the address of a process that just ended is still in use. */
const AGAIN = 1_000
/** Most nodes from which attempts are taken at a time. */
const MOST_LINKS = 100

export interface DirectDeps {
  environment: Environment
  network: Network
  settings: PeerPlace
  store: Pick<StateStore, 'reply' | 'post' | 'adoptWork' | 'nodes'>
  keys: SigningKeys
  /** The task's state from its history; null: the history cannot be read. */
  state: (task: string) => Promise<TaskState | null>
  payload: number
  lease: number
  /** Called when something was written for tasks that may be owned here. */
  posted: () => void
  /** Called when a process answered an attempt that it was not given. */
  refused: () => void
  failed: (error: unknown) => void
}

/** Another node whose attempts run here. */
interface Other {
  link: Link
  /** Agents that the other node has itself. */
  own: ReadonlySet<string>
}

/**
 * The connections of one life of a node to other nodes of its store. As a scheduler it listens, and gives attempts to nodes that connect;
 * with agents, it connects to nodes that listen.
 */
export class Direct implements Peering {
  readonly #options: DirectDeps
  readonly #node: PeerNode
  readonly #sessions: Sessions
  /** Sessions for attempts begun for nodes that are gone. */
  readonly #home: Sessions
  readonly #peers = new Set<Peer>()
  readonly #others = new Map<string, Other>()
  readonly #links = new Set<Link>()
  readonly #over = new AbortController()
  #listening: NetworkListener | null = null
  #address: Address | null = null
  #timer: Timer | null = null
  #open = false

  constructor(options: DirectDeps, node: PeerNode) {
    this.#options = options
    this.#node = node
    const { lease } = options
    const remotes = new Remotes(lease, { queued: true })
    remotes.bind({
      id: node.id,
      offered: (offers) => {
        for (const { agent, actions, most } of offers) node.offered(remotes, agent, actions, most)
      },
      forgotten: () => true,
      adopted: () => undefined, // none of its attempts came from a queue
    })
    // Nodes of one store make resume tokens themselves.
    this.#sessions = new Sessions({ ...options, remotes, token: null, hosted: (agent) => node.hosts.has(agent) })
    const own = new Remotes(lease)
    own.bind({ id: node.id, offered: () => undefined, forgotten: () => true, adopted: () => undefined })
    this.#home = new Sessions({ ...options, remotes: own, token: null, hosted: () => false })
  }

  get address(): Address | null {
    return this.#address
  }

  start(): void {
    this.#open = true
    void this.#begin()
  }

  stop(): void {
    this.#open = false
    this.#over.abort()
    this.#timer?.cancel()
    this.#listening?.close()
    this.#sessions.close()
  }

  /** The agents have drained. Resolves once their answers are acknowledged, or reported to the store. */
  async drain(grace: number): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.drain(grace)))
    this.#end()
  }

  abandon(): void {
    this.stop()
    this.#end()
  }

  #end(): void {
    for (const link of this.#links) link.close()
    for (const peer of this.#peers) peer.close()
    this.#sessions.end()
    this.#home.end()
  }

  stirred(): void {
    for (const link of this.#links) link.urge()
  }

  async #begin(): Promise<void> {
    const { environment, failed } = this.#options
    while (this.#open) {
      try {
        if (this.#node.scheduler) await this.#listen()
        if (this.#node.hosts.size > 0 && this.#open) await this.#look()
        return
      } catch (error) {
        if (!this.#open) return
        failed(error)
        await delay(environment, AGAIN, this.#over.signal)
      }
    }
  }

  async #listen(): Promise<void> {
    const { environment, network, settings, keys, lease, failed } = this.#options
    const { host, port, advertise } = settings
    this.#listening ??= await network.listen({ host, port }, keys.channel, (channel) => {
      const peer = new Peer(channel, { environment, agents: this.#sessions, lease, failed })
      this.#peers.add(peer)
      return {
        heard: (text) => peer.heard(text),
        closed: () => {
          this.#peers.delete(peer)
          peer.closed()
        },
      }
    })
    // The node was stopped meanwhile.
    if (!this.#open) return this.#listening.close()
    this.#address = { host: advertise, port: this.#listening.port }
    this.#node.moved()
  }

  /** Reads the listening nodes, often enough that a new one is known well before its lease could have ended. */
  async #look(): Promise<void> {
    const { environment, store, lease, failed } = this.#options
    try {
      const nodes = await store.nodes()
      if (!this.#open) return
      this.#meet(nodes)
    } catch (error) {
      if (!this.#open) return
      failed(error)
    }
    this.#timer = environment.timer(lease / 3, () => void this.#look())
    this.#timer.unref?.()
  }

  #meet(nodes: readonly NodeRow[]): void {
    const there = new Set(nodes.map(({ id }) => id))
    for (const [id, { link }] of this.#others) if (!there.has(id)) link.forsake()
    for (const { id, runs } of nodes) {
      if (!runs?.direct || id === this.#node.id || this.#others.has(id) || this.#others.size >= MOST_LINKS) continue
      const own = new Set(runs.actions.map(agentOf))
      if ([...this.#offered(own)].length === 0) continue
      const { environment, network, keys, lease, failed } = this.#options
      const link: Link = new Link({
        ...{ environment, network, at: runs.direct, keys: keys.channel, home: this.#home, lease, failed },
        hosts: this.#agentHosts(own),
        ended: () => {
          this.#links.delete(link)
          if (this.#others.get(id)?.link === link) this.#others.delete(id)
        },
      })
      this.#links.add(link)
      this.#others.set(id, { link, own })
    }
  }

  /** The agents offered to another node: those that it does not have itself and whose queue has no gates. */
  *#offered(own: ReadonlySet<string>): Iterable<AgentHost> {
    for (const host of this.#node.hosts.values()) if (!own.has(host.name) && isFree(host)) yield host
  }

  #agentHosts(own: ReadonlySet<string>): AgentHosts {
    return {
      instance: this.#options.environment.id(),
      lines: null,
      hosts: () => this.#offered(own),
      host: (agent) => this.#node.hosts.get(agent),
      actions: (host) => host.actions,
      room: ({ slots, backlog, paused, sharedConcurrency }, running) => {
        // Requests that wait in the agent's queue come first.
        if (!backlog.empty || paused !== null || !sharedConcurrency.isUnlimited) return Math.min(running, slots.most)
        const share = Math.ceil(Math.max(0, slots.spare) / Math.max(1, this.#links.size))
        return Math.max(0, Math.min(slots.most, running + share))
      },
      welcomed: () => undefined, // outputs are limited by this node's own setting
      drain: async () => undefined, // its hosts are drained with the node
    }
  }
}

/** Whether the agent's queue decides only the order of requests, and neither breakers, rate limits nor slot pools apply. */
function isFree(host: AgentHost): boolean {
  if (host.lease !== null || host.breakerGate !== null || host.rateLimiter !== null) return false
  return !(host.backlog instanceof PooledBacklog) && !host.backlog.strict
}
