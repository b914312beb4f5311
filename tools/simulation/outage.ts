import type { Action, Agent, Triarch } from '../../packages/triarch/src/index.ts'
import { agent, isTriarchError, TransientError } from '../../packages/triarch/src/index.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type Begun, laned } from './lane.ts'
import { Periods } from './periods.ts'
import type { Plan } from './plan.ts'

/** What keys give: all that does not say where it waits is of one. */
const KEY = 'one'

/** The one function by which all that has keys goes. */
export function keyOf(input: unknown): string {
  const where = (input as { where?: number } | null)?.where ?? 0
  return where === 0 ? KEY : `${KEY} and ${where}`
}

/** Services that are ill for a while, the breakers before them, and who called them when. */
export class Outage {
  readonly #world: World
  readonly #plan: NonNullable<Plan['outage']> | null
  readonly #periods: Periods

  constructor(world: World, { outage, settings }: Plan) {
    this.#world = world
    this.#plan = outage ?? null
    this.#periods = new Periods(world, settings.poll)
  }

  /** The agent with its breaker, before a service that is ill now and then. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan || agent.name === 'spare') return agent
    const { keyed, fallback, ...rule } = plan.rule
    const circuitBreaker = { ...rule, ...(keyed && { key: keyOf }) }
    const actions = fallback ? withFallbacks(agent, this.spares([agent])[0]) : agent.actions
    const guarded = Object.freeze({ ...agent, circuitBreaker, actions })
    return laned(machine, guarded, (begun) => {
      this.#called(begun)
      const now = this.#world.elapsed
      const ill = plan.ills.some(({ at, ms, key }) => now >= at && now < at + ms && (key ?? begun.key) === begun.key)
      if (ill) throw new TransientError('injected: an outage')
    })
  }

  /** Agents that do the same as the shop, and are never ill. */
  spares(agents: readonly Agent[]): Agent[] {
    if (!this.#plan?.rule.fallback) return []
    return agents.filter(({ name }) => name === 'shop').map(spareOf)
  }

  #called({ agent, key, operation }: Begun): void {
    const lane = this.#plan?.rule.keyed ? `${agent}#${key}` : agent
    if (operation !== 'finalize') this.#periods.start(lane)
  }

  readonly observe = (call: LinkCall, answer: unknown): void => this.#periods.observe(call, answer)

  /** The operator's words, each at its time. */
  plan(machine: Machine, triarch: Triarch): void {
    for (const { at, agent, word, ms } of this.#plan?.words ?? [])
      machine.timer(at, () => {
        const breaker = triarch.breakers.get(this.#plan?.rule.keyed ? `${agent}#${keyOf(null)}` : agent)
        const until = new Date(this.#world.now + ms)
        const said = word === 'open' ? breaker.open({ reason: 'planned', until }) : breaker[word]({ reason: 'planned' })
        void said.catch((error: unknown) => {
          if (!isTriarchError(error)) throw error
        })
      })
  }

  get faults(): string[] {
    return this.#periods.faults(this.#plan?.rule.probes ?? 0)
  }
}

function spareOf({ actions }: Agent): Agent {
  const spare = agent('spare')
  for (const [name, { definition, plans }] of actions) {
    const { run, undo, verify, batch, thread, ...rest } = definition
    if (plans || batch || thread || rest.finalize || !run) continue
    const { cache: _, whenOpen: __, concurrency: ___, rateLimit: ____, plan: _____, output: ______, ...policy } = rest
    spare.action(name, {
      ...policy,
      run: run.bind(definition),
      ...(undo && { undo }),
      ...(verify && { verify }),
    } as Parameters<Agent['action']>[1])
  }
  return spare
}

function withFallbacks({ actions }: Agent, spare: Agent | undefined): ReadonlyMap<string, Action> {
  return new Map(
    [...actions].map(([name, action]) => {
      const fallback = spare?.actions.get(name)
      return [name, fallback ? { ...action, definition: { ...action.definition, whenOpen: { fallback } } } : action]
    }),
  )
}
