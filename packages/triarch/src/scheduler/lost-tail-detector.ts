import type { Leased } from '../agent/host.ts'
import type { Environment } from '../environment/environment.ts'
import type { Register } from '../environment/register.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { LostRecord, RecordMark, StateStore, Transition, WorkRequest } from '../store/port.ts'
import type { TaskRunner } from './runner.ts'

/** After the last write, losses may still be found for this many checks. */
const FRESH = 4

/** Number of time spans whose latest record is remembered. */
const MOST = 16
/** The spans reach back this many check intervals: beyond the last check, however much is written. */
const REACH = 1.25

/** Most records and requests of tasks in memory that one check asks for; the next check continues after them. */
const PAGE = 500

export interface LostTailDetectorOptions {
  environment: Environment
  store: Pick<StateStore, 'lostRecords'>
  lease: Pick<Leased, 'holds'>
  /** How often the store is checked (ms). */
  every: number
  alert: (alert: RaisedAlert) => void
  /** Called when the store went back, so that nothing this node believes can be relied on. */
  wentBack: () => void
}

interface WatchedRecord extends RecordMark {
  request?: WorkRequest
  workflow: string
  /** The task was given back: others may have finished it, and retention may have deleted it. */
  released: boolean
}

/**
 * Compares what the store acknowledged to this node with what the store has: tasks in memory, and some recently written records. If
 * something is missing, the store went back (a failover that lost the tail, a restore, a file copied back), and nothing this node
 * believes can be relied on. Requests of tasks that leave memory are compared as they leave (`Release.awaits`).
 */
export class LostTailDetector {
  readonly #options: LostTailDetectorOptions
  /** The tasks in memory. */
  readonly #runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>
  /** A ring buffer with the last record of each time span. */
  readonly #latest: WatchedRecord[] = []
  /** Tasks let go because their commits were refused, for which the store has not answered yet or has lost the record. */
  readonly #judged = new Map<string, WatchedRecord>()
  #place = -1
  /** Where the next page of tasks in memory begins. */
  #next = 0
  readonly #span: number
  /** When the current span ends. */
  #until = Number.NEGATIVE_INFINITY
  #givenBackAt = Number.NEGATIVE_INFINITY

  constructor(options: LostTailDetectorOptions, runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>) {
    this.#options = options
    this.#runners = runners
    this.#span = (options.every * REACH) / MOST
  }

  /** Something was written recently. A node that has been idle for long cannot have lost anything. */
  get fresh(): boolean {
    const last = Math.max(this.#until, this.#givenBackAt)
    return this.#options.environment.monotonic() < last + FRESH * this.#options.every
  }

  /** A task was given back or quarantined by a write without a record, which the store may lose too. */
  givenBack(): void {
    this.#givenBackAt = this.#options.environment.monotonic()
  }

  see(runner: TaskRunner, { seq, release }: Transition): void {
    const known = knownOf(runner, seq, release !== null)
    if (known) this.#remember(known)
  }

  /** When a task was to leave memory, the store reported that it lacks a request that the task awaits. */
  requestLost({ id, state }: TaskRunner): void {
    this.#tell(id, state.workflow, REQUEST_LOST)
    this.#options.wentBack()
  }

  /** Checks a task whose commit was refused: another node may have taken it over, or the end of its history may be lost. */
  judge(runner: TaskRunner): void {
    const known = knownOf(runner, runner.recorded, false)
    if (!known) return
    // At the limit the oldest is dropped: several are checked at a time, and the first loss found counts for all.
    const oldest = this.#judged.size >= PAGE ? this.#judged.keys().next().value : undefined
    if (oldest !== undefined) this.#judged.delete(oldest)
    const mark = { ...known, released: true }
    this.#judged.set(known.id, mark)
    const judged = (lost: LostRecord[]) => {
      if (lost.some(({ last }) => last !== null || this.#owns)) return this.#options.wentBack()
      if (this.#judged.get(known.id) === mark) this.#judged.delete(known.id)
    }
    // If the store cannot answer now, the task is checked again by `isBehind`.
    this.#lost([known]).then(judged, () => undefined)
  }

  /** Whether the store has lost something that it acknowledged. */
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

  /** Whether the store has lost one of these requests of a task; the store has only said that it lost some. */
  async #isMissing(requests: readonly WatchedRecord[]): Promise<boolean> {
    for (const known of requests) {
      // The store does not say which of several requests it was.
      const isLost = requests.length === 1 || (await this.#lost([known])).some(({ request }) => request)
      if (isLost && this.#owns && this.#isAwaited(known)) return true
    }
    return false
  }

  /**
   * Whether this node certainly owns the tasks in its memory. Once its lease is over, others may have had them, and a missing record
   * proves no loss.
   */
  get #owns(): boolean {
    return this.#options.lease.holds()
  }

  /** Reports what the store has lost of the tasks that are or recently were in memory. */
  async report(): Promise<void> {
    const records = new Map(this.#gone().map((it) => [it.id, it]))
    const requests: WatchedRecord[] = []
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

  #remember(known: WatchedRecord): void {
    const now = this.#options.environment.monotonic()
    if (now >= this.#until) {
      this.#place = (this.#place + 1) % MOST
      this.#until = now + this.#span
    }
    this.#latest[this.#place] = known
  }

  /** Whether the task is in memory and not being released. Then no other node has worked on it since. */
  #isHere({ id, key, released }: WatchedRecord): boolean {
    const runner = this.#runners.get(id)
    return !released && runner?.key === key && !runner.returning
  }

  /** Whether the task still waits for a reply to the request. An agent may have given it back, of which there is no record. */
  #isAwaited(known: WatchedRecord): boolean {
    const runner = this.#runners.get(known.id)
    if (!known.request || !runner || runner.returning) return false
    return runner.awaits(known.request)
  }

  /** Recent records of tasks that may have left memory, oldest first. Those whose id now belongs to another task in memory are left out. */
  #gone(): WatchedRecord[] {
    const isAnother = ({ id, key }: WatchedRecord) => (this.#runners.get(id)?.key ?? key) !== key
    const known = [...this.#latest, ...this.#judged.values()].filter((it) => !isAnother(it))
    return known.sort((a, b) => a.seq - b.seq)
  }

  /** The last record of each task in memory, and the requests that it awaits and that none of its records mentions. */
  *#here(): Generator<WatchedRecord> {
    for (const runner of this.#runners.values()) {
      const known = knownOf(runner, runner.recorded, false)
      if (!known) continue
      yield known
      for (const request of runner.requests) yield { ...known, request }
    }
  }

  #page(): WatchedRecord[] {
    const here = [...this.#here()]
    const from = this.#next < here.length ? this.#next : 0
    this.#next = from + PAGE
    return here.slice(from, from + PAGE)
  }

  async #lost(known: readonly WatchedRecord[]): Promise<LostRecord[]> {
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

function knownOf({ id, key, state }: TaskRunner, seq: number, released: boolean): WatchedRecord | null {
  return key === null || seq === 0 ? null : { id, key, seq, workflow: state.workflow, released }
}

const REQUEST_LOST = 'the store lost a request to an agent: it is made again'

function lossOf(last: number | null, seq: number): string {
  if (last === null) return `the store lost the task, with all of its ${seq} records`
  const records = last + 1 === seq ? `record ${seq}` : `records ${last + 1} to ${seq}`
  return `the store lost ${records}: the task goes on from what is left`
}
