import type { AgentHost } from '../agent/host.ts'
import { type AgentPolicy, checkAgentPolicy, stepPolicyOf } from '../definition/agent-policy.ts'
import { toAgentBreaker } from '../definition/breaker.ts'
import { toActionConcurrency, toConcurrency } from '../definition/concurrency.ts'
import type { Agent } from '../definition/definition.ts'
import type { FairnessWeights } from '../definition/fairness.ts'
import { overlay, type PolicyOptions } from '../definition/policy.ts'
import type { RateLimitOptions } from '../definition/rate.ts'
import { toRetention } from '../definition/retention.ts'
import { AGENT_SETTING, type SettingPolicy, WORKFLOW_SETTING } from '../definition/setting.ts'
import { messageOf } from '../error/error.ts'
import type { BreakerGate } from '../flow/breaker-gate.ts'
import type { BreakerGates } from '../flow/breaker-gates.ts'
import type { RateLimiter } from '../flow/rate-limiter.ts'
import type { RateLimiters } from '../flow/rate-limiters.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Registry } from '../scheduler/registry.ts'
import { followedBy, pausedThere, policyOf, workflowPolicy } from '../setting/followed.ts'
import { engineSetting, pausedSchedule, schedulesSetting } from '../setting/own.ts'
import type { Values } from '../setting/values.ts'
import type { PausedThere } from '../store/port.ts'
import { retentionRules } from '../supervisor/retention.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { positiveMilliseconds } from '../value/duration.ts'
import type { Settings } from './options.ts'

export interface SettingsApplierOptions {
  values: Values
  registry: Registry
  settings: Settings
  /** A live map: agents of other processes are added later. */
  hosts: ReadonlyMap<string, AgentHost>
  guards: BreakerGates
  paces: RateLimiters
  /** Changes the length of the node's lease (ms). */
  resize: (lease: number) => void
  alert: (alert: RaisedAlert) => void
}

/** Applies the settings to the parts of this node. What already runs is not affected. */
export class SettingsApplier {
  readonly #options: SettingsApplierOptions
  #supervisor: Supervisor | null = null
  /** Agents and actions whose step policy is currently overridden by settings. */
  #overlaid: ReadonlySet<string> = new Set()
  /** The last complaint about each invalid setting, so that it is raised only once. */
  readonly #told = new Map<string, string>()

  constructor(options: SettingsApplierOptions) {
    this.#options = options
  }

  /** A setting has changed: applies all of them. */
  apply(supervisor: Supervisor | null = this.#supervisor): void {
    this.#supervisor = supervisor
    const { registry, hosts, values } = this.#options
    const names = [...hosts.keys(), ...registry.agents.keys()]
    const said = values.names
      .filter((name) => name.startsWith(AGENT_SETTING))
      .map((name) => name.slice(AGENT_SETTING.length))
    const overlaid = new Set<string>()
    const weights = new Map<string, FairnessWeights>()
    for (const name of new Set([...names, ...said])) {
      const policy = this.#policy(name)
      for (const action of this.#steps(name, policy)) overlaid.add(action)
      if (policy.weights) weights.set(name, policy.weights)
      const host = hosts.get(name)
      if (host) this.host(host)
    }
    for (const action of this.#overlaid) if (!overlaid.has(action)) overlay(action, undefined)
    this.#overlaid = overlaid
    registry.weights = weights
    this.#workflows()
    this.#engine()
  }

  /** Why a schedule is paused; undefined: it is not. */
  paused(schedule: string): string | undefined {
    return pausedSchedule(this.#options.values.reading(schedulesSetting).value, schedule)
  }

  /** Applies the settings of one agent, because its host is new or its settings changed. */
  host(host: AgentHost): void {
    const { registry } = this.#options
    const policy = this.#policy(host.name)
    host.paused = policy.paused === undefined ? null : this.#pause(host.name, policy.paused)
    const agent = registry.agents.get(host.name)
    // A setting that is valid by itself may contradict the agent's code. Then that part stays as it was, and other parts are not
    // affected.
    this.#part(host.name, 'concurrency', () => this.#concurrency(host, policy))
    if (!agent) return
    this.#part(host.name, 'circuit breaker', () => host.setGates({ breakerGate: this.#guard(agent, policy) }))
    this.#part(host.name, 'rate limit', () => host.setGates({ rateLimiter: this.#pace(agent, policy) }))
    if (policy.weights !== undefined && agent.fairness === undefined) this.#missing(agent.name)
  }

  #part(agent: string, part: string, apply: () => void): void {
    const key = `agent "${agent}": ${part}`
    try {
      apply()
      this.#told.delete(key)
    } catch (error) {
      this.#tell(
        key,
        `the ${part} of agent "${agent}" stays as it was, for what settings say makes no sense: ${messageOf(error)}`,
      )
    }
  }

  /** Slots are per process. Permits are shared by all nodes, and can be limited even for agents of other processes. */
  #concurrency(host: AgentHost, policy: AgentPolicy): void {
    const agent = this.#options.registry.agents.get(host.name)
    const own = toConcurrency(host.name, policy.concurrency)
    host.bound(null, own.shared ?? agent?.shared ?? null)
    const least = own.least ?? agent?.least ?? null
    const most = own.each ?? agent?.concurrency ?? 0
    if (agent) host.resize(most, least ? Math.min(least, most) : null)
    const defined = [...(agent?.actions.values() ?? [])].map(({ name, definition }) => [name, definition] as const)
    const definitions = new Map(defined)
    for (const name of new Set([...definitions.keys(), ...Object.keys(policy.actions ?? {})])) {
      const definition = definitions.get(name)
      const key = `${host.name}.${name}`
      const said = toActionConcurrency(key, policy.actions?.[name]?.concurrency)
      const coded = toActionConcurrency(key, definition?.concurrency)
      host.bound(key, said.shared ?? coded.shared)
      if (definition && definition.thread === undefined) host.slots.bound(key, said.each ?? coded.each)
    }
  }

