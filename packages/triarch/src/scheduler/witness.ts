import type { Environment } from '../environment/environment.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { LostRecord, RecordMark, StateStore, Transition } from '../store/port.ts'
import type { TaskRunner } from './runner.ts'

/** So many looks after the last record there may still be something to find. */
const FRESH = 4

/** Records that are remembered, each the latest of its span. */
const MOST = 16
/** How far they reach back: further than the last time that the store was asked, however much is written. */
const REACH = 1.25

/** Records asked for at a time. */
const PAGE = 500

export interface WitnessOptions {
  environment: Pick<Environment, 'monotonic'>
  store: Pick<StateStore, 'lost'>
  /** How often the store is asked whether it still has them (ms). */
  every: number
  alert: (alert: RaisedAlert) => void
  /** Nothing that this node believes can be relied on. */
  wentBack: () => void
}

interface Known extends RecordMark {
  workflow: string
  /** It was given back: others may have finished it, and retention dropped it. */
  released: boolean
}

/**
 * Some of the records that the store acknowledged to this node lately: if one of them is not there any more, the store went
 * back (a failover that lost the tail, a restore, a file copied back), and with it all that this node believes.
 */
export class Witness {
  readonly #options: WitnessOptions
  /** The tasks that are here. */
  readonly #runners: ReadonlyMap<string, TaskRunner>
  /** A ring. */
  readonly #latest: Known[] = []
  #place = -1
  readonly #span: number
  /** When the span at hand ends. */
  #until = Number.NEGATIVE_INFINITY
  #disownedAt = Number.NEGATIVE_INFINITY

  constructor(options: WitnessOptions, runners: ReadonlyMap<string, TaskRunner>) {
    this.#options = options
    this.#runners = runners
    this.#span = (options.every * REACH) / MOST
  }

  /** Something was written lately: of a node that has long been at rest nothing can have been lost. */
  get fresh(): boolean {
    const last = Math.max(this.#until, this.#disownedAt)
    return this.#options.environment.monotonic() < last + FRESH * this.#options.every
  }

  /** A task was given back or set apart, by no record of it: the store may lose just that. */
  disowned(): void {
    this.#disownedAt = this.#options.environment.monotonic()
  }

  see(runner: TaskRunner, { seq, release }: Transition): void {
    const known = knownOf(runner, seq, release !== null)
    if (known) this.#remember(known)
  }

  /** Of a task whose commit was refused: it may have been taken over, or lost with the end of its history. */
  judge(runner: TaskRunner): void {
    const known = knownOf(runner, runner.recorded, false)
    if (!known) return
    const judged = (lost: LostRecord[]) => {
      if (lost.length === 0) return
      this.#remember(known)
      this.#options.wentBack()
    }
    // What the store cannot say now, it says when it is asked for all of them.
    this.#lost([known]).then(judged, () => undefined)
  }

  /** Whether the store has gone back behind what it acknowledged. */
  async isBehind(): Promise<boolean> {
    const seen = this.#seen()
    if (seen.size === 0) return false
    const lost = await this.#lost([...seen.values()])
    return lost.some(({ id, last }) => last !== null || seen.get(id)?.released === false)
  }

  /** Says what the store has lost of the tasks that are here, and of those that were here last. */
  async report(): Promise<void> {
    const known = this.#seen()
    for (const runner of this.#runners.values()) {
      const it = knownOf(runner, runner.recorded, false)
      if (it) known.set(it.id, it)
    }
    const all = [...known.values()]
    for (let from = 0; from < all.length; from += PAGE) {
      for (const { id, last } of await this.#lost(all.slice(from, from + PAGE))) {
        const { seq = 0, workflow = '' } = known.get(id) ?? {}
        this.#options.alert({ code: 'LOST_TAIL', task: id, workflow, reason: 'lost-tail', message: lossOf(last, seq) })
      }
    }
  }

  #remember(known: Known): void {
    const now = this.#options.environment.monotonic()
    if (now >= this.#until) {
      this.#place = (this.#place + 1) % MOST
      this.#until = now + this.#span
    }
    this.#latest[this.#place] = known
  }

  /** Of each task the last. */
  #seen(): Map<string, Known> {
    const { length } = this.#latest
    const inOrder = this.#latest.map((_, index) => this.#latest[(this.#place + 1 + index) % length] as Known)
    return new Map(inOrder.map((known) => [known.id, known]))
  }

  #lost(known: readonly Known[]): Promise<LostRecord[]> {
    return this.#options.store.lost(known.map(({ id, key, seq }) => ({ id, key, seq })))
  }
}

function knownOf({ id, key, state }: TaskRunner, seq: number, released: boolean): Known | null {
  return key === null || seq === 0 ? null : { id, key, seq, workflow: state.workflow, released }
}

function lossOf(last: number | null, seq: number): string {
  if (last === null) return `the store lost the task, with all of its ${seq} records`
  const records = last + 1 === seq ? `record ${seq}` : `records ${last + 1} to ${seq}`
  return `the store lost ${records}: the task goes on from what is left`
}
