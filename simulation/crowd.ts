import type { Agent } from '../packages/triarch/src/index.ts'
import type { Machine } from '../packages/triarch/src/testing/machine.ts'
import { type AttemptCall, sabotagedAgent } from '../packages/triarch/src/testing/sabotage.ts'
import { keyOf } from './outage.ts'
import type { Plan } from './plan.ts'
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

interface Running {
  machine: Machine
  call: AttemptCall
  /** Its request was in the queue when it began: once that is gone, somebody has given it up. */
  queued: boolean
}

const CHARGE = 'shop.charge'
const TAKEN = `
SELECT 1 FROM triarch_work w JOIN triarch_tasks t ON t.key = w.task
WHERE t.id = ? AND w.step = ? AND w.operation = ? AND w.attempt = ? AND w.locked_by IS NOT NULL`

/** Agents of which only so many attempts may run over all nodes, and those that do. */
export class Crowd {
  readonly faults: string[] = []
  readonly #store: Vault
  readonly #plan: CrowdPlan | null
  readonly #running = new Map<string, Set<Running>>()

  constructor(store: Vault, { crowd }: Plan) {
    this.#store = store
    this.#plan = crowd ?? null
  }

  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { shared, charges, keyed } = plan
    const bounded = sabotagedAgent(
      Object.freeze({ ...agent, shared, ...(keyed && { sharedKey: keyOf }) }),
      (call, work) => {
        if (!machine.alive) return work()
        const one = this.#begin(machine, agent.name, call)
        return ended(work, () => this.#running.get(agent.name)?.delete(one))
      },
    )
    if (charges === undefined) return bounded
    const actions = [...bounded.actions].map(([name, action]) => {
      const concurrency = { shared: charges, ...(keyed && { key: keyOf }) }
      const own = action.key === CHARGE ? { ...action, definition: { ...action.definition, concurrency } } : action
      return [name, Object.freeze(own)] as const
    })
    return Object.freeze({ ...bounded, actions: new Map(actions) })
  }

  #begin(machine: Machine, agent: string, call: AttemptCall): Running {
    const one = { machine, call, queued: this.#taken(call) }
    const all = this.#running.get(agent) ?? new Set()
    this.#running.set(agent, all.add(one))
    // What died with its machine, and what somebody has given up meanwhile, counts no more.
    for (const it of all) if (!it.machine.alive || (it.queued && !this.#taken(it.call))) all.delete(it)
    const { shared, charges } = this.#plan as CrowdPlan
    if (all.size > shared) this.faults.push(`${all.size} attempts of ${agent} run over all nodes, of ${shared}`)
    const charged = [...all].filter((it) => it.call.action === CHARGE).length
    if (charges !== undefined && charged > charges)
      this.faults.push(`${charged} attempts of ${CHARGE} run over all nodes, of ${charges}`)
    return one
  }

  #taken({ task, step, operation, attempt }: AttemptCall): boolean {
    const kind = operation === 'finalize' ? 'run' : operation
    return this.#store.database.get(TAKEN, task, step, kind, attempt) !== undefined
  }
}

function ended(work: () => unknown, over: () => void): unknown {
  try {
    const answer = work()
    if (answer instanceof Promise) return answer.finally(over)
    over()
    return answer
  } catch (error) {
    over()
    throw error
  }
}
