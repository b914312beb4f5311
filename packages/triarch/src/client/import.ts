import { isDeepStrictEqual } from 'node:util'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { isKnown } from '../kernel/apply.ts'
import { childId } from '../kernel/batch/batch.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { redactionOf } from '../kernel/redaction.ts'
import { type Remark, remarkOf } from '../kernel/remark.ts'
import { assertSound } from '../kernel/soundness.ts'
import type { TaskState } from '../kernel/state.ts'
import { summarise } from '../kernel/summary.ts'
import { emit, newTurn } from '../kernel/turn.ts'
import { Chronicle, contradictory, foldOf, isUnreadable, recordsOf } from '../scheduler/history.ts'
import { snapshotOf } from '../scheduler/transition.ts'
import type { HistoryRecord, ImportedTask, StateStore } from '../store/port.ts'
import { RecordReader } from '../store/reader.ts'
import { eventsIn, FORMAT, recordText } from '../store/record.ts'
import { readJson } from '../value/json.ts'
import { checkTaskId } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { type ExportedRecord, exportedText, type TaskExport } from '../view/export.ts'
import { historyEvent } from '../view/history.ts'
import { stepViews } from '../view/steps.ts'
import { actor, entryOf } from './act.ts'
import { illShaped, isInstant } from './event-shape.ts'
import { NO_LIMITS } from './termination.ts'

/** Most bytes of the records of one import, because they are written at once. */
const MOST_BYTES = 64 * 1024 * 1024
/** Most children of an imported task; their rows are checked. */
const MOST_CHILDREN = 10_000

/**
 * How a task is imported from another store.
 * @example const order: ImportOptions = { paused: false, reason: 'the shop moves', actor: 'ada' }
 */
export interface ImportOptions {
  /**
   * True: a task that has not stopped is paused until resume(), because it may still run in the other store; false: it goes on at once.
   * True by default.
   */
  paused?: boolean
  /** The reason, for the audit and, if the task is paused, for its history; up to 1,000 characters. */
  reason?: string
  /** The actor: up to 200 characters; by default the one of `serving.acting`. */
  actor?: string
}

type ImportDeps = { store: StateStore; environment: Pick<Environment, 'now' | 'id'> }
type ImportOrigin = Pick<ImportOptions, 'reason' | 'actor'>
type ImportedRecord = Pick<HistoryRecord, 'seq' | 'at' | 'events'>

/** An imported task, read from its history. */
interface SoundHistory {
  state: TaskState
  base: number
  at: number
  rows: readonly ImportedRecord[]
  children: readonly Descendant[]
}

/** A task that it started, and the step that started it. */
type Descendant = ImportedTask['children'][number]

/** Imports the whole task, unless it exists already. Throws IMPORT_*, TASK_EXISTS, INVALID_*. */
export async function importTask(means: ImportDeps, exported: TaskExport, options: ImportOptions): Promise<boolean> {
  checkOptions('tasks.import', options, ['paused', 'reason', 'actor'])
  const { paused = true } = options
  if (typeof paused !== 'boolean')
    throw new TriarchError('INVALID_OPTION', 'tasks.import: paused must be true or false')
  const said: ImportOrigin = {
    ...(options.reason !== undefined && { reason: checkText('tasks.import: reason', options.reason, 1_000) }),
    ...(options.actor !== undefined && { actor: checkText('tasks.import: actor', options.actor, 200) }),
  }
  const { task: id, veiled } = checkShape(exported)
  const found = soundHistory(id, exported)
  if (veiled) throw refused(id, 'secrets', 'its secrets were left out: export it with them')
  const { store } = means
  const isNew = (await store.task(id)) === null && (await write(means, found, paused, said))
  if (!isNew) await checkSame(store, id, found.rows)
  await askChildren(store, found)
  return isNew
}

/** Returns false if the task was created meanwhile. */
async function write(
  { store, environment }: ImportDeps,
  found: SoundHistory,
  paused: boolean,
  said: ImportOrigin,
): Promise<boolean> {
  await checkFree(store, found)
  const { id, status } = found.state
  const by = said.actor ?? actor()
  const remark = remarkOf({ reason: said.reason ?? 'imported', ...(by !== undefined && { actor: by }) })
  const resting = paused && status !== 'stopped' && status !== 'paused'
  const task = taskOf(resting ? rest(found, Math.max(environment.now(), found.at), remark) : found)
  const audit = entryOf(environment, { action: 'task.import', subject: `task:${id}`, ...said })
  return store.importTask({ ...task, audit })
}

