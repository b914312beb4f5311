import {
  type Agent,
  type AgentPolicy,
  isTriarchError,
  TransientError,
  type Triarch,
  type TriarchOptions,
} from '../../packages/triarch/src/index.ts'
import type { SettingWrite } from '../../packages/triarch/src/store/port.ts'
import { storedSetting } from '../../packages/triarch/src/store/version.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Calm } from './calm.ts'
import { laned } from './lane.ts'
import { Periods } from './periods.ts'
import type { BreakerPlan, Plan } from './plan.ts'
import { Roll, type Running } from './roll.ts'
import { AHEAD, ASKEW, spanOf } from './throttle.ts'
import type { Vault } from './vault.ts'
import { Words } from './words.ts'

/** What an operator makes the policies of agents while attempts run. */
export interface TuningPlan {
  /** What the code of agents has. */
  coded: TunedPolicy
  /** When services are ill (ms). */
  ills: { at: number; ms: number }[]
  /** Breakers that the operator opens for a while, where there are any (ms). */
  opens: { at: number; agent: 'shop' | 'yard'; ms: number }[]
  /** `policy`: over that of the code; null: nothing is. */
  words: { at: number; agent: 'shop' | 'yard'; policy: TunedPolicy | null }[]
}

export interface TunedPolicy {
  rateLimit?: { limit: number; per: number; burst: number }
  /** How many attempts may run on all nodes together. */
  concurrency?: { shared: number }
  circuitBreaker?: BreakerPlan
}

const SETTING = 'triarch.agent.'
const WHY = { reason: 'planned' }
/** Where a reading failed, another follows after so long at most (ms). */
const READ_AGAIN = 2_000

/** A version of an agent's setting; 0: there is none. */
interface Version {
  version: number
  policy: TunedPolicy
  /** Since when (in true time). */
  since: number
}

/** Policies that come, change and go while attempts run, who goes by which, and what begins by each. */
export class Tuning {
  readonly #world: World
  readonly #calm: Calm
  readonly #plan: TuningPlan | null
  readonly #roll: Roll
  readonly #words = new Words()
  readonly #periods: Periods
  /** Of each agent all that was ever live, by the number. */
  readonly #versions = new Map<string, Map<number, TunedPolicy>>()
  /** What is live. */
  readonly #live = new Map<string, Version>()
  /** What each machine goes by, by agent. */
  readonly #running = new Map<Machine, Map<string, Version>>()
  /** Attempts that run, and the version by which each began. */
  readonly #seated = new WeakMap<Running, number>()
  /** When attempts began, by agent and version. */
  readonly #begun = new Map<string, { agent: string; rule: NonNullable<TunedPolicy['rateLimit']>; times: number[] }>()
  readonly #faults: string[] = []

  constructor(world: World, calm: Calm, store: Vault, { tuning, settings }: Plan) {
    this.#world = world
    this.#calm = calm
    this.#plan = tuning ?? null
    this.#roll = new Roll(store)
    this.#periods = new Periods(world, settings.poll)
  }

  telemetry(machine: Machine): NonNullable<TriarchOptions['telemetry']> {
    if (!this.#plan) return {}
    return {
      setting: ({ setting, version }) => {
        if (!setting.startsWith(SETTING) || !machine.alive) return
        const agent = setting.slice(SETTING.length)
        const policy = this.#over(this.#versions.get(agent)?.get(version) ?? {})
        const running = this.#running.get(machine) ?? new Map<string, Version>()
        this.#running.set(machine, running.set(agent, { version, policy, since: this.#world.now }))
      },
    }
  }

  /** The agent, whose attempts are seen to begin. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { concurrency, ...policies } = plan.coded
    const coded = Object.freeze({ ...agent, ...policies, ...(concurrency && { shared: concurrency.shared }) })
    const ailing = laned(machine, coded, ({ operation }) => {
      if (operation !== 'finalize') this.#brake(machine, agent.name, this.#versionOf(machine, agent.name))
      const now = this.#world.elapsed
      if (plan.ills.some(({ at, ms }) => now >= at && now < at + ms)) throw new TransientError('injected: an outage')
    })
    return this.#roll.watched(machine, ailing, (one, all) => {
      const running = this.#versionOf(machine, agent.name)
      this.#late(machine, agent.name, running)
      this.#rate(machine, agent.name, running)
      this.#seat(machine, agent.name, running, { one, all })
    })
  }

  /** Over what the code says. */
  #over(policy: TunedPolicy): TunedPolicy {
    return { ...this.#plan?.coded, ...policy }
  }

  #versionOf(machine: Machine, agent: string): Version {
    return this.#running.get(machine)?.get(agent) ?? { version: 0, policy: this.#over({}), since: 0 }
  }

