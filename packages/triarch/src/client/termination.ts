import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { rebuild } from '../kernel/rebuild.ts'
import { receive } from '../kernel/receive.ts'
import { remarkOf } from '../kernel/remark.ts'
import { summarise } from '../kernel/summary.ts'
import { incompleteDetails } from '../kernel/task/left.ts'
import { notifyParent } from '../kernel/task/stop.ts'
import { type KernelLimits, newTurn } from '../kernel/turn.ts'
import { readHistoryPart } from '../scheduler/history.ts'
import { snapshotOf } from '../scheduler/transition.ts'
import type { Post, Snapshot, StateStore, TaskRow, Termination } from '../store/port.ts'
import { recordText } from '../store/record.ts'

export const NO_LIMITS: KernelLimits = { history: Infinity, fanOut: Infinity, payload: Infinity }

/**
 * The forced end of a quarantined task. If its history can be read, it is ended by the rules; otherwise its row is ended, and its parent
 * notified as far as it is known.
 */
export async function terminationOf(
  store: StateStore,
  row: TaskRow,
  now: number,
  { reason, actor, request }: { reason?: string; actor?: string; request?: string } = {},
): Promise<Termination> {
  const { id } = row
  const at = Math.max(now, row.updatedAt)
  const { events, broken } = await readHistoryPart(store, row)
  const said = { ...(reason !== undefined && { reason }), ...(actor !== undefined && { actor }) }
  if (row.status === 'stopped') return givenUp(row, events[0]?.event, at, said)
  if (!broken) {
    try {
      const turn = newTurn(rebuild(id, events).state, at, () => 0, NO_LIMITS)
      const asked = { ...said, ...(request !== undefined && { request }) }
      receive(turn, { type: 'cancel', force: true, compensate: false, ...asked })
      notifyParent(turn)
      if (turn.state.status === 'stopped')
        return {
          id,
          at,
          events: recordText(turn.events),
          snapshot: snapshotOf(summarise(turn.state)),
          posts: turn.posts,
        }
    } catch {
      // The history contradicts itself, so the task is ended without it.
    }
  }
  const error = { name: 'TaskCancelledError', code: 'TASK_CANCELLED', message: reason ?? 'cancelled' }
  const end: TaskEvent[] = [
    { type: 'closing', cause: 'cancel', compensate: false, error, ...(actor !== undefined && { actor }) },
    { type: 'stopped', result: 'cancelled', error },
  ]
  const ended = {
    status: 'stopped',
    result: 'cancelled',
    deadline: null,
    error: JSON.stringify(error),
    pause: null,
  } as const
  const { failures, progress } = row
  const snapshot: Snapshot = { failures, progress, output: null, ...ended }
  return { id, at, events: recordText(end), snapshot, posts: cancelled(row, events[0]?.event, error) }
}

/** The message to the parent, if there is one. */
function cancelled(row: TaskRow, first: TaskEvent | undefined, error: ErrorRecord): Post[] {
  const parent = first?.type === 'submitted' ? first.parent : parentOf(row)
  if (!parent) return []
  const { task, step, ordinal } = parent
  const of = { step, ...(ordinal !== undefined && { ordinal }) }
  // It is not known what the task did, and whether that was undone.
  const told = { ...error, ...incompleteDetails(1) }
  return [{ task, message: { type: 'child', ...of, result: 'cancelled', error: told }, control: true }]
}

/**
 * For a task that has stopped and stays as it is: requests made since, for example to undo it, are given up, and its parent is notified.
 */
function givenUp(
  row: TaskRow,
  first: TaskEvent | undefined,
  at: number,
  said: { reason?: string; actor?: string },
): Termination {
  const { id, status, result, failures, progress, error } = row
  const output = row.veiled ?? row.output
  const reason = 'it was given up by force'
  const why = said.reason ?? reason
  const end: TaskEvent[] = [{ type: 'messageIgnored', message: 'quarantine', reason, ...remarkOf(said) }]
  const snapshot = { status, result, failures, progress, output, error, deadline: null, pause: null }
  const posts = cancelled(row, first, { name: 'TaskCancelledError', code: 'TASK_CANCELLED', message: why })
  return { id, at, events: recordText(end), snapshot, posts }
}

/** The parent's step from the id that the engine gave to the child, which has the step and the place in a batch. */
function parentOf({ id, parent }: TaskRow): { task: string; step: number; ordinal?: number } | undefined {
  if (parent === null || !id.startsWith(parent)) return undefined
  const [, step, ordinal] = /^\D(\d+)(?:\D(\d+))?/.exec(id.slice(parent.length)) ?? []
  if (step === undefined) return undefined
  return { task: parent, step: Number(step), ...(ordinal !== undefined && { ordinal: Number(ordinal) }) }
}
