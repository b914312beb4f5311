import type { Address } from '../environment/network.ts'
import type { Service } from '../environment/service.ts'
import type { AgentHost } from './host.ts'
import type { Remotes } from './remote.ts'

/** Where a node listens, and by what name others reach it. */
export interface PeerPlace {
  host: string
  port: number
  advertise: string
}

/** One life of a node, as those see it who connect it with others. */
export interface PeerNode {
  readonly id: string
  readonly scheduler: boolean
  /** Of its own agents, by their names; empty: it has none. */
  readonly hosts: ReadonlyMap<string, AgentHost>
  /** This is offered of an agent that other nodes have. */
  offered(relay: Remotes, agent: string, actions: readonly string[], most: number): void
  /** Where it is reached is another place by now. */
  moved(): void
}

/** A node's connections with other nodes of its store. */
export interface Peering extends Service {
  /** Where it is reached; null: nowhere. */
  readonly address: Address | null
  /** Slots of this node were taken or given back by another way. */
  stirred(): void
}