/** Throws INVALID_OPTION, INVALID_NAME. */
function checkShape(exported: TaskExport): TaskExport {
  if (!isExport(exported)) throw new TriarchError('INVALID_OPTION', 'tasks.import: this is not what export() gives')
  checkTaskId(exported.task)
  return exported
}

/** The argument may be anything: no JSON, or nested deeper than any value of a history. */
function isExport(exported: TaskExport): boolean {
  try {
    const { format, task, veiled, records } = (exported ?? {}) as Partial<TaskExport>
    const isRecord = (it: ExportedRecord | null) =>
      Number.isSafeInteger(it?.seq) &&
      isInstant(it?.at) &&
      Number.isSafeInteger(it?.at) &&
      Array.isArray(it?.events) &&
      !('problem' in readJson(JSON.stringify(it.events)))
    if (typeof task !== 'string' || typeof veiled !== 'boolean') return false
    return Number.isSafeInteger(format) && Array.isArray(records) && Array.from(records).every(isRecord)
  } catch {
    return false
  }
}

/** Throws IMPORT_REFUSED, IMPORT_TOO_LARGE. */
function soundHistory(id: string, exported: TaskExport): SoundHistory {
  try {
    return readHistory(id, exported)
  } catch (error) {
    if (isUnreadable(error)) throw refused(id, 'history', error.message, error)
    throw error
  }
}

/** Reads and folds the history, and checks it as running or showing it would. */
function readHistory(id: string, { format, records }: TaskExport): SoundHistory {
  const chronicle = new Chronicle()
  const rows: ImportedRecord[] = []
  let last: readonly TaskEvent[] = []
  let bytes = 0
  for (const record of records) {
    const { seq, at, error, missing } = record
    if (error || missing) throw corrupt(`record ${seq} of task "${id}", or one before it, could not be exported`)
    const before = chronicle.events.length
    chronicle.add({ seq, at, events: exportedText(format, record) })
    last = chronicle.events.slice(before).map(({ event }) => event)
    const strange = last.find((event) => !isKnown(event))
    if (strange)
      throw new TriarchError(
        'HISTORY_FORMAT_UNKNOWN',
        `record ${seq} has an event "${strange.type}", which this Triarch does not know: update it`,
        { details: { record: seq, found: format, known: FORMAT } },
      )
    for (const [index, event] of last.entries()) {
      const field = illShaped(event)
      if (field !== null)
        throw new TriarchError(
          'HISTORY_CORRUPT',
          `record ${seq} has an event "${event.type}" whose field "${field}" is not of the right form`,
          { details: { record: seq, event: index, field } },
        )
    }
    const text = recordText(last)
    bytes += Buffer.byteLength(text)
    if (bytes > MOST_BYTES)
      throw new TriarchError('IMPORT_TOO_LARGE', `the history of task "${id}" has more than ${MOST_BYTES} bytes`)
    rows.push({ seq, at, events: text })
  }
  const { events, base, at } = chronicle
  if (events[0]?.event.type !== 'submitted')
    throw corrupt(`the history of task "${id}" does not begin with its submission`)
  const { state } = foldOf(id, events)
  try {
    assertSound({ state, events: [...last], reload: false })
    for (const { event } of events) historyEvent(event)
    stepViews(id, events, redactionOf([]))
    snapshotOf(summarise(state))
  } catch (cause) {
    throw contradictory(cause)
  }
  return {
    state,
    base,
    at,
    rows,
    children: childrenOf(
      state,
      events.map(({ event }) => event),
    ),
  }
}

/** Adds a record that pauses the task until an operator resumes it. */
function rest(found: SoundHistory, at: number, remark: Remark): SoundHistory {
  const turn = newTurn(found.state, at, () => 0, NO_LIMITS)
  emit(turn, { type: 'paused', reason: 'operator', ...remark })
  const seq = (found.rows.at(-1)?.seq ?? 0) + 1
  return { ...found, rows: [...found.rows, { seq, at, events: recordText(turn.events) }] }
}

function taskOf({ state, base, rows, children }: SoundHistory): ImportedTask {
  const { id, workflow, version, priority, tags, share, parent, status } = state
  const isOpen = status !== 'stopped'
  return {
    ...{ id, workflow, version, priority, tags, base, records: rows, children },
    ...(share && { share }),
    at: rows[0]?.at ?? 0,
    parent: parent?.task ?? null,
    ...(parent && { parentStep: parent.step }),
    snapshot: snapshotOf(summarise(state)),
    ready: isOpen && status !== 'paused',
    orphaned: isOpen,
  }
}

