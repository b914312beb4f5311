import type { Leased } from '../agent/host.ts'
import { delay, type Environment } from '../environment/environment.ts'
import type { Register } from '../environment/register.ts'
import { isTriarchError } from '../error/error.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Reply } from '../kernel/message.ts'
import type { LostRecord, RecordMark, StateStore, Transition, WorkRequest } from '../store/port.ts'
import { handOn, isAway, untilAnswered } from './handover.ts'
import type { TaskRunner } from './runner.ts'

/** So many looks after the last record there may still be something to find. */
const FRESH = 4

/** Spans of which the latest record is remembered. */
const MOST = 16
/** How far they reach back: further than the last time that the store was asked, however much is written. */
const REACH = 1.25

/** Records and requests of the tasks in memory that one look asks for; those after them are for the next look. */
const PAGE = 500

/** Requests that are remembered of tasks that left memory since the last look. Of more, the oldest are forgotten. */
const MOST_LEFT = 1_000

export interface LostTailDetectorOptions {
  environment: Environment
  store: Pick<StateStore, 'lost' | 'task' | 'post'>
  lease: Pick<Leased, 'holds'>
  /** How often the store is asked whether it still has them (ms). */
  every: number
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
  /** Nothing that this node believes can be relied on. */
  wentBack: () => void
}

interface Known extends RecordMark {
  request?: WorkRequest
  workflow: string
  /** It was given back: others may have finished it, and retention dropped it. */
  released: boolean
}

/** A request whose task left memory while it waited for the reply. */
interface Left extends Known {
  request: WorkRequest
  /** By which this node had the task. */
  epoch: number
}

/**
 * Compares what the store acknowledged to this node with what the store has: the tasks in memory, some of the records that were written lately,
 * and requests of tasks that left memory. If one of them is not there any more, the store went back (a failover that lost the tail, a restore, a
 * file copied back), and with it all that this node believes.
 */
export class LostTailDetector {
  readonly #options: LostTailDetectorOptions
  /** The tasks that are here. */
  readonly #runners: Pick<Register<string, TaskRunner>, 'get' | 'values'>
  /** A ring: the last record of each span. */
  readonly #latest: Known[] = []
  /** Of tasks that were let go because their commits were refused; the store was not heard yet, or has lost it. */
  readonly #judged = new Map<string, Known>()
  /** Requests that are in none of their task's records: a commit that names the last record is no proof that they are there. */
  readonly #unrecorded = new WeakSet<WorkRequest>()
  readonly #left = new Set<Left>()
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

  see(runner: TaskRunner, { seq, release, events, work, epoch }: Transition): void {
    const known = knownOf(runner, seq, release !== null)
    if (!known) return
    this.#remember(known)
    if (events === null) for (const request of work) this.#unrecorded.add(request)
    if (release) for (const request of this.#requestsOf(runner)) this.#leave({ ...known, request, epoch })
  }

  #leave(request: Left): void {
    const [oldest] = this.#left
    if (oldest && this.#left.size >= MOST_LEFT) this.#left.delete(oldest)
    this.#left.add(request)
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
    const left = [...this.#left]
    const known = [...this.#gone(), ...this.#page()]
    for (const { id, last, request } of await this.#lost(known)) {
      const of = known.filter((it) => it.id === id && (it.request !== undefined) === (request === true))
      if (request) {
        if (await this.#isMissing(of)) return true
      } else if (last !== null || (this.#owns && of.some((it) => this.#isHere(it)))) return true
    }
    if ((await this.#unanswered(left)).length > 0) return true
    // The store had them, or what became of them, after their tasks had left: one that goes back behind that has the tasks as this node's.
    for (const request of left) this.#left.delete(request)
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

  /** Of these requests those that nobody answers: neither they nor a letter is there, and nobody has had the task since it left this node. */
  async #unanswered(left: readonly Left[]): Promise<Left[]> {
    const suspects = new Set<string>()
    for (const { id, request } of await this.#lost(left)) if (request) suspects.add(id)
    const unanswered: Left[] = []
    for (const it of left) {
      // The store does not say which of several it was.
      if (!suspects.has(it.id) || !(await this.#lost([it])).some(({ request }) => request)) continue
      const row = await this.#options.store.task(it.id)
      const isUntouched = row?.key === it.key && row.epoch === it.epoch && row.lockedBy === null
      if (isUntouched && row.status !== 'stopped') unanswered.push(it)
    }
    return unanswered
  }

  /** Says what the store has lost of the tasks that are here, and of those that were here last. */
  async report(): Promise<void> {
    void this.#answer([...this.#left])
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

  /** Of tasks that no node has. Tries until the store answers, whatever becomes of this node meanwhile. */
  async #answer(left: readonly Left[]): Promise<void> {
    const { environment, failed } = this.#options
    for (const backoff = untilAnswered(); ; ) {
      try {
        for (const { id, workflow, request } of await this.#unanswered(left)) {
          this.#tell(id, workflow, REQUEST_LOST)
          void handOn(this.#options, id, [lostReply(request, environment.now())])
        }
        return
      } catch (error) {
        if (isTriarchError(error, 'STORE_CLOSED')) return
        if (!isAway(error)) return failed(error)
        await delay(environment, backoff.next())
      }
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
      for (const request of this.#requestsOf(runner)) yield { ...known, request }
    }
  }

  #requestsOf(runner: TaskRunner): WorkRequest[] {
    return runner.requests.filter((request) => this.#unrecorded.has(request) && runner.awaits(request))
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
        ...(await this.#options.store.lost(
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

/** The attempt may have run in what the store forgot. */
function lostReply({ step, operation, attempt }: WorkRequest, at: number): Reply {
  const error = { name: 'StepLostError', code: 'STEP_LOST', message: 'the store lost the request of the attempt' }
  const outcome = { kind: 'failed', error, retryable: true, unknown: true, lost: 'stop' } as const
  return { type: 'reply', step, operation, attempt, outcome, startedAt: null, endedAt: at, node: null }
}
