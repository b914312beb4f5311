import type { Agent } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { type AttemptCall, sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { Plan } from './plan.ts'
import type { Vault } from './vault.ts'

/** How the slots of each agent are parted by priority. */
export interface PoolPlan {
  high: number
  rest: number
}

const TASK = 'SELECT priority FROM triarch_tasks WHERE id = ?'

/** Agents whose slots are parted, and what runs in each part on each machine. */
export class Pools {
  readonly faults: string[] = []
  readonly #store: Vault
  readonly #plan: PoolPlan | null

  constructor(store: Vault, { pools }: Plan) {
    this.#store = store
    this.#plan = pools ?? null
  }

  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const running = { high: 0, rest: 0 }
    const parted = { ...agent, concurrency: plan.high + plan.rest, pools: { ...plan, from: 1 } }
    return sabotagedAgent(Object.freeze(parted), async (call, work) => {
      const name = this.#nameOf(call)
      if (++running[name] > plan[name] && machine.alive)
        this.faults.push(
          `${machine.name} runs ${running[name]} attempts of ${agent.name} in the pool ${name} of ${plan[name]}`,
        )
      try {
        return await work()
      } finally {
        running[name]--
      }
    })
  }

  /** Steps have no priority of their own here. */
  #nameOf({ task }: AttemptCall): 'high' | 'rest' {
    return (this.#store.database.get<{ priority: number }>(TASK, task)?.priority ?? 0) >= 1 ? 'high' : 'rest'
  }
}
