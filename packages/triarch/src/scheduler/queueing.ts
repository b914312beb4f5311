import type { Agent } from '../definition/definition.ts'
import { type FairnessWeights, type FairTask, shareOf } from '../definition/fairness.ts'
import { type QueueRule, toQueueRule } from '../definition/queue.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import type { FairShare } from '../kernel/task/order.ts'
import { agedRank } from '../policy/line.ts'

/** The place of a step in its agent's queue. */
export interface QueuePosition {
  /** Higher ranks come first. */
  readonly rank: number
  readonly share?: FairShare
  /** The queue, if the agent's steps wait in queues by keys. */
  readonly queue?: string
}

/** How the queues of this process's agents are ordered, for agents that define it. */
export class Queueing {
  readonly #rules: ReadonlyMap<string, QueueRule>
  readonly #weights: (agent: string) => FairnessWeights | undefined
  readonly #failed: (error: unknown) => void

  /** `weights`: the weights that operators have currently set. */
  constructor(
    agents: Iterable<Agent>,
    weights: (agent: string) => FairnessWeights | undefined,
    failed: (error: unknown) => void,
  ) {
    const rules = [...agents].map((agent) => toQueueRule(agent.name, agent))
    this.#rules = new Map(rules.flatMap((rule) => (rule ? [[rule.agent, rule]] : [])))
    this.#weights = weights
    this.#failed = failed
  }

  /** The rank of the step; higher comes first. */
  rank(agent: string, state: TaskState, step: Step): number {
    const priority = step.policy.priority + state.priority
    const ageing = this.#rules.get(agent)?.ageing
    return ageing ? agedRank(priority, step.due, ageing) : priority
  }

  standing(agent: string, state: TaskState, step: Step): QueuePosition {
    const rank = this.rank(agent, state, step)
    const fairness = this.#rules.get(agent)?.fairness
    if (!fairness) return { rank }
    return { rank, share: shareOf(fairness, fairTask(state), this.#failed, this.#weights(agent)) }
  }
}

function fairTask({ id, workflow, version, priority, tags, metadata, input }: TaskState): FairTask {
  return { id, workflow, version, priority, tags, metadata: metadata ?? {}, input }
}
