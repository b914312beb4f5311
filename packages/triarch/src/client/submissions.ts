import type { Environment } from '../environment/environment.ts'
import { GroupCommit } from '../store/group.ts'
import type { NewTask, StateStore, SubmitOutcome } from '../store/port.ts'

/** Submits tasks to the store for any node to run. Tasks submitted at the same time share a transaction. */
export class Submissions {
  readonly #group: GroupCommit<NewTask, SubmitOutcome>

  constructor(store: StateStore, environment: Environment) {
    this.#group = new GroupCommit(environment, {
      write: (batch) => store.submit(batch),
      bytes: ({ events }) => events.length,
      // A retry is safe, because the same id is the same task.
      isRepeatable: () => true,
      atOnce: store.commitsAtOnce ?? 1,
    })
  }

  /** Throws STORE_*. */
  submit(task: NewTask): Promise<SubmitOutcome> {
    return new Promise((resolve, reject) => {
      this.#group.add(task, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
    })
  }
}

interface PendingSubmission {
  task: NewTask
  resolve(outcome: SubmitOutcome): void
  reject(error: unknown): void
}

/** Submits tasks in one transaction of the user's. Those of the same turn of the event loop share a call, and its outcome. */
export class EnclosedSubmissions {
  readonly #store: StateStore
  readonly #environment: Environment
  readonly #transaction: unknown
  #waiting: PendingSubmission[] = []

  constructor(store: StateStore, environment: Environment, transaction: unknown) {
    this.#store = store
    this.#environment = environment
    this.#transaction = transaction
  }

  /** Throws STORE_*. */
  submit(task: NewTask): Promise<SubmitOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject })
      if (this.#waiting.length === 1) this.#environment.soon(() => void this.#write())
    })
  }

  async #write(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    try {
      const tasks = waiting.map(({ task }) => task)
      const outcomes = await this.#store.submitIn(this.#transaction, tasks)
      for (const [index, { resolve }] of waiting.entries()) resolve(outcomes[index] as SubmitOutcome)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
