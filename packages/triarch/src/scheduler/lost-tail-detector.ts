import type { Leased } from '../agent/host.ts'
import type { Environment } from '../environment/environment.ts'
import type { Register } from '../environment/register.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { LostRecord, RecordMark, StateStore, Transition, WorkRequest } from '../store/port.ts'
import type { TaskRunner } from './runner.ts'

/** So many looks after the last record there may still be something to find. */
const FRESH = 4

/** Spans of which the latest record is remembered. */
const MOST = 16
/** How far they reach back: further than the last time that the store was asked, however much is written. */
const REACH = 1.25

/** Records and requests of the tasks in memory that one look asks for; those after them are for the next look. */
const PAGE = 500

export interface LostTailDetectorOptions {
  environment: Environment
  store: Pick<StateStore, 'lostRecords'>
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

/**
 * Compares what the store acknowledged to this node with what the store has: the tasks in memory, and some of the records that were written
 * lately. If one of them is not there any more, the store went back (a failover that lost the tail, a restore, a file copied back), and with it
 * all that this node believes. Requests of tasks that leave memory are compared as they leave (`Release.awaits`).
 */
export class LostTailDetector {
  readonly #options: LostTailDetectorOptions
  /** The tasks that are here. */
  readonly #runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>
  /** A ring: the last record of each span. */
  readonly #latest: Known[] = []
  /** Of tasks that were let go because their commits were refused; the store was not heard yet, or has lost it. */
  readonly #judged = new Map<string, Known>()
  #place = -1
  /** Where the next page of what is in memory begins. */
  #next = 0
  readonly #span: number
  /** When the span at hand ends. */
  #until = Number.NEGATIVE_INFINITY
  #givenBackAt = Number.NEGATIVE_INFINITY

  constructor(options: LostTailDetectorOptions, runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>) {
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

  see(runner: TaskRunner, { seq, release }: Transition): void {
    const known = knownOf(runner, seq, release !== null)
    if (known) this.#remember(known)
  }

  /** The store says of a task that is to leave memory that it lacks a request that the task waits for. */
  requestLost({ id, state }: TaskRunner): void {
    this.#tell(id, state.workflow, REQUEST_LOST)
    this.#options.wentBack()
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
    const known = [...this.#gone(), ...this.#page()]
    for (const { id, last, request } of await this.#lost(known)) {
      const of = known.filter((it) => it.id === id && (it.request !== undefined) === (request === true))
      if (request) {
        if (await this.#isMissing(of)) return true
      } else if (last !== null || (this.#owns && of.some((it) => this.#isHere(it)))) return true
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
    const records = new Map(this.#gone().map((it) => [it.id, it]))
    const requests: Known[] = []
    for (const it of this.#here()) {
      if (it.request) requests.push(it)
      else records.set(it.id, it)
    }
    const told = new Set<string>()
    for (const { id, last, request } of await this.#lost([...records.values(), ...requests])) {
      const { seq = 0, workflow = '' } = records.get(id) ?? {}
      if (!told.has(id)) this.#tell(id, workflow, request ? REQUEST_LOST : lossOf(last, seq))
      told.add(id)
    }
  }

  #tell(task: string, workflow: string, message: string): void {
    this.#options.alert({ code: 'LOST_TAIL', task, workflow, cause: 'lost-tail', message })
  }

  #remember(known: Known): void {
    const now = this.#options.environment.monotonic()
    if (now >= this.#until) {
      this.#place = (this.#place + 1) % MOST
      this.#until = now + this.#span
    }
    this.#latest[this.#place] = known
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

  /** Of tasks that were here, the older records first: but for those whose id is that of another task in memory. */
  #gone(): Known[] {
    const isAnother = ({ id, key }: Known) => (this.#runners.get(id)?.key ?? key) !== key
    const known = [...this.#latest, ...this.#judged.values()].filter((it) => !isAnother(it))
    return known.sort((a, b) => a.seq - b.seq)
  }

  /** The last record of each task in memory, and the requests that it waits for and that are in none of its records. */
  *#here(): Generator<Known> {
    for (const runner of this.#runners.values()) {
      const known = knownOf(runner, runner.recorded, false)
      if (!known) continue
      yield known
      for (const request of runner.requests) yield { ...known, request }
    }
  }

  #page(): Known[] {
    const here = [...this.#here()]
    const from = this.#next < here.length ? this.#next : 0
    this.#next = from + PAGE
    return here.slice(from, from + PAGE)
  }

  async #lost(known: readonly Known[]): Promise<LostRecord[]> {
    const lost: LostRecord[] = []
    for (let from = 0; from < known.length; from += PAGE) {
      const page = known.slice(from, from + PAGE)
      lost.push(
        ...(await this.#options.store.lostRecords(
          page.map(({ id, key, seq, request }) => ({ id, key, seq, ...(request && { request }) })),
        )),
      )
    }
    return lost
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
