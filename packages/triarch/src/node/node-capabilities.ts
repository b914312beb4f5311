import type { AgentHost } from '../agent/host.ts'
import type { Address } from '../environment/network.ts'
import type { Registry } from '../scheduler/registry.ts'
import type { Values } from '../setting/values.ts'
import type { BuriedNode, NodeLoad, NodeRuns } from '../store/port.ts'
import type { Settings } from './options.ts'

/** Most paused workflows that a node reports. */
const MOST_PAUSED = 1_000

/** What a node can run, as it reports it to the store. Agents of other processes come and go. */
export class NodeCapabilities {
  /** The actions of its agents, as step requests name them. */
  actions: readonly string[]
  /** Nodes that this process found dead when it started, and the dead nodes that those had reported. */
  buried: readonly BuriedNode[] = []
  readonly #registry: Registry
  readonly #settings: Settings
  readonly #hosts: ReadonlyMap<string, AgentHost>
  readonly #values: Values
  /** Returns how many tasks the node owns. */
  readonly #owned: () => number
  /** Returns the node's address. */
  readonly #address: () => Address | null

  constructor(
    registry: Registry,
    settings: Settings,
    hosts: ReadonlyMap<string, AgentHost>,
    values: Values,
    { owned, address }: { owned: () => number; address: () => Address | null },
  ) {
    this.#registry = registry
    this.#settings = settings
    this.#hosts = hosts
    this.#values = values
    this.#owned = owned
    this.#address = address
    this.actions = this.#known()
  }

  /** The hosts offer something else. Returns whether the actions changed. */
  update(): boolean {
    const before = this.actions
    this.actions = this.#known()
    return this.actions.length !== before.length || this.actions.some((action, index) => action !== before[index])
  }

  /** The capabilities as reported to the store. */
  get runs(): NodeRuns {
    const { roles, limits, labels } = this.#settings
    const { versions } = this.#values
    const direct = this.#address()
    const workflows = roles.has('scheduler') ? this.#registry.runnable : []
    const agents = roles.has('agent') ? [...this.#registry.agents.values()] : []
    const parted = agents.flatMap(({ name, pools }) =>
      pools ? [[name, { high: pools.high, rest: pools.rest, from: pools.from }] as const] : [],
    )
    return {
      workflows: workflows.map(({ workflow, version }) => `${workflow}@${version}`),
      memory: limits.memory,
      actions: [...this.actions],
      ...(agents.length > 0 && {
        slots: Object.fromEntries(agents.map(({ name, concurrency }) => [name, concurrency])),
      }),
      ...(parted.length > 0 && { pools: Object.fromEntries(parted) }),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(versions).length > 0 && { settings: versions }),
      ...this.#paused(workflows),
      ...(direct && { direct }),
      ...(this.buried.length > 0 && { buried: this.buried }),
      load: this.load,
    }
  }

  /** Workflows and agents that settings have paused here. */
  #paused(workflows: Registry['runnable']): Pick<NodeRuns, 'paused'> {
    const { paused } = this.#registry
    const flows = paused.size === 0 ? [] : workflows
    const found = [
      ...[...this.#hosts.values()].map((host) => [host.name, host.paused] as const),
      ...flows.map(({ workflow, version }) => [`${workflow}@${version}`, paused.get(workflow)] as const),
    ].flatMap(([name, pause]) => (pause ? [[name, pause] as const] : []))
    return found.length === 0 ? {} : { paused: Object.fromEntries(found.slice(0, MOST_PAUSED)) }
  }

  /** The node's current work and its free capacity. */
  get load(): NodeLoad {
    const { roles, limits } = this.#settings
    const hosts = roles.has('agent') ? [...this.#hosts.values()] : []
    const agents = hosts.map(({ name, slots, sharedConcurrency, throttled, usual }) => {
      const { running, most, pools } = slots
      const share = {
        ...{ running, most },
        ...(throttled && { throttled: true as const }),
        ...(pools && { pools }),
        ...(sharedConcurrency.shared !== null && { shared: sharedConcurrency.shared }),
        ...(usual && { usual }),
      }
      return [name, share] as const
    })
    return {
      agents: Object.fromEntries(agents),
      ...(roles.has('scheduler') && { tasks: { running: this.#owned(), most: limits.tasks } }),
    }
  }

  #known(): string[] {
    return [...this.#hosts.values()].flatMap((host) => host.actions)
  }
}
