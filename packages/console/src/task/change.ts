import { text } from '../api/client.ts'
import type { Moment } from '../api/types.ts'

/** Something of a task or of one of its steps that is not what it was. */
export interface TaskChange {
  /** The step, by its number and name; null: the task itself. */
  step: { id: number; name: string } | null
  what: string
  /** Undefined: there was nothing. */
  before: unknown
  after: unknown
}

const ofTask = ['status', 'outcome', 'failures', 'progress', 'output', 'error', 'pause'] as const
const ofStep = ['status', 'attempts', 'progress', 'input', 'output', 'error', 'undoable', 'children'] as const

/** What is different between two moments of one run, the task's own first. */
export function changesOf(before: Moment, after: Moment): TaskChange[] {
  const changes: TaskChange[] = differences(before, after, ofTask).map((it) => ({ step: null, ...it }))
  const known = new Map(before.steps.map((step) => [step.id, step]))
  for (const step of after.steps) {
    const { id, name } = step
    const old = known.get(id)
    if (!old) changes.push({ step: { id, name }, what: 'status', before: undefined, after: step.status })
    else for (const it of differences(old, step, ofStep)) changes.push({ step: { id, name }, ...it })
  }
  return changes
}

function differences<T>(before: T, after: T, names: readonly (keyof T & string)[]): Omit<TaskChange, 'step'>[] {
  return names
    .filter((what) => text(before[what]) !== text(after[what]))
    .map((what) => ({ what, before: before[what], after: after[what] }))
}
