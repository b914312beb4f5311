import type { Agent } from '../packages/triarch/src/index.ts'
import type { Machine } from '../packages/triarch/src/testing/machine.ts'
import { keyOf } from './outage.ts'
import type { Plan } from './plan.ts'
import { Roll, type Running } from './roll.ts'
import type { Vault } from './vault.ts'

/** How many attempts of one agent may run. */
export interface CrowdPlan {
  /** On all nodes together. */
  shared: number
  /** Of them of one of its actions. */
  charges?: number
  /** The bounds are by a key, which all steps share. */
  keyed?: true
}

const CHARGE = 'shop.charge'

/** Agents of which only so many attempts may run over all nodes, and those that do. */
export class Crowd {
  readonly faults: string[] = []
  readonly #roll: Roll
  readonly #plan: CrowdPlan | null

  constructor(store: Vault, { crowd }: Plan) {
    this.#roll = new Roll(store)
    this.#plan = crowd ?? null
  }

  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { shared, charges, keyed } = plan
    const bounded = this.#roll.watched(
      machine,
      Object.freeze({ ...agent, shared, ...(keyed && { sharedKey: keyOf }) }),
      (_, all) => this.#judge(plan, agent.name, all),
    )
    if (charges === undefined) return bounded
    const actions = [...bounded.actions].map(([name, action]) => {
      const concurrency = { shared: charges, ...(keyed && { key: keyOf }) }
      const own = action.key === CHARGE ? { ...action, definition: { ...action.definition, concurrency } } : action
      return [name, Object.freeze(own)] as const
    })
    return Object.freeze({ ...bounded, actions: new Map(actions) })
  }

  #judge({ shared, charges }: CrowdPlan, agent: string, all: ReadonlySet<Running>): void {
    if (all.size > shared) this.faults.push(`${all.size} attempts of ${agent} run over all nodes, of ${shared}`)
    const charged = [...all].filter((it) => it.call.action === CHARGE).length
    if (charges !== undefined && charged > charges)
      this.faults.push(`${charged} attempts of ${CHARGE} run over all nodes, of ${charges}`)
  }
}
