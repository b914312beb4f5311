import type { HistoryEntry, TaskDetails } from 'triarch'
import { usage } from './exit.ts'

/** A task in a file. `format`: another number when what is in it means something else. */
export interface Exported {
  format: 1
  task: TaskDetails
  history: HistoryEntry[]
}

export function exported(task: TaskDetails, history: HistoryEntry[]): Exported {
  return { format: 1, task, history }
}

/** The task of a file that `triarch export` wrote. */
export function imported(text: string, path: string): Pick<Exported, 'history'> & { task: { id: string } } {
  const refused = usage(`${path} is not what triarch export writes`)
  let found: Exported
  try {
    found = JSON.parse(text) as Exported
  } catch {
    throw refused
  }
  if (found?.format !== 1 || typeof found.task?.id !== 'string' || !Array.isArray(found.history)) throw refused
  return { task: found.task, history: found.history.map(({ at, ...entry }) => ({ ...entry, at: new Date(at) })) }
}
