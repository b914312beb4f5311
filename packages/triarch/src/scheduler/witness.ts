import type { Leased } from '../agent/host.ts'
import type { Environment } from '../environment/environment.ts'
import type { Register } from '../environment/register.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { LostRecord, RecordMark, StateStore, Transition, WorkRequest } from '../store/port.ts'
import type { TaskRunner } from './runner.ts'

/** So many looks after the last record there may still be something to find. */
const FRESH = 4

/** Spans of which something is remembered: the latest record, and so many of the requests that came without one. */
const MOST = 16
/** How far they reach back: further than the last time that the store was asked, however much is written. */
const REACH = 1.25

/** Records asked for at a time. */
const PAGE = 500

export interface WitnessOptions {
  environment: Pick<Environment, 'monotonic' | 'random'>
  store: Pick<StateStore, 'lost'>
  lease: Pick<Leased, 'holds'>
  /** How often the store is asked whether it still has them (ms). */
  every: number
  alert: (alert: RaisedAlert) => void
  /** Nothing that this node believes can be relied on. */
  wentBack: () => void
}

interface Known extends RecordMark {
  request?: WorkRequest
  workflow: string
  /** It was given back: others may have finished it, and retention dropped it. */
  released: boolean
}

interface Span {
  record?: Known
  requests: Known[]
  /** How many there were. */
  requested: number
}

/**
 * Some of the records that the store acknowledged to this node lately: if one of them is not there any more, the store went
 * back (a failover that lost the tail, a restore, a file copied back), and with it all that this node believes.
 */
export class Witness {
  readonly #options: WitnessOptions
  /** The tasks that are here. */
  readonly #runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>
  /**
   * A ring: of each span the last record, and requests that came without one. The store may have lost just those, and taken others in the
   * same span after it went back: of more than are kept each is as likely to be there (reservoir sampling, Vitter's algorithm R).
   */
  readonly #latest: Span[] = []
  /** Of tasks that were let go because their commits were refused; the store was not heard yet, or has lost it. */
  readonly #judged = new Map<string, Known>()
  #place = -1
  readonly #span: number
  /** When the span at hand ends. */
  #until = Number.NEGATIVE_INFINITY
  #givenBackAt = Number.NEGATIVE_INFINITY

  constructor(options: WitnessOptions, runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>) {
    this.#options = options
    this.#runners = runners
    this.#span = (options.every * REACH) / MOST
  }

