import { isDeepStrictEqual } from 'node:util'
import {
  checkOverlap,
  dueAt,
  occurrenceId,
  type ScheduleDefinition,
  type ScheduleOptions,
  type ScheduleState,
  toSchedule,
} from '../definition/schedule.ts'
import { isObject } from '../definition/setting.ts'
import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import { hideAt, secretsAt } from '../kernel/secret.ts'
import { pausedSchedule, type SchedulesPolicy, schedulesSetting } from '../setting/own.ts'
import { objectOf } from '../store/legible.ts'
import type { NewTask, ScheduleRow, SubmitOutcome } from '../store/port.ts'
import { occurrenceTask } from '../supervisor/occurrence.ts'
import { checkName, checkNewTaskId } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { between, nextAfter } from '../value/recurrence.ts'
import { checkText } from '../value/text.ts'
import { pausesIn } from '../view/pause.ts'
import { type Act, entryOf } from './act.ts'
import type { Connection } from './connection.ts'
import type {
  BackfillOptions,
  ScheduleCollection,
  ScheduleHandle,
  ScheduleInfo,
  ScheduleRunOptions,
} from './schedule.ts'

/** Most occurrences of one backfill. */
const MOST_BACKFILLED = 1_000

/** A write is retried this many times after concurrent changes. */
const PATIENCE = 20

/** A schedule in the store, by name. */
class StoredSchedule implements ScheduleHandle {
  /** The name under which it was registered. */
  readonly name: string
  readonly #connection: Connection

  /** @internal */
  constructor(connection: Connection, name: string) {
    this.#connection = connection
    this.name = checkName('schedule', name)
  }

