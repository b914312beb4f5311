import type { Environment, Timer } from '../environment/environment.ts'
import type { TriarchError } from '../error/error.ts'
import type { Filter } from '../filter/filter.ts'
import { formatFilter } from '../filter/grammar.ts'
import type { StateStore, StoreCounts, TaskRow } from '../store/port.ts'
import { conditionsOf } from '../view/condition.ts'
import { fits } from '../view/fitting.ts'
import type { TaskInfo } from '../view/status.ts'
import { fitsTrouble } from '../view/trouble.ts'
import { readRows } from './rows.ts'
import { type ShownTask, ShownTasks, unlessFull, watchFull } from './shown.ts'
import { isPassing } from './waiting.ts'
import { type Audience, Watcher } from './watcher.ts'

/** Delay of the next poll after this process made something durable, if the previous poll was cheap (ms). */
const FAST = 50
/** Interval between two checks whether other processes wrote (ms). */
const ASKING = 250
/** Interval between polls without a known change, in case the store does not report one (ms). */
const SLOW = 2_000
/** The least interval between two complete reads of a list (ms). */
const ANEW = 2_000
/** Polls take at most one part in this many of the time, whatever is watched. */
const SHARE = 10
/** Most ids, and most rows, in one call. */
const MARKS = 1_000
const ROWS = 100
/** Most new tasks that are offered to lists one by one; if there are more, the lists are read anew. */
const NEW = 200
/** Most store calls for one list; tasks further behind are not shown. */
const MOST_LOOKS = 4
/** How long the store may be unreachable before watchers get the error (ms). */
const PATIENCE = 5_000
/** Filter fields whose result changes with the clock alone. */
const timely: ReadonlySet<string> = new Set(['age', 'idle'])

interface LiveOptions {
  store: StateStore
  environment: Environment
  /** The row as it may be shown. */
  shown: (row: TaskRow) => TaskInfo
}

/** A list, and all who watch it. */
interface List {
  readonly filter: Filter
  readonly limit: number
  readonly audience: Audience
  readonly isTimely: boolean
  shown: Map<string, ShownTask>
  truncated: boolean
  /** The list may lack tasks that no poll has found. */
  stale: boolean
  listedAt: number
  /** Resolves after the first read. */
  ready: Promise<void>
}

/**
 * Watched lists, and the counts of the store. One poll at a time serves all of them: it finds which of the shown tasks have changed and
 * which tasks are new; and now and then one list is read anew, for other tasks that have come to fit. Each row found is matched with
 * every filter here.
 */
export class Live {
  readonly #means: LiveOptions
  readonly #lists = new Map<string, List>()
  readonly #shown = new ShownTasks()
  /** The last known versions of the shown tasks. */
  #marks = new Map<string, string>()
  #counts: { text: string; value: StoreCounts } | null = null
  #counted: Promise<void> | null = null
  readonly #counting: Audience = new Set()
  #newest: number | null = null
  #changes: number | null = null
  #dirty = false
  #lookedAt = 0
  #notBefore = 0
  #failingSince: number | null = null
  #timer: Timer | null = null
  #looking = false

  constructor(means: LiveOptions) {
    this.#means = means
  }

  /** This process made something durable. */
  stirred(): void {
    if (this.#dirty || !this.#isWatched) return
    this.#dirty = true
    this.#arm(FAST)
  }

  async watchList(filter: Filter, limit: number): Promise<Watcher> {
    const name = `${limit} ${formatFilter(filter)}`
    const list = this.#lists.get(name) ?? this.#newList(name, filter, limit)
    const watcher = new Watcher(this.#means.environment, list.audience, limit, () => this.#page(list))
    watcher.left = () => {
      if (list.audience.size === 0 && this.#lists.get(name) === list) this.#forget(name, list)
      this.#rest()
    }
    this.#arm(ASKING)
    try {
      await list.ready
    } catch (error) {
      watcher.leave()
      throw error
    }
    watcher.begin()
    return watcher
  }

  async watchCounts(): Promise<Watcher> {
    const watcher = new Watcher(this.#means.environment, this.#counting, 1, () => {
      return this.#counts && { type: 'counts', counts: this.#counts.value }
    })
    watcher.left = () => this.#rest()
    this.#dirty = true
    this.#arm(ASKING)
    try {
      if (this.#counts === null) await this.#firstCount()
    } catch (error) {
      watcher.leave()
      throw error
    }
    watcher.begin()
    return watcher
  }

  /** One read for all who begin to watch at the same time. */
  #firstCount(): Promise<void> {
    this.#counted ??= this.#count().finally(() => {
      this.#counted = null
    })
    return this.#counted
  }

