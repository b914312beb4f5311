import type { Address } from '../environment/network.ts'
import type { Service } from '../environment/service.ts'
import type { AgentHost } from './host.ts'
import type { Remotes } from './remote.ts'

/** Where a node listens, and under which name others reach it. */
export interface PeerPlace {
  host: string
  port: number
  advertise: string
}

/** One life of a node, from registration to stop or fencing, as its peering sees it. */
export interface PeerNode {
  readonly id: string
  readonly scheduler: boolean
  /** The hosts of the node's own agents, by name. */
  readonly hosts: ReadonlyMap<string, AgentHost>
  /** Called with what other nodes offer of an agent. */
  offered(relay: Remotes, agent: string, actions: readonly string[], most: number): void
  /** Called when the node's address has changed. */
  moved(): void
}

/** A node's connections to other nodes of its store. */
export interface Peering extends Service {
  /** The node's address; null: it does not listen. */
  readonly address: Address | null
  /** Slots of this node were taken or freed by attempts that did not come through a connection. */
  stirred(): void
}
