import type { Agent } from '../definition/definition.ts'
import { type FairTask, type QueueRule, toQueueRule } from '../definition/queue.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import { agedRank, type Share } from '../policy/line.ts'

/** Where a step stands in its agent's queue. */
export interface Standing {
  /** Higher first. */
  readonly rank: number
  readonly share?: Share
  /** The queue itself, where its agent's steps wait by keys. */
  readonly queue?: string
}

const LONGEST_KEY = 200
const [LEAST_WEIGHT, MOST_WEIGHT] = [0.01, 100]

/** How the queues of this process's agents are ordered, where they say so. */
export class Queueing {
  readonly #rules: ReadonlyMap<string, QueueRule>
  readonly #failed: (error: unknown) => void

  constructor(agents: Iterable<Agent>, failed: (error: unknown) => void) {
    const rules = [...agents].map((agent) => toQueueRule(agent.name, agent))
    this.#rules = new Map(rules.flatMap((rule) => (rule ? [[rule.agent, rule]] : [])))
    this.#failed = failed
  }

  /** Higher comes first. */
  rank(agent: string, state: TaskState, step: Step): number {
    const priority = step.policy.priority + state.priority
    const ageing = this.#rules.get(agent)?.ageing
    return ageing ? agedRank(priority, step.due, ageing) : priority
  }

  standing(agent: string, state: TaskState, step: Step): Standing {
    const rank = this.rank(agent, state, step)
    const fairness = this.#rules.get(agent)?.fairness
    return fairness ? { rank, share: this.#share(fairness, state) } : { rank }
  }

  #share({ key, weight }: NonNullable<QueueRule['fairness']>, state: TaskState): Share {
    try {
      const own = key(fairTask(state))
      const sound = typeof own === 'string' && own.length <= LONGEST_KEY && own.isWellFormed() && !/\p{Cc}/u.test(own)
      if (!sound) throw new TypeError(`fairness.key gave no string of at most ${LONGEST_KEY} characters`)
      const wanted = weight?.(own) ?? 1
      if (!(wanted >= LEAST_WEIGHT && wanted <= MOST_WEIGHT))
        throw new TypeError(`fairness.weight gave no number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`)
      return { key: own, weight: wanted }
    } catch (error) {
      // Whose it is cannot be told: that is no reason to lose it.
      this.#failed(error)
      return { key: '', weight: 1 }
    }
  }
}

function fairTask({ id, workflow, version, priority, tags, metadata, input }: TaskState): FairTask {
  return { id, workflow, version, priority, tags, metadata: metadata ?? {}, input }
}
