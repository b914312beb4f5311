import type { Json } from '../kernel/json.ts'
import { HIDDEN, type SecretTexts } from '../kernel/secret.ts'
import type { Operation } from '../kernel/step/step.ts'
import { parseLine } from '../store/line.ts'
import type { LogRow } from '../store/port.ts'
import { type LogLevel, logLevels } from '../value/level.ts'

/**
 * A line of a task's log.
 * @example const shown = ({ at, level, message }: LogLine) => `${at.toISOString()} ${level} ${message}`
 */
export interface LogLine {
  /** Its number in the log of its task, rising: for `after`. */
  seq: number
  /** When it was written, by the clock of the node that wrote it. */
  at: Date
  /** The level of the line. */
  level: LogLevel
  /** The message, cut off beyond 4,096 characters. */
  message: string
  /** Further fields, as JSON. */
  fields: { readonly [key: string]: Json }
  /** The number of the step; undefined: the workflow's own code wrote it. */
  step: number | undefined
  /** The operation of the step's attempt. */
  operation: Operation | undefined
  /** The number of the attempt of that operation, from 1. */
  attempt: number | undefined
  /** The node that wrote it, or received it from a remote agent. */
  node: string | undefined
  /** How many lines before it were dropped because too many were written at once; 0. */
  dropped: number
}

/** The line with secrets hidden. `secrets` null: it is unknown what is secret. */
export function logLine(row: LogRow, secrets: SecretTexts | null): LogLine {
  const { seq, at, level, step, operation, attempt, node } = row
  const { message, fields, dropped = 0 } = parseLine(row.text)
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
