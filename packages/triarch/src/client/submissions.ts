import type { Environment } from '../environment/environment.ts'
import { GroupCommit } from '../store/group.ts'
import type { NewTask, StateStore, SubmitOutcome } from '../store/port.ts'

/** Tasks that this process hands to the store for others to run: those submitted at the same time share a transaction. */
export class Submissions {
  readonly #group: GroupCommit<NewTask, SubmitOutcome>

  constructor(store: StateStore, environment: Environment) {
    this.#group = new GroupCommit(environment, {
      write: (batch) => store.submit(batch),
      bytes: ({ events }) => events.length,
      // The same id is the same task.
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
