import type { Agent } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { laned } from './lane.ts'
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
  /** The bounds are by a key. */
  keyed?: true
}

const CHARGE = 'shop.charge'

/** Agents of which only so many attempts may run over all nodes, and those that do. */
export class Crowd {
  readonly faults: string[] = []
  readonly #roll: Roll
  readonly #plan: CrowdPlan | null
  /** Of the attempt that begins; the same for all, unless the bounds are by key. */
  #key = ''
  readonly #keys = new WeakMap<Running, string>()

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
      (one, all) => {
        this.#keys.set(one, this.#key)
        this.#judge(
          plan,
          agent.name,
          [...all].filter((it) => this.#keys.get(it) === this.#keys.get(one)),
        )
      },
    )
    const heard = ({ key }: { key: string }) => {
      this.#key = key
    }
    const keys = (it: Agent) => (keyed ? laned(machine, it, heard) : it)
    if (charges === undefined) return keys(bounded)
    const actions = [...bounded.actions].map(([name, action]) => {
      const concurrency = { shared: charges, ...(keyed && { key: keyOf }) }
      const own = action.key === CHARGE ? { ...action, definition: { ...action.definition, concurrency } } : action
      return [name, Object.freeze(own)] as const
    })
    return keys(Object.freeze({ ...bounded, actions: new Map(actions) }))
  }

  #judge({ shared, charges }: CrowdPlan, agent: string, all: readonly Running[]): void {
    if (all.length > shared) this.faults.push(`${all.length} attempts of ${agent} run over all nodes, of ${shared}`)
    const charged = all.filter((it) => it.call.action === CHARGE).length
    if (charges !== undefined && charged > charges)
      this.faults.push(`${charged} attempts of ${CHARGE} run over all nodes, of ${charges}`)
  }
}