  #guard(agent: Agent, { circuitBreaker }: AgentPolicy): BreakerGate | null {
    const { guards } = this.#options
    const of = agent.circuitBreaker
    const none = of === undefined && circuitBreaker === undefined
    const what = `agent "${agent.name}": circuitBreaker`
    return guards.change(agent, none ? null : toAgentBreaker(what, { ...of, ...circuitBreaker }))
  }

  #pace(agent: Agent, policy: AgentPolicy): RateLimiter | null {
    const limits = new Map<string, RateLimitOptions>()
    const own = policy.rateLimit ?? agent.rateLimit
    if (own) limits.set(agent.name, own)
    for (const { key, name, definition } of agent.actions.values()) {
      const its = policy.actions?.[name]?.rateLimit ?? definition.rateLimit
      if (its) limits.set(key, its)
    }
    return this.#options.paces.change(agent, limits)
  }

  /** Fairness can only be set if the code defines it: only the code knows to whom a task or step belongs. */
  #missing(name: string): void {
    this.#tell(`${name} fairness`, `${name} has no fairness in its code, and so none can be set while it runs`)
  }

  /** Overrides the step policy of the agent and its actions; returns those that have one. */
  #steps(agent: string, policy: AgentPolicy): string[] {
    const found: string[] = []
    const say = (of: string, over: PolicyOptions) => {
      if (Object.keys(over).length === 0) return
      overlay(of, over)
      found.push(of)
    }
    say(agent, stepPolicyOf(policy))
    for (const [action, own] of Object.entries(policy.actions ?? {})) say(`${agent}.${action}`, stepPolicyOf(own))
    return found
  }

  /** The agent's policy: what its code follows, overridden by what operators have set. */
  #policy(agent: string): AgentPolicy {
    const { registry, values } = this.#options
    const own = registry.agents.get(agent)?.policy
    const what = `agent "${agent}"`
    const followed = own ? this.#followed(what, own) : {}
    const said = values.known(`${AGENT_SETTING}${agent}`)
    const over = said ? (values.reading(said).value as AgentPolicy) : {}
    return { ...followed, ...over, actions: { ...followed.actions, ...over.actions } }
  }

  #followed(what: string, own: SettingPolicy<AgentPolicy>): AgentPolicy {
    const { policy, error } = policyOf(this.#options.values, own, (made) => checkAgentPolicy(what, made))
    if (error === undefined) this.#told.delete(what)
    else this.#senseless(what, error)
    return policy ?? {}
  }

  #senseless(what: string, error: unknown): void {
    this.#tell(what, `the policy of ${what} makes no sense, and stays as it was: ${messageOf(error)}`)
  }

  #pause(agent: string, reason: string): PausedThere {
    const { registry, values } = this.#options
    return pausedThere(values, `${AGENT_SETTING}${agent}`, registry.agents.get(agent)?.policy, reason)
  }

  #workflows(): void {
    const { registry, values } = this.#options
    const said = values.names
      .filter((name) => name.startsWith(WORKFLOW_SETTING))
      .map((name) => name.slice(WORKFLOW_SETTING.length))
    const names = new Set([...registry.workflows.map(({ name }) => name), ...said])
    registry.paused = new Map(
      [...names].flatMap((name): [string, PausedThere][] => {
        const what = `workflow "${name}"`
        let sound = true
        const { paused } = workflowPolicy(values, registry.workflows, name, (error) => {
          sound = false
          this.#senseless(what, error)
        })
        if (sound) this.#told.delete(what)
        if (paused === undefined) return []
        const own = followedBy(registry.workflows, name)
        return [[name, pausedThere(values, `${WORKFLOW_SETTING}${name}`, own, paused)]]
      }),
    )
  }

  #engine(): void {
    const { registry, settings, values, resize } = this.#options
    const { retention, sweep, lease: said } = values.reading(engineSetting).value
    const lease = said === undefined ? settings.lease : positiveMilliseconds(said, 'lease')
    resize(lease)
    this.#supervisor?.change({
      lease,
      sweep: sweep === undefined ? settings.sweep : positiveMilliseconds(sweep, 'sweep'),
      retention: retentionRules(
        retention === undefined ? settings.retention : toRetention(retention, 'retention'),
        registry.retentions,
      ),
    })
  }

  #tell(key: string, message: string): void {
    if (this.#told.get(key) === message) return
    this.#told.set(key, message)
    this.#options.alert({ code: 'SETTING_REFUSED', cause: 'setting', message })
  }
}
