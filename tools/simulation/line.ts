import type { Agent } from '../../packages/triarch/src/index.ts'
import type {
  CommitOutcome,
  TakeWork,
  Transition,
  WorkItem,
  WorkRequest,
} from '../../packages/triarch/src/store/port.ts'
import { outlineIn } from '../../packages/triarch/src/store/record.ts'
import type { StoreCall } from '../../packages/triarch/src/testing/shared.ts'
import type { Plan } from './plan.ts'
import type { Vault } from './vault.ts'

/** So many steps of one other tenant may go before the first of a newcomer: what begins at the same place, and what was taken out of turn before. */
const MOST_BEFORE = 6

interface Waiting extends Pick<WorkRequest, 'agent' | 'action'> {
  /** Row of its task. */
  task: number
  step: number
  priority: number
  /** Null: its tenant has others in the queue, or nobody said whose it is. */
  newcomer: string | null
  share: string | null
  /** As its owner says, and whether the step was requested and queued then: one that waited in its process before is older than that. */
  at: number
  first: boolean
  /** Of each tenant, how many went before it. */
  passed: Map<string, number>
}

const TASK = 'SELECT priority FROM triarch_tasks WHERE key = ?'
const QUEUED = `
SELECT 1 FROM triarch_work WHERE task = ? AND step = ? AND locked_by IS NULL AND (expires_at IS NULL OR expires_at > ?)`

/** Queues of agents that are shared, or whose steps age, as the store saw what was queued and taken. */
export class Line {
  readonly faults: string[] = []
  readonly #store: Vault
  readonly #plan: NonNullable<Plan['line']> | null
  readonly #waiting = new Map<string, Waiting>()
  readonly #known = new Set<string>()

  constructor(store: Vault, { line }: Plan) {
    this.#store = store
    this.#plan = line ?? null
    if (line) store.after = (call, args, answer) => this.#see(call, args, answer)
  }

  /** The agent with its policy. */
  static agent({ line }: Plan, agent: Agent): Agent {
    if (!line) return agent
    const { concurrency, tenants } = line
    if (line.ageing !== undefined) return Object.freeze({ ...agent, concurrency, ageing: line.ageing })
    return Object.freeze({
      ...agent,
      concurrency,
      fairness: { key: ({ id }: { id: string }) => tenantOf(id, tenants ?? 1) },
    })
  }

  /** After each call that the store has done. */
  #see(call: StoreCall, args: readonly unknown[], answer: unknown): void {
    if (call === 'commit') {
      const outcomes = answer as CommitOutcome[]
      for (const [index, transition] of (args[0] as Transition[]).entries()) {
        const outcome = outcomes[index]
        if (outcome?.ok) for (const request of transition.work) this.#queued(outcome.key, transition, request)
      }
    }
    if (call === 'takeWork') this.#taken(args[0] as TakeWork, answer as WorkItem[])
  }

  #queued(
    task: number,
    transition: Transition,
    { step, operation, attempt, agent, action, request }: WorkRequest,
  ): void {
    const share = request.share?.key ?? null
    const key = `${request.task} ${step}`
    const others = [...this.#waiting.values()].some((it) => it.agent === agent && it.share === share)
    const { priority } = this.#store.database.get<{ priority: number }>(TASK, task) ?? { priority: 0 }
    const name = `${key} ${operation} ${attempt}`
    const first = !this.#known.has(name) && attempt === 1 && requests(transition, step)
    const { at } = transition
    this.#known.add(name)
    const newcomer = others ? null : share
    this.#waiting.set(key, { task, step, agent, action, priority, share, newcomer, at, first, passed: new Map() })
  }

  #taken({ agents }: TakeWork, items: readonly WorkItem[]): void {
    for (const { agent, request } of items) {
      const key = `${request.task} ${request.step}`
      const one = this.#waiting.get(key)
      this.#waiting.delete(key)
      if (!one) continue
      const asked = agents.filter((share) => share.agent === agent && share.actions.includes(request.action))
      for (const [name, other] of this.#waiting) {
        if (other.agent !== agent || !asked.some(({ actions }) => actions.includes(other.action))) continue
        if (!this.#store.database.get(QUEUED, other.task, other.step, this.#store.clock.now()))
          this.#waiting.delete(name)
        else this.#pass(one, other, name)
      }
    }
  }

  #pass(one: Waiting, other: Waiting, name: string): void {
    const plan = this.#plan
    if (plan?.ageing !== undefined) {
      const { ageing, slack } = plan
      // As it stands in the rule. A request that was queued before may be older than it looks.
      const late = one.at - other.at - (one.priority - other.priority) * ageing
      if (one.first && late > slack) this.faults.push(`${name} was passed by one that should come ${late} ms later`)
      return
    }
    if (other.newcomer === null || one.share === null || one.share === other.share || one.priority !== other.priority)
      return
    const count = (other.passed.get(one.share) ?? 0) + 1
    other.passed.set(one.share, count)
    if (count === MOST_BEFORE + 1) this.faults.push(`${name} of ${other.share} waits for ${count} of ${one.share}`)
  }
}

/** Whether this transition requests the step. */
function requests({ events, seq }: Transition, step: number): boolean {
  return events !== null && outlineIn(events, seq).some((it) => it.type === 'stepRequested' && it.id === step)
}

function tenantOf(id: string, tenants: number): string {
  if (id.startsWith('loud')) return 'loud'
  let sum = 0
  for (const character of id) sum += character.codePointAt(0) ?? 0
  return `tenant ${sum % tenants}`
}