  /** Whoever could read what is live goes by it. */
  #late(machine: Machine, agent: string, { version }: Version): void {
    const live = this.#live.get(agent)
    if (!live || live.version === version || !this.#hasHad(machine, live, this.#calm.aware + READ_AGAIN)) return
    this.#faults.push(
      `${machine.name} goes by version ${version} of ${agent}, ${live.version} is live since ${live.since}`,
    )
  }

  /** In so long (ms), without trouble. */
  #hasHad(machine: Machine, { since }: Version, ms: number): boolean {
    return this.#world.now > Math.max(since, this.#calm.since(machine)) + ms
  }

  /** Once what was reserved by the rule before is used or void, no more begin than the rule says, over all who go by it. */
  #rate(machine: Machine, agent: string, running: Version): void {
    const rule = running.policy.rateLimit
    if (!rule || !this.#hasHad(machine, running, AHEAD + (rule.burst * rule.per) / rule.limit + ASKEW)) return
    const name = `${agent} ${running.version}`
    const begun = this.#begun.get(name) ?? { agent, rule, times: [] }
    this.#begun.set(name, begun)
    begun.times.push(this.#world.now)
  }

  /** Once it has read how the breaker stands, it keeps to its probes. */
  #brake(machine: Machine, agent: string, running: Version): void {
    if (running.policy.circuitBreaker && this.#hasHad(machine, running, this.#periods.unaware))
      this.#periods.start(agent)
  }

  /** What was taken of the queue by a version has its seats by that. */
  #seat(
    machine: Machine,
    agent: string,
    running: Version,
    { one, all }: { one: Running; all: ReadonlySet<Running> },
  ): void {
    const shared = running.policy.concurrency?.shared
    if (shared === undefined || !this.#hasHad(machine, running, this.#calm.telling)) return
    this.#seated.set(one, running.version)
    const many = [...all].filter((it) => this.#seated.get(it) === running.version).length
    if (many > shared) this.#faults.push(`${many} attempts of ${agent} run over all nodes, of ${shared}`)
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (!this.#plan) return
    this.#periods.observe({ name, args }, answer)
    if (name !== 'writeSetting' || answer !== true) return
    const write = args[0] as SettingWrite
    const state = storedSetting(write.state)?.state
    if (!state || !write.name.startsWith(SETTING)) return
    const agent = write.name.slice(SETTING.length)
    const { version, value } = state.live ?? { version: 0, value: {} }
    const versions = this.#versions.get(agent) ?? new Map<number, TunedPolicy>()
    this.#versions.set(agent, versions.set(version, value as TunedPolicy))
    this.#live.set(agent, { version, policy: value as TunedPolicy, since: this.#world.now })
  }

  /** The operator's words, each at its time. */
  plan(machine: Machine, triarch: Triarch): void {
    for (const { at, agent, ms } of this.#plan?.opens ?? [])
      machine.timer(at, () => {
        const until = new Date(this.#world.now + ms)
        void triarch.breakers
          .get(agent)
          .open({ ...WHY, until })
          .catch((error: unknown) => {
            if (!isTriarchError(error)) throw error
          })
      })
    for (const { at, agent, policy } of this.#plan?.words ?? []) {
      const handle = triarch.settings.get(`${SETTING}${agent}`)
      void this.#words.say(machine, at, () =>
        policy ? handle.set(policy satisfies AgentPolicy, WHY) : handle.clear(WHY),
      )
    }
  }

  /** Those of the living that do not go by what is live, once nothing more is said. */
  apart(living: readonly (Machine | null)[]): string[] {
    if (!this.#plan) return []
    if (this.#words.owed > 0) return ['the operator']
    return [...this.#live].flatMap(([agent, { version }]) =>
      living.flatMap((machine) => {
        if (!machine) return ['nobody']
        return this.#versionOf(machine, agent).version === version ? [] : [machine.name]
      }),
    )
  }

  get faults(): string[] {
    const many = [...this.#begun.values()].flatMap(({ agent, rule: { limit, per, burst }, times }) => {
      const from = spanOf(times, limit + burst, per)
      if (from === null) return []
      return [`of ${agent} more than ${limit + burst} attempts began within ${per} ms from ${from} on`]
    })
    const said = [this.#plan?.coded, ...(this.#plan?.words ?? []).map(({ policy }) => policy)]
    const probes = Math.max(0, ...said.map((policy) => policy?.circuitBreaker?.probes ?? 0))
    return [...this.#faults, ...many, ...this.#periods.faults(probes)]
  }
}
