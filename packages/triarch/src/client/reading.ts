import type { BackgroundWork, WorkShare } from '../environment/background-work.ts'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError, type TriarchError } from '../error/error.ts'
import { type DatedEvent, effective, fold, newRebuilt, type Rebuilt } from '../kernel/rebuild.ts'
import { Redaction } from '../kernel/redaction.ts'
import type { TaskState } from '../kernel/state.ts'
import { Chronicle, contradictory, isLast, isUnreadable, READABLE, tooLarge } from '../scheduler/history.ts'
import type { HistoryRecord, StateStore, TaskRow } from '../store/port.ts'
import { GrowingHeard, type LastEvents } from '../view/heard.ts'
import type { HistoryContents } from '../view/reading.ts'
import { GrowingSteps, progressOfSteps, type StepView } from '../view/steps.ts'
import { isSame } from './veil.ts'

/** One store call; short, because a store in this thread blocks everything else meanwhile. */
const PAGE = { records: 500, bytes: 512 * 1024 }
/** Most characters of all readings kept, and of a single one. */
const KEPT = { all: 32 * 1024 * 1024, one: 16 * 1024 * 1024 }
/** A reading not used for this long is dropped when another one is kept (ms). */
const IDLE = 60_000

/**
 * The histories being viewed. Each is read and folded once, and read on from its last record when it is viewed again, so viewing a long
 * history costs only what is new. Reading is done in pieces between which other work runs (`BackgroundWork`).
 */
export class Readings {
  readonly #store: StateStore
  readonly #environment: Environment
  readonly #background: BackgroundWork
  /** By the task's key, the most recently used last. */
  readonly #kept = new Map<number, { reading: GrowingReading; used: number }>()
  /** By the task's key: the read under way, and the read to follow it. */
  readonly #under = new Map<number, { now: Promise<HistoryContents>; next: Promise<HistoryContents> | null }>()

  constructor(store: StateStore, environment: Environment, leisure: BackgroundWork) {
    this.#store = store
    this.#environment = environment
    this.#background = leisure
  }

  /** A reading of the task's present history. Throws STORE_*. */
  of(row: Pick<TaskRow, 'id' | 'key' | 'quarantined'>): Promise<HistoryContents> {
    const under = this.#under.get(row.key)
    if (!under) return this.#begin(row)
    // The read under way may have begun too early for this call; one more read serves all calls made meanwhile.
    const next = () => this.#begin(row)
    under.next ??= under.now.then(next, next)
    return under.next
  }

  #begin(row: Pick<TaskRow, 'id' | 'key' | 'quarantined'>): Promise<HistoryContents> {
    const now = this.#read(row).finally(() => {
      if (this.#under.get(row.key)?.now === now) this.#under.delete(row.key)
    })
    this.#under.set(row.key, { now, next: null })
    return now
  }

  async #read(row: Pick<TaskRow, 'id' | 'key' | 'quarantined'>): Promise<HistoryContents> {
    const kept = row.quarantined ? undefined : this.#kept.get(row.key)?.reading
    const last = kept?.lastRecord
    if (kept && last) {
      const page = await this.#store.replay(row.id, { after: last.seq - 1, ...PAGE })
      if (isSame(page[0], last)) {
        if (page.length === 1 && isLast(page, PAGE)) return this.#keep(row, kept)
        const { base } = kept
        await this.#background.run((pace) => this.#grow(row, kept, { page, known: 1 }, pace))
        // A reading with a former run, left behind by a continue-as-new, is not kept.
        if (kept.base === base) return this.#keep(row, kept)
      }
    }
    const reading = new GrowingReading(row.id)
    // Most histories are short; they do not wait for a long one.
    const page = await this.#store.replay(row.id, { after: 0, ...PAGE })
    if (isLast(page, PAGE)) await this.#grow(row, reading, { page, known: 0 }, this.#background.pace())
    else await this.#background.run((pace) => this.#grow(row, reading, { page, known: 0 }, pace))
    return this.#keep(row, reading)
  }

  async #grow(
    row: Pick<TaskRow, 'id' | 'quarantined'>,
    reading: GrowingReading,
    begun: { page: readonly HistoryRecord[]; known: number },
    pace: WorkShare,
  ): Promise<void> {
    for (let { page, known } = begun; ; known = 0) {
      await pace.through(reading.adding(known === 0 ? page : page.slice(known)))
      if (row.quarantined && reading.isTooLarge) reading.broken ??= tooLarge(reading.last)
      if (isLast(page, PAGE) || reading.isUnreadable) break
      const rest = pace.show()
      if (rest !== null) await rest
      page = await this.#store.replay(row.id, { after: reading.last, ...PAGE })
    }
    await pace.through(reading.settling())
  }

  #keep({ key, quarantined }: Pick<TaskRow, 'key' | 'quarantined'>, reading: GrowingReading): HistoryContents {
    this.#kept.delete(key)
    if (quarantined || reading.broken || reading.size > KEPT.one) return reading
    const now = this.#environment.monotonic()
    this.#kept.set(key, { reading, used: now })
    let size = 0
    for (const { reading } of this.#kept.values()) size += reading.size
    for (const [oldest, { reading, used }] of this.#kept) {
      if (size <= KEPT.all && now - used < IDLE) break
      size -= reading.size
      this.#kept.delete(oldest)
    }
    return reading
  }
}