  /** Something was written lately: of a node that has long been at rest nothing can have been lost. */
  get fresh(): boolean {
    const last = Math.max(this.#until, this.#givenBackAt)
    return this.#options.environment.monotonic() < last + FRESH * this.#options.every
  }

  /** A task was given back or set apart, by no record of it: the store may lose just that. */
  givenBack(): void {
    this.#givenBackAt = this.#options.environment.monotonic()
  }

  see(runner: TaskRunner, { seq, release, events, work }: Transition): void {
    const known = knownOf(runner, seq, release !== null)
    const [request] = work
    if (known) this.#remember(request && events === null ? { ...known, request } : known)
  }

  /** Of a task whose commit was refused: it may have been taken over, or lost with the end of its history. */
  judge(runner: TaskRunner): void {
    const known = knownOf(runner, runner.recorded, false)
    if (!known) return
    // Others may be judged at the same time, and the first of them speaks for all: it is not here any more by then.
    const oldest = this.#judged.size >= PAGE ? this.#judged.keys().next().value : undefined
    if (oldest !== undefined) this.#judged.delete(oldest)
    const mark = { ...known, released: true }
    this.#judged.set(known.id, mark)
    const judged = (lost: LostRecord[]) => {
      if (lost.some(({ last }) => last !== null || this.#owns)) return this.#options.wentBack()
      if (this.#judged.get(known.id) === mark) this.#judged.delete(known.id)
    }
    // What the store cannot say now, it says when it is asked for all of them.
    this.#lost([known]).then(judged, () => undefined)
  }

  /** Whether the store has gone back behind what it acknowledged. */
  async isBehind(): Promise<boolean> {
    const seen = this.#seen()
    if (seen.length === 0) return false
    for (const { id, last, request } of await this.#lost(seen)) {
      const known = seen.filter((it) => it.id === id && (it.request !== undefined) === (request === true))
      if (request) {
        if (await this.#isMissing(known)) return true
      } else if (last !== null || (this.#owns && known.some((it) => this.#isHere(it)))) return true
    }
    return false
  }

  /** Whether the store has lost one of these requests of a task, for which it said that there was one. */
  async #isMissing(requests: readonly Known[]): Promise<boolean> {
    for (const known of requests) {
      // It does not say which of several it was.
      const isLost = requests.length === 1 || (await this.#lost([known])).some(({ request }) => request)
      if (isLost && this.#owns && this.#isAwaited(known)) return true
    }
    return false
  }

  /** What is here is this node's. Where its lease is over others may have had it, and what is not there any more is nothing lost. */
  get #owns(): boolean {
    return this.#options.lease.holds()
  }

  /** Says what the store has lost of the tasks that are here, and of those that were here last. */
  async report(): Promise<void> {
    const known = new Map(this.#seen().map((it) => [it.id, it]))
    for (const runner of this.#runners.values()) {
      const it = knownOf(runner, runner.recorded, false)
      if (it && known.get(it.id)?.seq !== it.seq) known.set(it.id, it)
    }
    const all = [...known.values()]
    for (let from = 0; from < all.length; from += PAGE) {
      for (const { id, last, request } of await this.#lost(all.slice(from, from + PAGE))) {
        const { seq = 0, workflow = '' } = known.get(id) ?? {}
        const message = request ? REQUEST_LOST : lossOf(last, seq)
        this.#options.alert({ code: 'LOST_TAIL', task: id, workflow, cause: 'lost-tail', message })
      }
    }
  }

  #remember(known: Known): void {
    const now = this.#options.environment.monotonic()
    const starts = now >= this.#until
    if (starts) {
      this.#place = (this.#place + 1) % MOST
      this.#until = now + this.#span
    }
    const empty: Span = { requests: [], requested: 0 }
    const span = starts ? empty : (this.#latest[this.#place] ?? empty)
    this.#latest[this.#place] = span
    if (!known.request) span.record = known
    else if (++span.requested <= MOST) span.requests.push(known)
    else {
      const place = Math.floor(this.#options.environment.random() * span.requested)
      if (place < MOST) span.requests[place] = known
    }
  }

  /** It was not given back since either, of which nothing may be remembered: others did no more with it than this node knows. */
  #isHere({ id, key, released }: Known): boolean {
    const runner = this.#runners.get(id)
    return !released && runner?.key === key && !runner.returning
  }

  /** Whether the task still waits for a reply to it: an agent may have given it back, of which there is no record. */
  #isAwaited(known: Known): boolean {
    const runner = this.#runners.get(known.id)
    if (!known.request || !runner || runner.returning) return false
    return runner.awaits(known.request)
  }

  /** Of each task the last record, and the requests that it waits for. */
  #seen(): Known[] {
    const { length } = this.#latest
    const inOrder = this.#latest.map((_, index) => this.#latest[(this.#place + 1 + index) % length])
    const records = new Map(inOrder.flatMap((span) => (span?.record ? [[span.record.id, span.record]] : [])))
    const requests = inOrder.flatMap((span) => span?.requests ?? []).filter((known) => this.#isAwaited(known))
    return [...records.values(), ...requests, ...this.#judged.values()]
  }

  #lost(known: readonly Known[]): Promise<LostRecord[]> {
    return this.#options.store.lost(
      known.map(({ id, key, seq, request }) => ({ id, key, seq, ...(request && { request }) })),
    )
  }
}

function knownOf({ id, key, state }: TaskRunner, seq: number, released: boolean): Known | null {
  return key === null || seq === 0 ? null : { id, key, seq, workflow: state.workflow, released }
}

const REQUEST_LOST = 'the store lost a request to an agent: it is made again'

function lossOf(last: number | null, seq: number): string {
  if (last === null) return `the store lost the task, with all of its ${seq} records`
  const records = last + 1 === seq ? `record ${seq}` : `records ${last + 1} to ${seq}`
  return `the store lost ${records}: the task goes on from what is left`
}
