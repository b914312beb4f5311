import type { Environment } from '../environment/environment.ts'
import { sizeOf } from '../kernel/size.ts'
import { GroupCommit } from '../store/group.ts'
import type { CommitOutcome, StateStore, Transition } from '../store/port.ts'
import { noTelemetry, type Telemetry } from '../telemetry/outlet.ts'

/** Group commit of a node's transitions, with telemetry. */
export class Committer {
  readonly #environment: Environment
  readonly #store: StateStore
  readonly #node: string | null
  readonly #telemetry: Telemetry
  readonly #group: GroupCommit<Transition, CommitOutcome>

  constructor(
    environment: Environment,
    store: StateStore,
    { node = null, telemetry = noTelemetry }: { node?: string | null; telemetry?: Telemetry } = {},
  ) {
    this.#node = node
    this.#telemetry = telemetry
    this.#environment = environment
    this.#store = store
    this.#group = new GroupCommit(environment, {
      write: (batch) => this.#write(batch),
      bytes,
      // A transition with a record can be retried, because a record cannot be appended twice. A request without a record could be.
      isRepeatable: ({ events, create }) => events !== null || create !== null,
      atOnce: store.commitsAtOnce ?? 1,
    })
  }

  /** Calls back with the transition's own outcome, or with the error that kept the whole batch from being written. */
  commit(transition: Transition, done: (outcome: CommitOutcome | Error) => void): void {
    this.#group.add(transition, done)
  }

  async #write(batch: readonly Transition[]): Promise<CommitOutcome[]> {
    if (!this.#telemetry.commit.open) return this.#store.commit(batch)
    const asked = this.#environment.monotonic()
    try {
      const outcomes = await this.#store.commit(batch)
      this.#tell(batch, outcomes, asked)
      return outcomes
    } catch (error) {
      this.#tell(batch, null, asked)
      throw error
    }
  }

  #tell(batch: readonly Transition[], outcomes: readonly CommitOutcome[] | null, asked: number): void {
    const environment = this.#environment
    this.#telemetry.commit.tell({
      ...{ at: environment.now(), node: this.#node, transitions: batch.length },
      bytes: batch.reduce((sum, { events }) => sum + (events?.length ?? 0), 0),
      refused: outcomes?.filter(({ ok }) => !ok).length ?? 0,
      ms: environment.monotonic() - asked,
      failed: outcomes === null,
    })
  }
}

/**
 * Approximate size of a transition, from the parts that may be large. An input that a record refers to counts again in its request, which
 * has it in full.
 */
function bytes({ events, snapshot, work, children, posts }: Transition): number {
  let sum = (events?.length ?? 0) + (snapshot?.output?.length ?? 0) + (snapshot?.progress?.length ?? 0)
  for (const { request: it } of work)
    sum += sizeOf(it.input) + sizeOf(it.output) + sizeOf(it.checkpoint) + sizeOf(it.event)
  for (const child of children) sum += child.events.length
  for (const { message } of posts) sum += sizeOf(message)
  return sum
}
