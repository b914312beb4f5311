import type { Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import type { StateStore } from '../store/port.ts'
import type { AgentHost } from './host.ts'

/** The longest that aborted code is given to end (ms). */
const LAST_GRACE = 1_000

/** The hosts of a node's agents, as one service of the node. */
export class Hosts implements Service {
  readonly #byAgent: ReadonlyMap<string, AgentHost>
  readonly #stopBudget: StopBudget
  readonly #failed: (error: unknown) => void

  /** `byAgent` is a live map: agents of other processes are added to it later. */
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

  /**
   * Takes over from the running nodes how long attempts usually take. Measured only now, beside their load, the time would include queueing
   * at the service.
   */
  async learn(store: Pick<StateStore, 'nodes'>): Promise<void> {
    const adaptive = this.#hosts.filter(({ usual }) => usual !== null)
    if (adaptive.length === 0) return
    try {
      for (const { runs } of await store.nodes())
        for (const host of adaptive) host.know(runs?.load?.agents[host.name]?.usual ?? {})
    } catch (error) {
      this.#failed(error) // without it, each host learns by itself
    }
  }

  start(): void {
    // The hosts are open from the beginning; the services that ask them for slots start later.
  }

  stop(): void {
    for (const host of this.#hosts) host.close()
  }

  /** Attempts that still run after `grace` ms are aborted, and then get a short time to end by themselves. */
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

  /** Abandons what still runs: its timers must not keep the process from ending. */
  forget(reason: Error): void {
    for (const host of this.#hosts) host.abandonAll(reason)
  }

  #abort(reason: Error): void {
    for (const host of this.#hosts) host.abortAll(reason)
  }
}
