import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { TaskState } from '../kernel/state.ts'
import type { StateStore } from '../store/port.ts'
import { type Ending, endingOf } from '../view/status.ts'

/** What is heard of a task: how it ended, when this process ended it; otherwise it is worth a look at its row. */
export interface Heard {
  ending?: Ending
  /** What the store showed of it last (TaskMark). */
  mark?: string
}

export interface Listening {
  heard: Promise<Heard>
  /** Stops listening; `heard` stays as it is. */
  stop(): void
}

export interface ListenOptions {
  /** Its end, or anything that moves. */
  news: 'end' | 'any'
  /** For `any`: what is known already; anything else is news. Without, the first look is. */
  mark?: string
  /** The first look comes after the shortest pace instead of at once. */
  later?: boolean
  /** How many ends had been missed when it had not ended for certain (`Waiters.missed`): if none was since, the same. */
  missed?: number | undefined
}

interface Wait {
  readonly id: string
  readonly news: 'end' | 'any'
  readonly mark: string | undefined
  lane: number
  /** Its place there. */
  place: number
  due: number
  /** Since when the store cannot be asked; null: it can. */
  failingSince: number | null
  readonly heard: PromiseWithResolvers<Heard>
}

/** Distance of the first look to the second (ms); each is twice as long as the one before, up to the slowest. */
const FASTEST = 5
/** The slowest, where the store says when tasks end: a look is for what it failed to say (ms). */
const SLOWEST_WHEN_TOLD = 2_000
/** So long after somebody here began to wait, the store surely tells of all that ends (ms). */
const ATTENDED = 4_000
/** Between two looks lies this many times the length of the first. */
const SHARE = 2
/** Tasks one look asks for. */
const MOST = 1_000
/** How long the store may be busy or out of reach before those who wait hear of it (ms). */
const PATIENCE = 60_000

/**
 * All who wait in this process for tasks to end or to move. Whoever waits is told at once by this process's own scheduler,
 * or by the store, where it can; for the rest there is one look at a time for all of them together, whatever their number.
 */
export class Waiters {
  readonly #store: StateStore
  readonly #environment: Environment
  readonly #slowest: number
  readonly #isLocal: (id: string) => boolean
  /** One alone, as nearly always, without a set around it. */
  readonly #byTask = new Register<string, Wait | Set<Wait>>()
  /** By pace: at once, FASTEST, twice that, … Those of a lane come due in the order in which they entered it. */
  readonly #lanes: Register<number, Wait>[] = []
  #places = 0
  readonly #ended = (ids: readonly string[] | null): void => this.#told(ids)
  #missed = 0
  /** Some have ended: with the next look all are looked at, however often that was said. */
  #isTold = false
  #attendedAt = Number.NEGATIVE_INFINITY
  #limit: number
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #looking = false
  /** No look at once comes before: however much is written, looking takes no more than a share of the time. */
  #notBefore = Number.NEGATIVE_INFINITY

  constructor(store: StateStore, environment: Environment, slowest: number, isLocal: (id: string) => boolean) {
    this.#store = store
    this.#environment = environment
    this.#slowest = slowest
    this.#limit = slowest
    this.#isLocal = isLocal
  }

  /** How many wait. */
  get size(): number {
    let size = 0
    for (const waits of this.#byTask.values()) size += waits instanceof Set ? waits.size : 1
    return size
  }

  /** How often it was heard that tasks ended for which nobody here waited, or that some did; and how often it may have been said unheard. */
  get missed(): number {
    return this.#missed
  }

  /** Nothing that happens after this call goes unheard. Rejects with UNKNOWN_TASK and STORE_*. */
  listen(id: string, { news, mark, later = false, missed }: ListenOptions): Listening {
    const heard = Promise.withResolvers<Heard>()
    const wait: Wait = { id, news, mark, lane: 0, place: 0, due: 0, failingSince: null, heard }
    const waits = this.#byTask.get(id)
    if (waits instanceof Set) waits.add(wait)
    else this.#byTask.set(id, waits ? new Set([waits, wait]) : wait)
    if (this.#isQuiet(wait)) this.#enter(wait, this.#lastLane)
    else {
      this.#attend()
      this.#enter(wait, later || missed === this.#missed ? 1 : 0)
    }
    heard.promise.catch(ignored) // whoever stops listening need not hear of it
    return { heard: heard.promise, stop: () => this.#drop(wait) }
  }

  #hear(wait: Wait, heard: Heard): void {
    this.#drop(wait)
    wait.heard.resolve(heard)
  }

  #fail(wait: Wait, error: unknown): void {
    this.#drop(wait)
    wait.heard.reject(error)
  }

  #waits(wait: Wait): boolean {
    const waits = this.#byTask.get(wait.id)
    return waits instanceof Set ? waits.has(wait) : waits === wait
  }

