import {
  type Agent,
  type SettingHandle,
  type StandardSchema,
  setting,
  type Triarch,
  type TriarchOptions,
} from '../../packages/triarch/src/index.ts'
import type { SettingState } from '../../packages/triarch/src/policy/setting.ts'
import type { SettingWrite } from '../../packages/triarch/src/store/port.ts'
import { storedSetting } from '../../packages/triarch/src/store/version.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Plan } from './plan.ts'
import { Words } from './words.ts'

const schema: StandardSchema<number, number> = {
  '~standard': { version: 1, vendor: 'simulation', validate: (value) => ({ value: value as number }) },
}
const NAME = 'world.dial'
const WHY = { reason: 'planned' }

/** Settings that operators turn while all goes wrong: who runs which version, and what begins though it is paused. */
export class Dial {
  readonly #world: World
  readonly #plan: NonNullable<Plan['dial']> | null
  /** All that was ever written of the dial. */
  readonly #states: SettingState[] = []
  /** What each machine runs. */
  readonly #running = new Map<Machine, number>()
  /** Agents of which a machine has heard that they are paused. */
  readonly #paused = new Map<Machine, Set<string>>()
  readonly #words = new Words()
  readonly faults: string[] = []

  constructor(world: World, { dial }: Plan) {
    this.#world = world
    this.#plan = dial ?? null
  }

  /** What a process of this machine is given besides. */
  options(): Pick<TriarchOptions, 'settings'> {
    if (!this.#plan) return {}
    return { settings: [setting(NAME, schema, 0)] }
  }

  telemetry(machine: Machine): NonNullable<TriarchOptions['telemetry']> {
    return this.#plan ? { setting: (event) => this.#heard(machine, event) } : {}
  }

  /** The agent, whose attempts are seen to begin. */
  agent(machine: Machine, agent: Agent): Agent {
    if (!this.#plan) return agent
    return sabotagedAgent(agent, (_, work) => {
      if (machine.alive && this.#paused.get(machine)?.has(agent.name))
        this.faults.push(`${machine.name} began an attempt of ${agent.name} at ${this.#world.now}, which is paused`)
      return work()
    })
  }

  #heard(
    machine: Machine,
    { node, setting: name, version }: { node: string | null; setting: string; version: number },
  ): void {
    if (!machine.alive) return
    const agent = /^triarch\.agent\.(.*)$/.exec(name)?.[1]
    const paused = this.#paused.get(machine) ?? new Set()
    this.#paused.set(machine, paused)
    if (agent !== undefined) version > 0 ? paused.add(agent) : paused.delete(agent)
    if (name !== NAME) return
    // Before its node has begun a process runs what is live.
    this.#running.set(machine, version)
    const allows = ({ live, trial }: SettingState) =>
      (live?.version ?? 0) === version ||
      (node !== null && trial?.candidate.version === version && trial.nodes?.includes(node))
    if (version > 0 && !this.#states.some(allows))
      this.faults.push(`${machine.name} runs version ${version} of ${NAME}, which is on trial on others`)
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (name !== 'writeSetting' || answer !== true) return
    const write = args[0] as SettingWrite
    const state = write.name === NAME ? storedSetting(write.state)?.state : undefined
    if (state) this.#states.push(state)
  }

  /** The operator's words, each at its time; in the end nothing is paused any more. */
  plan(machine: Machine, triarch: Triarch): void {
    for (const { at, n, share } of this.#plan?.words ?? [])
      void this.#words.say(machine, at, () =>
        triarch.settings.get(NAME).set(n, { ...WHY, ...(share !== null && { stages: [{ share, lasts: 500 }] }) }),
      )
    for (const { at, ms, agent } of this.#plan?.pauses ?? [])
      this.#lend(machine, triarch.settings.get(`triarch.agent.${agent}`), { at, ms }, { paused: 'planned' })
    for (const { at, ms, ...pace } of this.#plan?.paces ?? [])
      this.#lend(machine, triarch.settings.get('triarch.engine'), { at, ms }, pace)
  }

  /** It is so for a while. */
  #lend(machine: Machine, handle: SettingHandle, { at, ms }: { at: number; ms: number }, value: object): void {
    // Said again after a fault, a word may come after its end was due.
    const until = this.#world.now + at + ms
    void this.#words
      .say(machine, at, () => handle.set(value, WHY))
      .then(() => this.#words.saySurely(machine, Math.max(0, until - this.#world.now), () => handle.clear(WHY)))
  }

  /** The store may have forgotten that what was for a while is over. */
  repeat(): void {
    this.#words.repeat()
  }

  /** Those of the living that do not run what they are to, once nothing more is said. */
  apart({ database }: Pick<SharedStore, 'database'>, living: readonly (Machine | null)[]): string[] {
    if (!this.#plan) return []
    if (this.#words.owed > 0) return ['the operator']
    const row = database.get<{ state: string }>('SELECT state FROM triarch_settings WHERE name = ?', NAME)
    const state = row && storedSetting(row.state)?.state
    if (!state) return []
    if (state.trial) return ['the trial']
    const version = state.live?.version ?? 0
    return living.flatMap((machine) =>
      machine && (this.#running.get(machine) ?? 0) === version ? [] : [machine?.name ?? 'nobody'],
    )
  }
}
