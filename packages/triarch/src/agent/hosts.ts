import type { Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import type { StateStore } from '../store/port.ts'
import type { AgentHost } from './host.ts'

/** How long code that was told to end has for that, at most (ms). */
const LAST_GRACE = 1_000

/** The hosts of a node's agents, as one part of it. */
export class Hosts implements Service {
  readonly #byAgent: ReadonlyMap<string, AgentHost>
  readonly #stopBudget: StopBudget
  readonly #failed: (error: unknown) => void

  /** `byAgent`: agents that are elsewhere come later. */
  constructor(byAgent: ReadonlyMap<string, AgentHost>, environment: Environment, failed: (error: unknown) => void) {
    this.#byAgent = byAgent
    this.#failed = failed
    this.#stopBudget = new StopBudget(environment, failed)
  }

  of(agent: string): AgentHost | undefined {
    return this.#byAgent.get(agent)
  }

  get #hosts(): readonly AgentHost[] {
    return [...this.#byAgent.values()]
  }

  /** What attempts usually take, as the nodes know it that there are: measured beside them, it would be their queue. */
  async learn(store: Pick<StateStore, 'nodes'>): Promise<void> {
    const adaptive = this.#hosts.filter(({ usual }) => usual !== null)
    if (adaptive.length === 0) return
    try {
      for (const { runs } of await store.nodes())
        for (const host of adaptive) host.know(runs?.load?.agents[host.name]?.usual ?? {})
    } catch (error) {
      this.#failed(error) // then they learn by themselves
    }
  }

  start(): void {
    // They are open from the beginning: what asks them for slots is not.
  }

  stop(): void {
    for (const host of this.#hosts) host.close()
  }

  /** What still runs after `grace` ms is aborted: then it may end by its own word, for a while. */
  async drain(grace: number): Promise<void> {
    const idle = Promise.all(this.#hosts.map((host) => host.idle()))
    await this.#stopBudget.wait(idle, grace)
    this.#abort(new TriarchError('NODE_STOPPED', 'the node is stopping'))
    await this.#stopBudget.wait(idle, Math.min(grace, LAST_GRACE))
  }

  abandon(reason: Error): void {
    this.#stopBudget.end()
    this.#abort(reason)
  }

  /** Nobody hears what still runs: its timers must not keep the process from ending. */
  forget(reason: Error): void {
    for (const host of this.#hosts) host.abandonAll(reason)
  }

  #abort(reason: Error): void {
    for (const host of this.#hosts) host.abortAll(reason)
  }
}
