import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { CommitOutcome, StateStore, Transition } from '../store/port.ts'
import { type Telemetry, unheard } from '../telemetry/outlet.ts'
import { Detour, type Outcomes, type Waiting } from './detour.ts'

/** Most transitions in one database transaction: bounds how long others wait for the write lock. */
const LARGEST_BATCH = 500
/** Most bytes of events in one; a single transition may have more. */
const LARGEST_BYTES = 16 * 1024 * 1024
/** From this many on, a crowd is parted: half of it is written while the other half goes on. Fewer do not go side by side. */
const SPLIT_FROM = 96
/** While something is blocked: how long the next commit waits for those in flight (ms), and how many may be left behind. */
const PATIENCE = 25
const LEFT_BEHIND = 2

/**
 * Group commit: transitions that come while commits are in flight, or in the same round of the event loop, share the
 * next one, and so its one flush to disk. A task has one transition at a time, so commits side by side have no order to keep. What rows block that a user's transaction holds goes by a detour, so that others
 * do not wait for it.
 */
export class Committer {
  readonly #environment: Environment
  readonly #store: StateStore
  readonly #detour: Detour
  readonly #node: string | null
  readonly #telemetry: Telemetry
  #queue: Waiting[] = []
  /** The next round of the event loop begins a commit. */
  #soon = false
  #inFlight = 0
  /** Commits that nobody waits for. */
  #behind = 0

  constructor(
    environment: Environment,
    store: StateStore,
    { node = null, telemetry = unheard }: { node?: string | null; telemetry?: Telemetry } = {},
  ) {
    this.#node = node
    this.#telemetry = telemetry
    this.#environment = environment
    this.#store = store
    this.#detour = new Detour(environment, (batch) => this.#commit(batch))
  }

  /** Calls back with the transition's own outcome, or with the error that kept the whole batch from being written. */
  commit(transition: Transition, done: (outcome: CommitOutcome | Error) => void): void {
    this.#queue.push({ transition, done })
    if (this.#soon || this.#isFull) return
    this.#soon = true
    this.#environment.soon(() => {
      this.#soon = false
      // Those written together go on together and come back together. All at once, they and the store would take turns.
      const parts = this.#inFlight === 0 && this.#queue.length >= SPLIT_FROM ? 2 : 1
      this.#flush(Math.ceil(this.#queue.length / parts))
    })
  }

  get #isFull(): boolean {
    return this.#inFlight >= (this.#store.commitsAtOnce ?? 1)
  }

  #flush(size = LARGEST_BATCH): void {
    while (this.#queue.length > 0 && !this.#isFull) {
      if (this.#inFlight > 0 && this.#queue.length < SPLIT_FROM) return
      void this.#write(this.#next(Math.min(size, LARGEST_BATCH)))
    }
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    this.#inFlight++
    let isBehind = false
    const late = () => {
      if (this.#behind >= LEFT_BEHIND) return
      isBehind = true
      this.#behind++
      this.#inFlight--
      this.#flush()
    }
    const committing = this.#commit(batch)
    // The outcomes before these are told first. Where they show that something is blocked, this may be too, and take long.
    await null
    const timer = this.#detour.busy ? this.#environment.timer(PATIENCE, late) : null
    const outcomes = await committing
    timer?.cancel()
    if (isBehind) this.#behind--
    else this.#inFlight--
    // The next is on its way before the outcomes are told: a store with a thread of its own never waits.
    this.#flush()
    this.#detour.tell(batch, outcomes)
  }

  /** As many as may be written at once, by their number and by their bytes. */
  #next(size: number): Waiting[] {
    let bytes = 0
    const end = this.#queue.findIndex(({ transition: { events, children } }, index) => {
      bytes += events?.length ?? 0
      for (const child of children) bytes += child.events.length
      return index > 0 && (index >= size || bytes > LARGEST_BYTES)
    })
    return this.#queue.splice(0, end < 0 ? this.#queue.length : end)
  }

  /** The outcomes in order, or the error that kept the whole batch from being written. */
  async #commit(batch: readonly Waiting[]): Promise<Outcomes> {
    const asked = this.#telemetry.commit.open ? this.#environment.monotonic() : null
    try {
      const outcomes = await this.#store.commit(batch.map(({ transition }) => transition))
      if (asked !== null) this.#tell(batch, outcomes, asked)
      return outcomes
    } catch (error) {
      if (asked !== null) this.#tell(batch, null, asked)
      // One transition the store cannot take must not take its neighbours with it: each is tried alone.
      if (batch.length === 1 || (isTriarchError(error) && error.code !== 'STORE_FAILED')) return error as Error
      const outcomes: (CommitOutcome | Error)[] = []
      for (const waiting of batch) {
        // It may have been written all the same. A record cannot be appended twice; a request without one could.
        const { events, create } = waiting.transition
        const again = events !== null || create !== null
        outcomes.push(...(again ? [await this.#commit([waiting])].flat() : [unanswered(error as Error)]))
      }
      return outcomes
    }
  }

  #tell(batch: readonly Waiting[], outcomes: readonly CommitOutcome[] | null, asked: number): void {
    const environment = this.#environment
    this.#telemetry.commit.tell({
      ...{ at: environment.now(), node: this.#node, transitions: batch.length },
      bytes: batch.reduce((sum, { transition }) => sum + (transition.events?.length ?? 0), 0),
      refused: outcomes?.filter(({ ok }) => !ok).length ?? 0,
      ms: environment.monotonic() - asked,
      failed: outcomes === null,
    })
  }
}

/** What the store refused was several at once: of one of them nothing is known, least of all that it is to blame. */
function unanswered(cause: Error): TriarchError {
  return new TriarchError('STORE_UNANSWERED', cause.message, { cause })
}
