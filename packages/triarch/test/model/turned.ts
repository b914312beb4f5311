import type { PageItem } from '../../src/kernel/batch/batch.ts'
import type { Decision, TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import { advance } from '../../src/kernel/plan/advance.ts'
import { receive } from '../../src/kernel/receive.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { dispatchable } from '../../src/kernel/step/dispatch.ts'
import { settleBatches } from '../../src/kernel/step/failure.ts'
import { close } from '../../src/kernel/task/close.ts'
import { hookTasks } from '../../src/kernel/task/hook.ts'
import { notifyParent } from '../../src/kernel/task/stop.ts'
import { begin, nextWake } from '../../src/kernel/tick.ts'
import { emit, isOutstanding, newTurn, type Turn } from '../../src/kernel/turn.ts'
import { bound } from '../../src/scheduler/decisions.ts'
import { Fold } from './fold.ts'

export interface Circumstances {
  /** Messages of the turn, in order. */
  mail?: readonly Message[]
  /** What the code asks for after them. */
  code?: readonly Decision[]
  /** The code that is at hand. */
  has?: 'none' | 'function' | 'plan'
  /** As its workflow says (ms). */
  runWithin?: number
  /** How long after the last event (ms). */
  after?: number
  /** Nothing was handed out: it is the first turn of an owner. */
  fresh?: boolean
  /** Messages of another turn after it. */
  next?: readonly Message[]
  /** Of a batch: the children its last page gave and that were not started yet. */
  buffer?: readonly PageItem[]
  limits?: Partial<Turn['limits']>
}

/** One line for each thing that a turn does, in the order in which it leaves the kernel. */
export function turned(history: readonly TaskEvent[], circumstances: Circumstances): string[] {
  const { after = 10, fresh = false, buffer, next } = circumstances
  const fold = new Fold(...history)
  const { state } = fold
  if (!fresh) for (const step of state.steps.values()) step.dispatched = isOutstanding(step) && step.due <= fold.now
  if (buffer) for (const batch of state.batches.values()) batch.buffer = [...buffer]
  const does = turn(state, fold.now + after, circumstances)
  if (!next) return does
  for (const step of dispatchable(state, fold.now + after)) step.dispatched = true
  return [...does, 'and then', ...turn(state, fold.now + after, { ...circumstances, mail: next, code: [] })]
}

function turn(
  state: TaskState,
  at: number,
  { mail = [], code = [], has = 'function', runWithin, limits }: Circumstances,
): string[] {
  const turn = newTurn(state, at, () => 0.5, { history: 80, fanOut: 8, payload: 1_000, ...limits })
  receive(turn, { type: 'tick' })
  for (const message of mail) receive(turn, message)
  settleBatches(turn)
  for (const decision of code) emit(turn, decision)
  const begins = begin(turn, has, runWithin)
  if (has === 'plan') advance(turn)
  bound(turn)
  close(turn)
  notifyParent(turn)
  const wake = nextWake(state)
  return [
    ...turn.events.map((event) => lineOf(event, at)),
    ...(begins ? ['begins'] : []),
    ...turn.deliveries.map((it) => `tells ${it.id}: ${it.ok ? JSON.stringify(it.value) : it.reason}`),
    ...turn.posts.map(({ task, message }) => `posts ${task} ${lineOf(message, at)}`),
    ...turn.spawned.map(({ task, ordinal, item }) => `makes ${task} ${ordinal} ${JSON.stringify(item.input)}`),
    ...hookTasks(turn).map(({ task, workflow, input }) => `hooks ${task} ${workflow} ${lineOf(input as object, at)}`),
    ...turn.aborts.map((step) => `aborts ${step}`),
    ...turn.forgotten.map((step) => `forgets ${step}`),
    ...turn.alerts.map(({ cause, step, message }) => `alerts ${[cause, step].join(' ')}: ${message}`),
    ...turn.gates.locks.map(
      ({ step, name, ifHeld, parents }) => `locks ${step} ${name} ${ifHeld}${parents ? ` below ${parents}` : ''}`,
    ),
    ...turn.gates.unlocks.map((step) => `unlocks ${step}`),
    ...(turn.stale > 0 ? [`stale ${turn.stale}`] : []),
    ...(turn.reload ? ['reloads'] : []),
    ...(turn.full ? ['full'] : []),
    ...(turn.reload ? [] : dispatchable(state, at).map((it) => `starts ${it.id} ${it.operation} ${it.attempt}`)),
    ...(wake === null ? [] : [`wakes ${instant(wake, at)}`]),
  ]
}

/** Instants from the turn's own on. */
const instants: ReadonlySet<string> = new Set(['at', 'until', 'selfSignalAt', 'startAt'])
/** Where and when an attempt ran is told by nothing here. */
const unsaid: ReadonlySet<string> = new Set(['type', 'id', 'startedAt', 'endedAt', 'node'])

function lineOf(event: object & { type?: string; id?: number }, at: number): string {
  const rest = Object.entries(event).filter(([key]) => !unsaid.has(key))
  const words = rest.map(
    ([key, value]) => `${key}=${instants.has(key) && typeof value === 'number' ? instant(value, at) : text(value, at)}`,
  )
  return [event.type, event.id, ...words].filter((word) => word !== undefined).join(' ')
}

function instant(value: number, at: number): string {
  return value < at ? `${value - at}` : `+${value - at}`
}

function text(value: unknown, at: number): string {
  if (Array.isArray(value)) return `[${value.map((it) => text(it, at)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing'
  if ('message' in value && 'name' in value) {
    const { name, code, message, cause, details } = value as { [key: string]: unknown }
    const more = details === undefined ? '' : ` ${text(details, at)}`
    return `(${code ?? name}: ${message}${cause === undefined ? '' : ` < ${text(cause, at)}`}${more})`
  }
  return `{${lineOf(value, at)}}`
}
