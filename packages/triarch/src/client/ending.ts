import { TriarchError } from '../error/error.ts'
import type { TaskRow } from '../store/port.ts'
import { type Ending, wholeOf } from '../view/status.ts'

/** How the task ended, from its row. Throws HISTORY_CORRUPT, CODEC_*. */
export function endOf(row: TaskRow): Ending {
  const info = wholeOf(row)
  const lost = info.broken?.find((it) => it === 'output' || it === 'error')
  if (!lost) return info
  if (row.undecoded) throw row.undecoded
  throw new TriarchError('HISTORY_CORRUPT', `the ${lost} of task "${row.id}" cannot be read`)
}

/** The task has stopped, and no control message waits that may resume it. */
export function hasEnded({ status, control, lockedBy }: TaskRow): boolean {
  return status === 'stopped' && !control && lockedBy === null
}