  async info(): Promise<ScheduleInfo> {
    const [info] = await withPauses(this.#connection, [scheduleInfo(await this.#row())])
    return info as ScheduleInfo
  }

  async next(count = 10): Promise<Date[]> {
    checkInteger('next: count', count, 1, 1_000)
    const { definition, state } = read(await this.#row())
    const from = Math.max(state.last ?? 0, await this.#connection.store.now())
    return between(definition.recurrence, from, Number.MAX_SAFE_INTEGER, count).map((at) => new Date(at))
  }

  async pause(options: { reason?: string } = {}): Promise<void> {
    checkOptions('pause', options, ['reason'])
    const { reason: note } = options
    if (note !== undefined) checkText('pause: reason', note, 1_000)
    await this.#change(this.#act('pause', { reason: note }), ({ state }, now) => {
      if (state.paused) return null
      return { state: { ...state, next: null, paused: { since: now, ...(note !== undefined && { note }) } } }
    })
  }

  async resume(options: { reason?: string } = {}): Promise<void> {
    checkOptions('resume', options, ['reason'])
    const { reason } = options
    if (reason !== undefined) checkText('resume: reason', reason, 1_000)
    await this.#change(this.#act('resume', { reason }), ({ definition, state }, now) => {
      if (!state.paused) return null
      const { failing: _, ...rest } = state
      return { state: { ...rest, paused: null, next: nextAfter(definition.recurrence, now) } }
    })
  }

  async backfill(options: BackfillOptions): Promise<string[]> {
    checkOptions('backfill', options, ['from', 'to', 'overlap', 'reason'])
    const { from, to, overlap = 'queue', reason } = options
    checkOverlap('backfill', overlap)
    if (reason !== undefined) checkText('backfill: reason', reason, 1_000)
    let ids: string[] = []
    const act = this.#act('backfill', { reason, details: { from, to, overlap } })
    await this.#change(act, ({ definition, state }, now) => {
      const [start, end] = [from.getTime(), to.getTime()]
      if (Number.isNaN(start) || Number.isNaN(end) || start >= end || end > now)
        throw new TriarchError('INVALID_OPTION', 'backfill: `from` must be before `to`, and `to` have passed')
      const found = between(definition.recurrence, start, end, MOST_BACKFILLED + 1)
      if (found.length > MOST_BACKFILLED)
        throw new TriarchError('INVALID_OPTION', `backfill: more than ${MOST_BACKFILLED} occurrences: take it in parts`)
      ids = found.map((occurrence) => occurrenceId(this.name, occurrence))
      return { state, tasks: found.map((at) => occurrenceTask(this.name, definition, at, { now, overlap })) }
    })
    return ids
  }

  async run(options: ScheduleRunOptions = {}): Promise<string> {
    checkOptions('run', options, ['id', 'overlap', 'reason'])
    const { overlap = 'queue', reason } = options
    checkOverlap('run', overlap)
    if (reason !== undefined) checkText('run: reason', reason, 1_000)
    let id = options.id === undefined ? undefined : checkNewTaskId(options.id)
    const act = this.#act('run', { reason, details: { overlap } })
    const [outcome] = await this.#change(act, ({ definition, state }, now) => {
      id ??= occurrenceId(this.name, now)
      return { state, tasks: [occurrenceTask(this.name, definition, now, { now, overlap, id })] }
    })
    if (outcome?.heldBy !== undefined)
      throw new TriarchError('LOCK_HELD', `run: task "${outcome.heldBy}" of schedule "${this.name}" has not stopped`, {
        details: { lock: `schedule:${this.name}`, by: [outcome.heldBy] },
      })
    return id as string
  }

  async remove(options: { reason?: string } = {}): Promise<void> {
    checkOptions('remove', options, ['reason'])
    const { reason } = options
    if (reason !== undefined) checkText('remove: reason', reason, 1_000)
    await this.#connection.opened()
    const { store, environment } = this.#connection
    const audit = entryOf(environment, this.#act('remove', { reason }))
    if (!(await store.dropSchedule(this.name, { audit }))) throw unknown(this.name)
  }

  async register<I, O>(options: ScheduleOptions<I, O>): Promise<void> {
    const definition = await toSchedule(this.name, options as unknown as ScheduleOptions, {
      payload: this.#connection.limits.payload,
      resolve: (workflow) => this.#connection.registry.resolve(workflow),
      share: this.#connection.share,
    })
    await this.#connection.opened()
    const { store } = this.#connection
    const act = this.#act('register', { details: { workflow: definition.workflow } })
    for (let round = 0; round < PATIENCE; round++) {
      const [row] = await store.schedules({ name: this.name, limit: 1 })
      const before = row ? legibly(row) : null
      if (before && isDeepStrictEqual(before.definition, JSON.parse(JSON.stringify(definition)))) return
      const next = before?.state.paused ? null : nextAfter(definition.recurrence, await store.now())
      const { failing: _, ...known } = before?.state ?? fresh
      const state = { ...known, next }
      if (await this.#write(act, { definition, state, expected: row?.revision ?? null, tasks: [] })) return
    }
    throw overtaken(this.name)
  }

  #act(what: string, rest: Partial<Act> = {}): Act {
    return { action: `schedule.${what}`, subject: `schedule:${this.name}`, ...rest }
  }

  async #change(
    act: Act,
    decide: (
      it: { definition: ScheduleDefinition; state: ScheduleState },
      now: number,
    ) => { state: ScheduleState; tasks?: NewTask[] } | null,
  ): Promise<readonly SubmitOutcome[]> {
    for (let round = 0; round < PATIENCE; round++) {
      const row = await this.#row()
      const { definition, state } = read(row)
      const change = decide({ definition, state }, await this.#connection.store.now())
      if (!change) return []
      const write = { definition, state: change.state, expected: row.revision, tasks: change.tasks ?? [] }
      const outcomes = await this.#write(act, write)
      if (outcomes) return outcomes
    }
    throw overtaken(this.name)
  }

  /** Writes the schedule and its tasks, and returns their outcomes; null: another change was faster. */
  async #write(
    act: Act,
    { definition, state, expected, tasks }: ScheduleUpdate,
  ): Promise<readonly SubmitOutcome[] | null> {
    const nextAt = state.next === null ? null : dueAt(this.name, definition, state.next)
    const texts = { definition: JSON.stringify(definition), state: JSON.stringify(state) }
    const { store, environment, posted } = this.#connection
    const audit = entryOf(environment, act)
    const row = { name: this.name, ...texts, expected, nextAt, tasks, fence: null }
    const outcomes = await store.writeSchedule({ ...row, audit })
    if (tasks.length > 0) posted()
    return outcomes
  }

  async #row(): Promise<ScheduleRow> {
    await this.#connection.opened()
    const [row] = await this.#connection.store.schedules({ name: this.name, limit: 1 })
    if (!row) throw unknown(this.name)
    return row
  }
}

