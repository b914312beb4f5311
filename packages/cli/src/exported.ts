import type { TaskDetails, TaskExport } from 'triarch'
import { usage } from './exit.ts'

/** A task in a file. `history` has a format of its own. */
export interface Exported {
  /** Another number when what is in the file means something else. */
  format: 2
  task: TaskDetails
  history: TaskExport
}

export function exported(task: TaskDetails, history: TaskExport): Exported {
  return { format: 2, task, history }
}

/** The task of a file that `triarch export` wrote. */
export function imported(text: string, path: string): TaskExport {
  const refused = usage(`${path} is not what triarch export writes`)
  let found: Exported
  try {
    found = JSON.parse(text) as Exported
  } catch {
    throw refused
  }
  const { format, history } = found ?? {}
  if (format !== 2 || typeof history?.task !== 'string' || !Array.isArray(history.records)) throw refused
  return history
}
