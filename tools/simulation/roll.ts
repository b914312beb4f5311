import type { Agent } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { type AttemptCall, sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { Vault } from './vault.ts'

/** An attempt that runs. */
export interface Running {
  machine: Machine
  call: AttemptCall
  /** Its request was in the queue when it began: once that is gone, somebody has given it up. */
  queued: boolean
}

const TAKEN = `
SELECT 1 FROM triarch_work w JOIN triarch_tasks t ON t.key = w.task
WHERE t.id = ? AND w.step = ? AND w.operation = ? AND w.attempt = ? AND w.locked_by IS NOT NULL`

/** What runs of each agent over all nodes. */
export class Roll {
  readonly #store: Vault
  readonly #running = new Map<string, Set<Running>>()

  constructor(store: Vault) {
    this.#store = store
  }

  /** The agent, of which is told what runs whenever another of its attempts begins. */
  watched(machine: Machine, agent: Agent, begun: (one: Running, all: ReadonlySet<Running>) => void): Agent {
    return sabotagedAgent(agent, (call, work) => {
      if (!machine.alive) return work()
      const one = { machine, call, queued: this.#taken(call) }
      const all = this.#running.get(agent.name) ?? new Set()
      this.#running.set(agent.name, all.add(one))
      // What died with its machine, and what somebody has given up meanwhile, counts no more.
      for (const it of all) if (!it.machine.alive || (it.queued && !this.#taken(it.call))) all.delete(it)
      begun(one, all)
      return ended(work, () => all.delete(one))
    })
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
