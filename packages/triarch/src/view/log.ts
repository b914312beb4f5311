import type { Json } from '../kernel/json.ts'
import { HIDDEN, type SecretTexts } from '../kernel/secret.ts'
import type { Operation } from '../kernel/step/step.ts'
import { lineOf } from '../store/line.ts'
import type { LogRow } from '../store/port.ts'
import { type LogLevel, logLevels } from '../value/level.ts'

/**
 * A line of a task's log.
 * @example const shown = ({ at, level, message }: LogLine) => `${at.toISOString()} ${level} ${message}`
 */
export interface LogLine {
  /** Its number in the log of its task, rising: for `after`. */
  seq: number
  /** When it was said, by the clock of the node that said it. */
  at: Date
  /** How much it matters. */
  level: LogLevel
  /** What it says; cut off beyond 4,096 characters. */
  message: string
  /** What else it says, as JSON has it. */
  fields: { readonly [key: string]: Json }
  /** The number of the step; undefined: the workflow's own code said it. */
  step: number | undefined
  /** What the step's attempt was for. */
  operation: Operation | undefined
  /** Which attempt of the operation, from 1. */
  attempt: number | undefined
  /** The node that said it, or was told it by an agent that is elsewhere. */
  node: string | undefined
  /** So many lines before it were dropped, since too much was said at once; 0. */
  dropped: number
}

/** The line as it may be shown; `secrets`: null: nobody can say what of it is secret. */
export function logLine(row: LogRow, secrets: SecretTexts | null): LogLine {
  const { seq, at, level, step, operation, attempt, node } = row
  const { message, fields, dropped = 0 } = lineOf(row.text)
  const shown = secrets === null ? { message: HIDDEN, fields: {} } : secrets.scrub({ message, fields: fields ?? {} })
  return {
    ...{ seq, at: new Date(at), level: logLevels[level] ?? 'info', message: shown.message },
    fields: shown.fields as LogLine['fields'],
    step: step === 0 ? undefined : step,
    operation: (operation ?? undefined) as Operation | undefined,
    attempt: attempt ?? undefined,
    node: node ?? undefined,
    dropped,
  }
}