/** The children of its present run that were created, and of which it may still request something. */
function childrenOf(state: TaskState, events: readonly TaskEvent[]): Descendant[] {
  const never = new Set(events.flatMap((event) => (isRefusal(event) ? [event.id] : [])))
  const found = [...state.children.values()]
    .filter(({ id }) => !never.has(id))
    .map(({ task, id }) => ({ task, step: id }))
  for (const [step, batch] of state.batches)
    for (let ordinal = 0; ordinal < batch.next && found.length <= MOST_CHILDREN; ordinal++)
      if (!batch.foreign.has(ordinal)) found.push({ task: childId(state, step, batch, ordinal), step })
  return found
}

/** Whether the child was never created. */
function isRefusal(event: TaskEvent): event is Extract<TaskEvent, { type: 'childStopped' }> {
  return event.type === 'childStopped' && (event.error?.code === 'TASK_EXISTS' || event.error?.code === 'LOCK_HELD')
}

/** Whatever the task needs from other tasks must exist in this store. Throws IMPORT_REFUSED. */
async function checkFree(store: StateStore, { state, children }: SoundHistory): Promise<void> {
  const { id, locks, predecessors, status } = state
  const lock = [...locks.values()].find(({ standing }) => standing !== 'new')
  const before = [...predecessors].find(([, { result }]) => result === null)
  if (status !== 'stopped') {
    if (lock) throw refused(id, 'locks', `it has, or waits for, lock "${lock.name}" there`)
    if (before) throw refused(id, 'predecessors', `it comes after task "${before[0]}", which had not stopped there`)
  }
  if (children.length > MOST_CHILDREN) throw refused(id, 'children', `it has more than ${MOST_CHILDREN} children`)
  for (const { task, step } of children) {
    const row = await store.task(task)
    if (row?.parentStep !== step || (row.parent !== null && row.parent !== id))
      throw refused(id, 'children', `its child "${task}" is not here: import that first`)
  }
}

/** Asks children that had stopped before the import to report to their parent again, which does no harm if repeated. */
async function askChildren(store: StateStore, { state, children }: SoundHistory): Promise<void> {
  if (state.status === 'stopped') return
  const outstanding = new Set<string>()
  for (const [step, batch] of state.batches)
    for (const ordinal of batch.outstanding) outstanding.add(childId(state, step, batch, ordinal))
  for (const { task, status } of state.children.values()) if (status !== 'stopped') outstanding.add(task)
  const open = children.filter(({ task }) => outstanding.has(task))
  if (open.length === 0) return
  await store.post(open.map(({ task }) => ({ task, message: { type: 'report' }, control: true })))
}

/** Throws unless the existing task's history begins like the imported one. Records deleted after a continue-as-new are not compared. */
async function checkSame(store: StateStore, id: string, rows: readonly ImportedRecord[]): Promise<void> {
  const given = new Map(rows.map((row) => [row.seq, row]))
  const last = rows.at(-1)?.seq ?? 0
  const reader = new RecordReader()
  for await (const page of recordsOf(store, id)) {
    for (const record of page) {
      if (record.seq > last) return
      const same = given.get(record.seq)
      const equal =
        same?.at === record.at && isDeepStrictEqual(legible(record, reader), eventsIn(same.events, record.seq))
      if (!equal) throw new TriarchError('TASK_EXISTS', `task "${id}" exists with another history`)
    }
  }
}

function legible({ events, seq }: HistoryRecord, reader: RecordReader): TaskEvent[] | null {
  try {
    return reader.events(events, seq)
  } catch (error) {
    if (isTriarchError(error)) return null
    throw error
  }
}

type Cause = 'history' | 'secrets' | 'locks' | 'predecessors' | 'children'

function refused(id: string, cause: Cause, why: string, error?: TriarchError): TriarchError {
  const details = { ...(error?.details as object | undefined), cause, ...(error && { code: error.code }) }
  return new TriarchError('IMPORT_REFUSED', `task "${id}" cannot be imported: ${why}`, { details, cause: error })
}

function corrupt(message: string): TriarchError {
  return new TriarchError('HISTORY_CORRUPT', message)
}
