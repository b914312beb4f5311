import { readJson, type TaskDetails, type TaskExport } from 'triarch'
import { usage } from './exit.ts'

/** A task in a file. `history` has a format of its own. */
export interface Exported {
  /** Another number when what is in the file means something else. */
  format: 1
  task: TaskDetails
  history: TaskExport
}

export function exported(task: TaskDetails, history: TaskExport): Exported {
  return { format: 1, task, history }
}

/** The task of a file that `triarch export` wrote. */
export function imported(text: string, path: string): TaskExport {
  const [history, ...others] = allImported(text, path)
  if (!history || others.length > 0) throw usage(`${path} has ${others.length === 0 ? 'no' : 'more than one'} task`)
  return history
}

/** All tasks of such a file: one, or one a line. */
export function allImported(text: string, path: string): TaskExport[] {
  const refused = usage(`${path} is not what triarch export writes`)
  const whole = parsed(text)
  const found =
    whole === undefined
      ? text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(parsed)
      : [whole]
  return found.map((one) => {
    const { format, history } = (one ?? {}) as Partial<Exported>
    if (format !== 1 || typeof history?.task !== 'string' || !Array.isArray(history.records)) throw refused
    return history
  })
}

function parsed(text: string): unknown {
  const read = readJson(text)
  return 'problem' in read ? undefined : read.value
}