/** The schedules in the store. */
export function schedulesOf(connection: Connection): ScheduleCollection {
  return {
    get: (name) => new StoredSchedule(connection, name),
    async list(options = {}) {
      checkOptions('schedules.list', options, ['cursor', 'limit'])
      const { cursor, limit = 100 } = options
      checkInteger('schedules.list: limit', limit, 1, 1_000)
      const after = cursor === undefined ? '' : checkText('schedules.list: cursor', cursor, 200)
      await connection.opened()
      const rows = await connection.store.schedules({ after, limit: limit + 1 })
      const schedules = await withPauses(connection, rows.slice(0, limit).map(scheduleInfo))
      const last = rows.length > limit ? schedules.at(-1) : undefined
      return { schedules, ...(last && { next: last.name }) }
    },
  }
}

/** Adds the pauses that operators have set in the setting for all schedules. */
async function withPauses({ store }: Connection, schedules: ScheduleInfo[]): Promise<ScheduleInfo[]> {
  const [row] = await store.settings({ names: [schedulesSetting.name] })
  if (!row) return schedules
  const pauseOf = pausesIn(store, row)
  const shown = schedules.map(async (it) => {
    const said = (value: unknown) => pausedSchedule((isObject(value) ? value : {}) as SchedulesPolicy, it.name)
    const pausedBy = await pauseOf(it.name, said)
    return { ...it, ...(pausedBy && { pausedBy }) }
  })
  return Promise.all(shown)
}

interface ScheduleUpdate {
  definition: ScheduleDefinition
  state: ScheduleState
  expected: number | null
  tasks: readonly NewTask[]
}

const fresh: ScheduleState = { next: null, last: null, paused: null, started: 0, skipped: 0, missed: 0 }

/** The info of a schedule. If its row cannot be read, only its name and the error. */
export function scheduleInfo(row: ScheduleRow): ScheduleInfo {
  const known = legibly(row)
  if (known === null) return illegible(row)
  const { definition, state } = known
  const { workflow, version, input, recurrence, overlap } = definition
  const { paused, last, started, skipped, missed, failing } = state
  const texts = secretsAt(input, definition.secrets ?? [])
  return {
    ...{ name: row.name, workflow, version, recurrence, overlap, started, skipped, missed },
    input: texts.scrub(hideAt(input, definition.secrets ?? [])),
    failing: failing && { ...failing, error: texts.scrub(failing.error), since: new Date(failing.since) },
    paused: paused
      ? { since: new Date(paused.since), ...(paused.note !== undefined && { reason: paused.note }) }
      : undefined,
    next: row.nextAt === null ? undefined : new Date(row.nextAt),
    last: last === null ? undefined : new Date(last),
  }
}

interface RegisteredSchedule {
  definition: ScheduleDefinition
  state: ScheduleState
}

/** Throws HISTORY_CORRUPT. */
function read(row: ScheduleRow): RegisteredSchedule {
  const known = legibly(row)
  if (row.undecoded) throw row.undecoded
  if (known === null) throw corrupt(row.name)
  return known
}

function legibly(row: ScheduleRow): RegisteredSchedule | null {
  const definition = objectOf<ScheduleDefinition>(row.definition)
  const state = objectOf<ScheduleState>(row.state)
  return definition && state && { definition, state }
}

function illegible({ name, nextAt, undecoded }: ScheduleRow): ScheduleInfo {
  const { stack: _, ...error } = toRecord(undecoded ?? corrupt(name))
  return {
    ...{ name, workflow: '', version: '', input: null, recurrence: { every: 0, offset: 0 }, overlap: 'skip' },
    ...{ paused: undefined, next: undefined, last: undefined, started: 0, skipped: 0, missed: 0 },
    failing: { since: new Date(nextAt ?? 0), times: 1, error },
  }
}

function corrupt(name: string): TriarchError {
  return new TriarchError(
    'HISTORY_CORRUPT',
    `the row of schedule "${name}" cannot be read: register it again, or remove it`,
  )
}

function unknown(name: string): TriarchError {
  return new TriarchError('UNKNOWN_SCHEDULE', `there is no schedule "${name}"`)
}

function overtaken(name: string): TriarchError {
  return new TriarchError('STORE_BUSY', `schedule "${name}" was changed by others each time it was about to be written`)
}