  /** The engine stops. */
  close(error: TriarchError): void {
    this.#fail(error)
  }

  get #isWatched(): boolean {
    return this.#lists.size > 0 || this.#counting.size > 0
  }

  #newList(name: string, filter: Filter, limit: number): List {
    const list: List = {
      ...{ filter, limit, audience: new Set(), isTimely: filter.terms.some(({ field }) => timely.has(field)) },
      ...{ shown: new Map(), truncated: false, stale: false, listedAt: 0, ready: Promise.resolve() },
    }
    this.#lists.set(name, list)
    list.ready = this.#begin(list).catch((error) => {
      if (this.#lists.get(name) === list) this.#forget(name, list)
      throw error
    })
    return list
  }

  #page({ shown, truncated, filter }: List) {
    const sign = filter.order === 'oldest' ? 1 : -1
    const tasks = [...shown.values()].sort((a, b) => sign * (a.key - b.key)).map(({ info }) => info)
    return { type: 'page' as const, tasks, ...(truncated && { truncated: true as const }) }
  }

  // ---- when ------------------------------------------------------------------------------------------------------------

  #arm(ms: number): void {
    if (this.#looking || !this.#isWatched) return
    const { environment } = this.#means
    this.#timer?.cancel()
    const wait = Math.max(ms, this.#notBefore - environment.monotonic())
    this.#timer = environment.timer(wait, () => void this.#turn())
    this.#timer.unref?.()
  }

  /** Clears what was known once no watcher is left. */
  #rest(): void {
    if (this.#isWatched) return
    this.#timer?.cancel()
    this.#timer = null
    this.#marks.clear()
    this.#counts = null
    this.#newest = null
  }

  async #turn(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    const { environment } = this.#means
    const begun = environment.monotonic()
    try {
      await this.#look(begun)
      this.#failingSince = null
      const ended = environment.monotonic()
      this.#notBefore = ended + (ended - begun) * SHARE
    } catch (error) {
      // While the store is unreachable, the poll is only retried.
      this.#dirty = true
      this.#failingSince ??= begun
      if (!isPassing(error) || environment.monotonic() - this.#failingSince >= PATIENCE) this.#fail(error)
    }
    this.#looking = false
    this.#arm(this.#dirty && this.#failingSince === null ? FAST : ASKING)
  }

  /** Ends all watches. A watcher that comes back begins anew. */
  #fail(error: unknown): void {
    const audiences = [...this.#lists.values()].map(({ audience }) => audience)
    for (const [name, list] of [...this.#lists]) this.#forget(name, list)
    for (const audience of [...audiences, this.#counting]) for (const watcher of [...audience]) watcher.fail(error)
    this.#failingSince = null
  }

  async #look(now: number): Promise<void> {
    const changes = await this.#means.store.changes()
    const stirred = this.#dirty || changes === null || changes !== this.#changes
    this.#changes = changes
    if (stirred || now - this.#lookedAt >= SLOW) {
      this.#dirty = false
      this.#lookedAt = now
      for (const list of this.#lists.values()) list.stale = true
      await this.#lookAtChanged()
      await this.#lookForNew()
      await this.#count()
    }
    await this.#readNext(now)
  }

  // ---- what ------------------------------------------------------------------------------------------------------------

  async #lookAtChanged(): Promise<void> {
    const ids = [...new Set([...this.#lists.values()].flatMap(({ shown }) => [...shown.keys()]))]
    const seen = new Map<string, string>()
    for (let at = 0; at < ids.length; at += MARKS)
      for (const { id, mark } of await this.#means.store.taskVersions(ids.slice(at, at + MARKS))) seen.set(id, mark)
    const changed = ids.filter((id) => seen.get(id) !== this.#marks.get(id))
    for (let at = 0; at < changed.length; at += ROWS) {
      const wanted = changed.slice(at, at + ROWS)
      const oneOf = { column: 'id', test: { type: 'text', oneOf: wanted } } as const
      const { rows } = await this.#means.store.list({ where: [oneOf], limit: ROWS, order: 'oldest', brief: true })
      for (const row of rows) await this.#offer(row)
      const found = new Set(rows.map(({ id }) => id))
      for (const id of wanted) if (!found.has(id)) for (const list of this.#lists.values()) this.#drop(list, id)
    }
    this.#marks = seen
  }

  async #lookForNew(): Promise<void> {
    if (this.#lists.size === 0) return
    const { store } = this.#means
    if (this.#newest !== null) {
      const query = { where: [], after: this.#newest, limit: NEW, order: 'oldest', brief: true } as const
      const { rows } = await store.list(query)
      for (const row of rows) await this.#offer(row)
      this.#newest = rows.at(-1)?.key ?? this.#newest
      if (rows.length < NEW) return
    }
    await this.#findNewest()
  }

  async #findNewest(): Promise<void> {
    const { rows } = await this.#means.store.list({ where: [], limit: 1, order: 'newest', brief: true })
    this.#newest = rows[0]?.key ?? 0
  }

  async #count(): Promise<void> {
    if (this.#counting.size === 0) return
    const value = await this.#means.store.counts()
    const text = JSON.stringify(value)
    if (text === this.#counts?.text) return
    this.#counts = { text, value }
    for (const watcher of this.#counting) watcher.tell('counts', { type: 'counts', counts: value })
  }

  /** Reads the list whose last read is longest ago. */
  async #readNext(now: number): Promise<void> {
    const due = [...this.#lists.values()].filter((it) => (it.stale || it.isTimely) && now - it.listedAt >= ANEW)
    const list = due.sort((a, b) => a.listedAt - b.listedAt)[0]
    if (list) await this.#read(list).catch(unlessFull)
  }

  /** Finds the newest task first, so that tasks created after the read count as new. */
  async #begin(list: List): Promise<void> {
    if (this.#newest === null) await this.#findNewest()
    await this.#read(list)
  }

  async #read(list: List): Promise<void> {
    const { environment } = this.#means
    const { filter, limit } = list
    list.stale = false
    list.listedAt = environment.monotonic()
    const { where, rest } = conditionsOf(filter, environment.now())
    const query = { where, limit, order: filter.order ?? 'newest', brief: true }
    const fitting = rest.length > 0 ? (row: TaskRow) => fitsTrouble(row, rest) : undefined
    const { rows, truncated } = await readRows(this.#means.store, query, fitting, MOST_LOOKS)
    list.truncated = truncated ?? false
    const found = new Set(rows.map(({ id }) => id))
    for (const id of [...list.shown.keys()]) if (!found.has(id)) this.#drop(list, id)
    for (const row of rows) await this.#show(list, row)
  }

  async #offer(row: TaskRow): Promise<void> {
    const now = this.#means.environment.now()
    for (const list of this.#lists.values()) {
      if (fits(row, list.filter, now)) await this.#show(list, row).catch(unlessFull)
      else this.#drop(list, row.id)
    }
  }

  async #show(list: List, row: TaskRow): Promise<void> {
    const { shown, limit, filter, audience } = list
    const info = this.#means.shown(row)
    const text = JSON.stringify(info)
    const before = shown.get(row.id)
    if (before?.text === text) return
    const now = this.#shown.take(row.id, { key: row.key, info, text })
    shown.set(row.id, now)
    if (before) this.#shown.give(row.id, before)
    if (this.#shown.isFull) return this.#overflow(list)
    if (shown.size > limit) {
      const sign = filter.order === 'oldest' ? 1 : -1
      const last = [...shown].reduce((a, b) => (sign * (a[1].key - b[1].key) > 0 ? a : b))[0]
      if (last === row.id) return this.#shown.drop(shown, last)
      this.#drop(list, last)
    }
    for (const watcher of audience) watcher.tell(row.id, { type: 'task', task: now.info })
  }

  #drop(list: List, id: string): void {
    if (!list.shown.has(id)) return
    this.#shown.drop(list.shown, id)
    for (const watcher of list.audience) watcher.tell(id, { type: 'gone', id })
  }

  /** Drops a list without watchers. */
  #forget(name: string, list: List): void {
    this.#lists.delete(name)
    for (const id of [...list.shown.keys()]) this.#shown.drop(list.shown, id)
  }

  /** The list exceeds the memory limit. Its watchers end with an error, and may begin anew later. */
  #overflow(list: List): void {
    const error = watchFull()
    for (const [name, one] of [...this.#lists]) if (one === list) this.#forget(name, list)
    for (const watcher of [...list.audience]) watcher.fail(error)
    throw error
  }
}
