import { TriarchError } from '../error/error.ts'
import { summarise } from '../kernel/summary.ts'
import { emit, newTurn } from '../kernel/turn.ts'
import { foldOf, readHistoryPart } from '../scheduler/history.ts'
import { snapshotOf } from '../scheduler/transition.ts'
import type { StateStore, TaskRow, Truncation } from '../store/port.ts'
import { recordText } from '../store/record.ts'
import { NO_LIMITS } from './termination.ts'

/**
 * Lets a quarantined task go on from its last whole record: later records are given up, as after a failover that lost them. The task is
 * then paused, with a note. Throws ILLEGAL_MOVE, HISTORY_CORRUPT.
 */
export async function cutOf(store: StateStore, row: TaskRow, now: number, after: number): Promise<Truncation> {
  const { id } = row
  if (!row.quarantined || row.status === 'stopped') throw illegal(`task "${id}" is not in quarantine`)
  const { events: dated, last, base, broken } = await readHistoryPart(store, row)
  if (!broken) throw illegal(`all records of task "${id}" can be read`)
  if (readableElsewhere.has(broken.code)) throw illegal(`nothing of task "${id}" is lost: ${broken.message}`)
  if (last !== after) throw illegal(`the last whole record of task "${id}" is ${last}, not ${after}`)
  const { state } = foldOf(id, dated)
  if (state.status === 'stopped') throw illegal(`task "${id}" had stopped by record ${after}`)
  const at = Math.max(now, row.updatedAt)
  const turn = newTurn(state, at, () => 0, NO_LIMITS)
  emit(turn, {
    type: 'paused',
    reason: 'operator',
    note: `what came after record ${after} was lost: ${broken.message}`,
  })
  return {
    id,
    after,
    at,
    events: recordText(turn.events),
    snapshot: snapshotOf(summarise(state)),
    base,
    locks: [...state.locks.keys()],
  }
}

/** With these errors, another node or a newer version may be able to read the record. */
const readableElsewhere: ReadonlySet<string> = new Set(['CODEC_MISSING', 'CODEC_KEY_MISSING', 'HISTORY_FORMAT_UNKNOWN'])

function illegal(message: string): TriarchError {
  return new TriarchError('ILLEGAL_MOVE', `resume: after: ${message}`)
}