  #waitsOf(id: string): Iterable<Wait> {
    const waits = this.#byTask.get(id)
    return waits === undefined ? [] : waits instanceof Set ? waits : [waits]
  }

  /** This process's scheduler made a transition durable. */
  moved(state: TaskState): void {
    if (state.status === 'stopped' && !this.#byTask.has(state.id)) this.#missed++
    for (const wait of this.#waitsOf(state.id)) {
      if (wait.news === 'any') this.#hear(wait, {})
      else if (state.status === 'stopped') this.#hear(wait, { ending: endingOf(state) })
    }
  }

  /** The store says that these tasks ended; null: some did. */
  #told(ids: readonly string[] | null): void {
    if (ids === null || ids.some((id) => !this.#byTask.has(id))) this.#missed++
    if (ids !== null) {
      for (const id of ids) for (const wait of [...this.#waitsOf(id)]) this.#hear(wait, {})
    } else if (this.#byTask.size > 0) {
      this.#isTold = true
      this.#lookAt(Math.max(this.#environment.monotonic(), this.#notBefore))
    }
  }

  /** What this process ends itself is not looked at. */
  #hurry(): void {
    this.#isTold = false
    for (const lane of this.#lanes.slice(1)) {
      for (const wait of lane.values()) if (!this.#isQuiet(wait)) this.#enter(wait, 0)
    }
  }

  #attend(): void {
    const now = this.#environment.monotonic()
    const told = this.#store.watchEnds?.(this.#ended) ?? false
    // What was said while nobody here waited was said to nobody.
    if (!told || now - this.#attendedAt > ATTENDED) this.#missed++
    this.#attendedAt = now
    this.#limit = told ? Math.max(SLOWEST_WHEN_TOLD, this.#slowest) : this.#slowest
  }

  /** Its end is told by this process itself. */
  #isQuiet({ id, news }: Wait): boolean {
    return news === 'end' && this.#isLocal(id)
  }

  get #lastLane(): number {
    return 1 + Math.ceil(Math.log2(this.#limit / FASTEST))
  }

  #pace(lane: number): number {
    return lane === 0 ? 0 : Math.min(FASTEST * 2 ** (lane - 1), this.#limit)
  }

  #enter(wait: Wait, lane: number): void {
    this.#lanes[wait.lane]?.delete(wait.place)
    while (this.#lanes.length <= lane) this.#lanes.push(new Register())
    wait.lane = lane
    wait.place = ++this.#places
    const due = this.#environment.monotonic() + this.#pace(lane)
    wait.due = lane === 0 ? Math.max(due, this.#notBefore) : due
    this.#lanes[lane]?.set(wait.place, wait)
    this.#lookAt(wait.due)
  }

  /** Unless it is looked earlier. */
  #lookAt(at: number): void {
    if (!this.#looking && at < this.#timerAt) this.#rest(at)
  }

  #drop(wait: Wait): void {
    this.#lanes[wait.lane]?.delete(wait.place)
    const waits = this.#byTask.get(wait.id)
    if (waits instanceof Set ? !waits.delete(wait) || waits.size > 0 : waits !== wait) return
    this.#byTask.delete(wait.id)
    if (this.#byTask.size > 0) return
    this.#isTold = false
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  #rest(at: number): void {
    this.#timer?.cancel()
    this.#timerAt = at
    const left = at - this.#environment.monotonic()
    // All who begin to wait in one turn are looked up together.
    if (left <= 0) void Promise.resolve().then(() => this.#look())
    else this.#timer = this.#environment.timer(left, () => void this.#look())
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    this.#timer?.cancel()
    const begun = this.#environment.monotonic()
    if (this.#isTold) this.#hurry()
    for (let due = this.#due(); due.length > 0; due = this.#due()) await this.#ask(due)
    this.#looking = false
    const ended = this.#environment.monotonic()
    this.#notBefore = ended + (ended - begun) * SHARE
    this.#timerAt = Number.POSITIVE_INFINITY
    let next = this.#isTold ? this.#notBefore : Number.POSITIVE_INFINITY
    for (const lane of this.#lanes) for (const { due } of firstOf(lane)) next = Math.min(next, due)
    if (next < Number.POSITIVE_INFINITY) this.#rest(next)
  }

  /** Once somebody is due, those go along that soon would be: so those who wait for long come to be asked for together. */
  #due(): Wait[] {
    const now = this.#environment.monotonic()
    const heads = this.#lanes.flatMap((lane) => firstOf(lane))
    if (!heads.some(({ due }) => due <= now)) return []
    const due: Wait[] = []
    for (const [index, lane] of this.#lanes.entries()) {
      const soon = now + this.#pace(index) / 2
      for (const wait of lane.values()) {
        if (due.length === MOST || wait.due > soon) break
        lane.delete(wait.place)
        due.push(wait)
      }
    }
    return due
  }

  async #ask(due: readonly Wait[]): Promise<void> {
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
        else if (wait.news === 'end' ? found.ended : found.mark !== wait.mark) this.#hear(wait, { mark: found.mark })
      }
    } catch (error) {
      const now = this.#environment.monotonic()
      for (const wait of wanted) {
        wait.failingSince ??= now
        if (!isPassing(error) || now - wait.failingSince > PATIENCE) this.#fail(wait, error)
      }
    }
    const last = this.#lastLane
    for (const wait of due) {
      if (this.#waits(wait)) this.#enter(wait, this.#isQuiet(wait) ? last : Math.min(wait.lane + 1, last))
    }
  }
}

const ignored = (): void => undefined
const passing = ['STORE_BUSY', 'STORE_UNAVAILABLE', 'STORE_UNANSWERED'] as const

/** The store may well answer when it is asked again. */
export function isPassing(error: unknown): boolean {
  return passing.some((code) => isTriarchError(error, code))
}

function firstOf(lane: Register<number, Wait>): Wait[] {
  for (const wait of lane.values()) return [wait]
  return []
}
