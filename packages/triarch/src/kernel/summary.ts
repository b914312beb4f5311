import type { ErrorRecord, Json } from './json.ts'
import { progressOf } from './plan/plan.ts'
import type { Redaction } from './redaction.ts'
import type { TaskState } from './state.ts'
import type { TaskOutcome, TaskStatus } from './status.ts'
import type { Pause } from './task/pause.ts'

/** The part of the state that the task's row holds. It is derived; tests check it against the fold. */
export interface Summary {
  status: TaskStatus
  result: TaskOutcome
  failures: number
  deadline: number | null
  progress: Json | undefined
  output: Json | undefined
  error: ErrorRecord | undefined
  pause: Pause | null
  /** The redaction with which progress and output are shown, and the number of its texts. */
  secrets: Redaction | null
  secretTexts: number
}

export function summarise(state: TaskState): Summary {
  const { status, result, failures, plan, output, error, pause, secrets } = state
  const progress = plan ? progressOf(plan) : state.progress
  const secretTexts = secrets === null || (progress === undefined && output === undefined) ? 0 : secrets.texts.size
  const row = { status, result, failures, deadline: deadlineOf(state), progress, output, error, pause }
  return { ...row, secrets, secretTexts }
}

/** Whether the task was submitted and has not begun. */
export function isWaiting({ status }: TaskState): boolean {
  return status === 'pending' || status === 'scheduled' || status === 'planned'
}

/** The next instant at which the task must be handled even if no node can run its code. */
function deadlineOf(state: TaskState): number | null {
  if (state.status === 'stopped' || state.closing) return null
  const waiting = isWaiting(state)
  const before = waiting && state.startBefore !== null ? state.startBefore + 1 : null
  if (before === null || state.completeBy === null) return before ?? state.completeBy
  return Math.min(before, state.completeBy)
}

/** Whether two summaries make the same row. Payloads are compared by identity, because the fold replaces them as a whole. */
export function sameSummary(a: Summary, b: Summary): boolean {
  return (
    a.status === b.status &&
    a.result === b.result &&
    a.failures === b.failures &&
    a.deadline === b.deadline &&
    a.progress === b.progress &&
    a.output === b.output &&
    a.error === b.error &&
    a.pause === b.pause &&
    a.secretTexts === b.secretTexts
  )
}
