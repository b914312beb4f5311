import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { TaskState } from '../kernel/state.ts'
import type { StateStore } from '../store/port.ts'
import { type Ending, endingOf } from '../view/status.ts'

/** The result of a wait: how the task ended, if this process ended it; otherwise its row is to be read. */
export interface WaitResult {
  ending?: Ending
  /** The task's version in the store when last read (TaskMark). */
  mark?: string
}

export interface Listening {
  heard: Promise<WaitResult>
  /** Stops listening; `heard` never settles. */
  stop(): void
}

export interface ListenOptions {
  /** What to wait for: the task's end, or any change. */
  until: 'end' | 'any'
  /** For `any`: the known version; any other version is a change. If absent, the first read is. */
  mark?: string
  /** The first poll comes after the shortest interval instead of at once. */
  later?: boolean
  /** `Waiters.missed` at a time when the task certainly had not ended. If it has not changed, the first poll can come later. */
  missed?: number | undefined
}

interface EndWait {
  readonly id: string
  readonly until: 'end' | 'any'
  readonly mark: string | undefined
  interval: number
  /** Its key in the queue. */
  place: number
  due: number
  /** Since when the store cannot be polled; null: it can. */
  failingSince: number | null
  readonly heard: PromiseWithResolvers<WaitResult>
}

/** Interval between the first and the second poll (ms); doubled each time, up to the slowest. */
const FASTEST = 5
/** The slowest interval if the store notifies us of ends (ms): a poll then only finds what a notification missed. */
const SLOWEST_WHEN_TOLD = 2_000
/** The store notifies us of every end only this long after the first waiter registered (ms). */
const ATTENDED = 4_000
/** The pause after a poll is at least this many times its duration. */
const SHARE = 2
/** Most tasks in one poll. */
const MOST = 1_000
/** How long the store may be busy or unreachable before waiters get the error (ms). */
const PATIENCE = 60_000

/**
 * All waits of this process for tasks to end or change. Waiters are notified by this process's own scheduler, or by the store if it can;
 * the rest is covered by one poll at a time for all waiters together.
 */
export class Waiters {
  readonly #store: StateStore
  readonly #environment: Environment
  readonly #slowest: number
  readonly #isLocal: (id: string) => boolean
  /** Waits by task. A single wait, the common case, is stored without a set. */
  readonly #byTask = new Register<string, EndWait | Set<EndWait>>()
  /** Waits by poll interval: at once, FASTEST, twice that, and so on. Those of one queue come due in the order in which they entered it. */
  readonly #intervals: Register<number, EndWait>[] = []
  #places = 0
  readonly #ended = (ids: readonly string[] | null): void => this.#notified(ids)
  #missed = 0
  /** The store reported that some tasks ended; the next poll covers all waits, however many reports came. */
  #isNotified = false
  #attendedAt = Number.NEGATIVE_INFINITY
  #limit: number
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #looking = false
  /** No immediate poll before this time, so that polling takes only a share of the time however much is written. */
  #notBefore = Number.NEGATIVE_INFINITY

  constructor(store: StateStore, environment: Environment, slowest: number, isLocal: (id: string) => boolean) {
    this.#store = store
    this.#environment = environment
    this.#slowest = slowest
    this.#limit = slowest
    this.#isLocal = isLocal
  }

  /** The number of waits. */
  get size(): number {
    let size = 0
    for (const waits of this.#byTask.values()) size += waits instanceof Set ? waits.size : 1
    return size
  }

  /**
   * Counts notifications of ends without a waiter here, notifications that do not name the tasks, and times when a notification may have
   * been missed.
   */
  get missed(): number {
    return this.#missed
  }

  /** Nothing that happens after this call is missed. Rejects with UNKNOWN_TASK and STORE_*. */
  listen(id: string, { until: news, mark, later = false, missed }: ListenOptions): Listening {
    const heard = Promise.withResolvers<WaitResult>()
    const wait: EndWait = { id, until: news, mark, interval: 0, place: 0, due: 0, failingSince: null, heard }
    const waits = this.#byTask.get(id)
    if (waits instanceof Set) waits.add(wait)
    else this.#byTask.set(id, waits ? new Set([waits, wait]) : wait)
    if (this.#isQuiet(wait)) this.#enter(wait, this.#lastInterval)
    else {
      this.#attend()
      this.#enter(wait, later || missed === this.#missed ? 1 : 0)
    }
    heard.promise.catch(ignored) // a stopped listener need not handle the rejection
    return { heard: heard.promise, stop: () => this.#drop(wait) }
  }

  #hear(wait: EndWait, heard: WaitResult): void {
    this.#drop(wait)
    wait.heard.resolve(heard)
  }

  #fail(wait: EndWait, error: unknown): void {
    this.#drop(wait)
    wait.heard.reject(error)
  }

  #waits(wait: EndWait): boolean {
    const waits = this.#byTask.get(wait.id)
    return waits instanceof Set ? waits.has(wait) : waits === wait
  }

