import { AgentHost } from '../agent/host.ts'
import { Threads } from '../agent/threads.ts'
import type { Agent } from '../definition/definition.ts'
import type { Middleware } from '../definition/middleware.ts'
import { inOrder } from '../definition/middleware.ts'
import type { Environment } from '../environment/environment.ts'
import type { StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import { Probation } from '../flow/probation.ts'
import { noTelemetry } from '../telemetry/outlet.ts'
import { DEFAULT_PAYLOAD_LIMIT } from '../value/payload.ts'
import { Lines } from './lines.ts'

/** The hosts that run attempts received over the wire. */
export interface AgentHosts {
  /** Identifies this process in its hellos. */
  readonly instance: string
  /** Log lines that wait to be sent; null: lines do not go over the wire. */
  readonly lines: Lines | null
  /** The hosts that are offered. */
  hosts(): Iterable<AgentHost>
  host(agent: string): AgentHost | undefined
  /** The actions offered of a host, as step requests name them. */
  actions(host: AgentHost): string[]
  /** How many attempts the other side may run there at a time; `running`: how many it runs now. */
  room(host: AgentHost, running: number): number
  /** A server has accepted the hello. `payload`: largest output, in bytes of JSON. */
  welcomed(payload: number): void
  /** Takes nothing more, and lets attempts finish for `grace` ms. */
  drain(grace: number, patience: StopBudget): Promise<void>
}

export interface LocalAgentHostsOptions {
  environment: Environment
  agents: readonly Agent[]
  middleware: readonly Middleware[]
  threads: number
  /** Called when there is something to send. */
  urge: () => void
  /** Called with errors that code leaves behind after its attempt is over. */
  failed: (error: unknown) => void
}

/** The longest that aborted code is given to end (ms). */
const LAST_GRACE = 1_000

/** The agents of a process without a store, which runs attempts as any node does. */
export class LocalAgentHosts implements AgentHosts {
  readonly instance: string
  readonly lines: Lines
  readonly #hosts: ReadonlyMap<string, AgentHost>
  readonly #threads: Threads | null
  #payload = DEFAULT_PAYLOAD_LIMIT

  constructor({ environment, agents, middleware, threads, urge, failed }: LocalAgentHostsOptions) {
    this.instance = environment.id()
    this.#threads = Threads.in(environment, threads)
    const chains = new Map<string, readonly Middleware[]>()
    const around = (key: string): readonly Middleware[] => {
      const known = chains.get(key)
      if (known) return known
      const [agent = '', name = ''] = key.replace(/:finalize$/, '').split('.')
      const own = agents.find((it) => it.name === agent)?.actions.get(name)?.definition.middleware
      const chain = inOrder(middleware, own)
      chains.set(key, chain)
      return chain
    }
    this.lines = new Lines(environment, urge)
    const crew = this
    const host = {
      environment,
      node: this.instance,
      get payload() {
        return crew.#payload
      },
      around,
      late: () => undefined,
      failed,
      // The process needs no lease: whoever gives its attempts up tells it so, or does not take the answer.
      lease: { holds: () => true, sure: async () => true, trace: null },
      threads: this.#threads,
      probation: new Probation(environment),
      telemetry: noTelemetry,
      logs: this.lines,
      // Servers send the token with each attempt.
      token: () => '',
      freed: urge,
      overrun: urge,
    }
    this.#hosts = new Map(agents.map((agent) => [agent.name, new AgentHost(host, agent, { storeless: true })]))
  }

  hosts(): Iterable<AgentHost> {
    return this.#hosts.values()
  }

  host(agent: string): AgentHost | undefined {
    return this.#hosts.get(agent)
  }

  actions(host: AgentHost): string[] {
    return host.actions
  }

  /** Slots held by code that outlived its attempt are not offered. */
  room({ slots }: AgentHost, running: number): number {
    return Math.max(0, Math.min(slots.most, slots.free + running))
  }

  welcomed(payload: number): void {
    this.#payload = payload
  }

  async drain(grace: number, patience: StopBudget): Promise<void> {
    const hosts = [...this.#hosts.values()]
    for (const host of hosts) host.close()
    const idle = Promise.all(hosts.map((host) => host.idle()))
    await patience.wait(idle, grace)
    const reason = new TriarchError('NODE_STOPPED', 'the process of the agent stops')
    for (const host of hosts) host.abortAll(reason)
    await patience.wait(idle, Math.min(grace, LAST_GRACE))
    for (const host of hosts) host.abandonAll(reason)
    await this.#threads?.drain()
  }
}