class GrowingReading implements HistoryContents {
  readonly #id: string
  readonly #chronicle = new Chronicle()
  readonly #redaction = new Redaction()
  readonly #heard = new GrowingHeard()
  #rebuilt: Rebuilt
  #steps = new GrowingSteps()
  /** The folded state is invalid, because an event rewinds it, or marks as secret what was already shown. */
  #isVoid = false
  broken: TriarchError | null = null
  /** The records read, with the number of events up to each. */
  readonly #ends: { seq: number; end: number }[] = []
  /** The records after the last one cannot be read. */
  isUnreadable = false
  /** The last record as the store returned it. */
  lastRecord: Pick<HistoryRecord, 'seq' | 'at' | 'events'> | null = null

  constructor(id: string) {
    this.#id = id
    this.#rebuilt = newRebuilt(id)
  }

  get last(): number {
    return this.#chronicle.last
  }

  get base(): number {
    return this.#chronicle.base
  }

  get at(): number {
    return this.#chronicle.events.at(-1)?.at ?? 0
  }

  get events(): readonly DatedEvent[] {
    return this.#chronicle.events
  }

  get redaction(): Redaction {
    return this.#redaction
  }

  get heard(): LastEvents {
    return this.#heard
  }

  get state(): TaskState {
    return this.#rebuilt.state
  }

  get size(): number {
    return this.#chronicle.size
  }

  get isTooLarge(): boolean {
    return this.#chronicle.size > READABLE
  }

  /** Adds records one by one; between two of them the state is that of a record. */
  *adding(records: readonly HistoryRecord[]): Generator<void> {
    for (const record of records) {
      const { events } = this.#chronicle
      const before = events.length
      try {
        this.#chronicle.add(record)
      } catch (error) {
        if (!isUnreadable(error)) throw error
        this.broken ??= error
        this.isUnreadable = true
        return
      }
      this.lastRecord = { seq: record.seq, at: record.at, events: record.events }
      this.#ends.push({ seq: record.seq, end: events.length })
      for (let at = before; at < events.length; at++) this.#take(events[at] as DatedEvent)
      yield
    }
  }

  #take(dated: DatedEvent): void {
    if (dated.event.type === 'reset' || this.#hides(dated)) this.#isVoid = true
    this.#redaction.add(dated.event)
    this.#heard.add(dated)
    if (this.#isVoid || this.broken) return
    this.#folded(() => {
      fold(this.#rebuilt, dated)
      this.#steps.add(dated, this.#redaction)
    })
  }

  /** Whether the event marks parts of an already shown step as secret. */
  #hides({ event }: DatedEvent): boolean {
    if ((event.type !== 'stepRequested' && event.type !== 'fallbackRequested') || !this.#steps.has(event.id))
      return false
    return JSON.stringify(event.policy.secrets ?? []) !== JSON.stringify(this.#redaction.steps.get(event.id) ?? [])
  }

  /** Called when all records are read: folds anew if the folded state is invalid. */
  *settling(): Generator<void> {
    if (!this.#isVoid || this.broken) return
    const [rebuilt, steps] = [newRebuilt(this.#id), new GrowingSteps()]
    for (const dated of effective(this.#chronicle.events)) {
      this.#folded(() => {
        fold(rebuilt, dated)
        steps.add(dated, this.#redaction)
      })
      if (this.broken) return
      yield
    }
    this.#isVoid = false
    this.#rebuilt = rebuilt
    this.#steps = steps
  }

  /** If the history contradicts itself, nothing is shown of it. */
  #folded(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.broken = isTriarchError(cause, 'HISTORY_CORRUPT') ? cause : contradictory(cause)
      this.#rebuilt = newRebuilt(this.#id)
      this.#steps = new GrowingSteps()
    }
  }

  progress(): number {
    return progressOfSteps(this.#steps.shown(this.#rebuilt.state))
  }

  steps(after?: number): StepView[] {
    const { texts } = this.#redaction
    const views = this.#steps.shown(this.#rebuilt.state, after)
    if (texts.size === 0) return views
    // Texts may have become known as secret since.
    return views.map((view) => {
      const { name, input, output, error } = view
      return { ...view, ...texts.scrub({ name, input, output, error }) }
    })
  }

  upTo(seq: number): { size: number; before: number } | null {
    const index = this.#ends.findIndex((one) => one.seq === seq)
    const found = this.#ends[index]
    return found ? { size: found.end, before: this.#ends[index - 1]?.end ?? 0 } : null
  }
}