  #waitsOf(id: string): Iterable<EndWait> {
    const waits = this.#byTask.get(id)
    return waits === undefined ? [] : waits instanceof Set ? waits : [waits]
  }

  /** This process's scheduler made a transition durable. */
  moved(state: TaskState): void {
    if (state.status === 'stopped' && !this.#byTask.has(state.id)) this.#missed++
    for (const wait of this.#waitsOf(state.id)) {
      if (wait.until === 'any') this.#hear(wait, {})
      else if (state.status === 'stopped') this.#hear(wait, { ending: endingOf(state) })
    }
  }

  /** The store reports that these tasks ended; null: some did. */
  #notified(ids: readonly string[] | null): void {
    if (ids === null || ids.some((id) => !this.#byTask.has(id))) this.#missed++
    if (ids !== null) {
      for (const id of ids) for (const wait of [...this.#waitsOf(id)]) this.#hear(wait, {})
    } else if (this.#byTask.size > 0) {
      this.#isNotified = true
      this.#lookAt(Math.max(this.#environment.monotonic(), this.#notBefore))
    }
  }

  /** Makes all waits due, except those whose end this process reports itself. */
  #hurry(): void {
    this.#isNotified = false
    for (const lane of this.#intervals.slice(1)) {
      for (const wait of lane.values()) if (!this.#isQuiet(wait)) this.#enter(wait, 0)
    }
  }

  #attend(): void {
    const now = this.#environment.monotonic()
    const told = this.#store.watchEnds?.(this.#ended) ?? false
    // Notifications may have been lost while this process was not registered with the store.
    if (!told || now - this.#attendedAt > ATTENDED) this.#missed++
    this.#attendedAt = now
    this.#limit = told ? Math.max(SLOWEST_WHEN_TOLD, this.#slowest) : this.#slowest
  }

  /** Whether this process itself will report the end. */
  #isQuiet({ id, until: news }: EndWait): boolean {
    return news === 'end' && this.#isLocal(id)
  }

  get #lastInterval(): number {
    return 1 + Math.ceil(Math.log2(this.#limit / FASTEST))
  }

  #pace(lane: number): number {
    return lane === 0 ? 0 : Math.min(FASTEST * 2 ** (lane - 1), this.#limit)
  }

  #enter(wait: EndWait, lane: number): void {
    this.#intervals[wait.interval]?.delete(wait.place)
    while (this.#intervals.length <= lane) this.#intervals.push(new Register())
    wait.interval = lane
    wait.place = ++this.#places
    const due = this.#environment.monotonic() + this.#pace(lane)
    wait.due = lane === 0 ? Math.max(due, this.#notBefore) : due
    this.#intervals[lane]?.set(wait.place, wait)
    this.#lookAt(wait.due)
  }

  /** Polls at this time, unless a poll comes earlier. */
  #lookAt(at: number): void {
    if (!this.#looking && at < this.#timerAt) this.#rest(at)
  }

  #drop(wait: EndWait): void {
    this.#intervals[wait.interval]?.delete(wait.place)
    const waits = this.#byTask.get(wait.id)
    if (waits instanceof Set ? !waits.delete(wait) || waits.size > 0 : waits !== wait) return
    this.#byTask.delete(wait.id)
    if (this.#byTask.size > 0) return
    this.#isNotified = false
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  #rest(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    const left = at - this.#environment.monotonic()
    // Waits that begin in one turn of the event loop share a poll.
    if (left <= 0) void Promise.resolve().then(() => this.#look())
    else this.#timer = this.#environment.timer(left, () => void this.#look())
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    this.#timer?.cancel()
    const begun = this.#environment.monotonic()
    if (this.#isNotified) this.#hurry()
    for (let due = this.#due(); due.length > 0; due = this.#due()) await this.#ask(due)
    this.#looking = false
    const ended = this.#environment.monotonic()
    this.#notBefore = ended + (ended - begun) * SHARE
    this.#timerAt = Number.POSITIVE_INFINITY
    let next = this.#isNotified ? this.#notBefore : Number.POSITIVE_INFINITY
    for (const lane of this.#intervals) for (const { due } of firstOf(lane)) next = Math.min(next, due)
    if (next < Number.POSITIVE_INFINITY) this.#rest(next)
  }

  /** The waits to poll for. If any is due, those that soon would be are included, so that long waits come to share polls. */
  #due(): EndWait[] {
    const now = this.#environment.monotonic()
    const heads = this.#intervals.flatMap((lane) => firstOf(lane))
    if (!heads.some(({ due }) => due <= now)) return []
    const due: EndWait[] = []
    for (const [index, lane] of this.#intervals.entries()) {
      const soon = now + this.#pace(index) / 2
      for (const wait of lane.values()) {
        if (due.length === MOST || wait.due > soon) break
        lane.delete(wait.place)
        due.push(wait)
      }
    }
    return due
  }

  async #ask(due: readonly EndWait[]): Promise<void> {
    const wanted = due.filter((wait) => !this.#isQuiet(wait))
    if (wanted.length > 0) this.#attend()
    try {
      const ids = [...new Set(wanted.map(({ id }) => id))]
      const marks = ids.length > 0 ? await this.#store.taskVersions(ids) : []
      const seen = new Map(marks.map((mark) => [mark.id, mark]))
      for (const wait of wanted) {
        const found = seen.get(wait.id)
        wait.failingSince = null
        if (!found) this.#fail(wait, new TriarchError('UNKNOWN_TASK', `there is no task "${wait.id}"`))
        else if (wait.until === 'end' ? found.ended : found.mark !== wait.mark) this.#hear(wait, { mark: found.mark })
      }
    } catch (error) {
      const now = this.#environment.monotonic()
      for (const wait of wanted) {
        wait.failingSince ??= now
        if (!isPassing(error) || now - wait.failingSince > PATIENCE) this.#fail(wait, error)
      }
    }
    const last = this.#lastInterval
    for (const wait of due) {
      if (this.#waits(wait)) this.#enter(wait, this.#isQuiet(wait) ? last : Math.min(wait.interval + 1, last))
    }
  }
}

const ignored = (): void => undefined
const passing = ['STORE_BUSY', 'STORE_UNAVAILABLE', 'STORE_UNANSWERED'] as const

/** Whether the store may answer if it is asked again. */
export function isPassing(error: unknown): boolean {
  return passing.some((code) => isTriarchError(error, code))
}

function firstOf(lane: Register<number, EndWait>): EndWait[] {
  for (const wait of lane.values()) return [wait]
  return []
}
