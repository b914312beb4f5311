/** A new line of a task's log. */
export interface LogEntry {
  /** Its number among the lines of its source: never written twice. Rises within a write. */
  n: number
  /** When it was logged (ms since the epoch). */
  at: number
  /** The level, as its index among the levels. */
  level: number
  /** The line, as JSON. */
  text: string
}

/** New lines of one source in a task: an attempt, or the workflow's code. */
export interface LogWrite {
  /** The id of the task. Where there is none, nothing is written. */
  task: string
  /** The unique id of one execution of an attempt's code; null: the workflow's code. */
  source: string | null
  /** For the workflow's code the number of the first decision of its run, which rises; else 0. */
  run: number
  /** The step; 0: the workflow's code. */
  step: number
  /** The operation of the attempt; null for the workflow's code. */
  operation: string | null
  /** The number of the attempt; null for the workflow's code. */
  attempt: number | null
  /** The node on which it was logged. */
  node: string | null
  /** The lines, in order. */
  entries: readonly LogEntry[]
}

/** The bounds of a task's log: beyond them the oldest lines are dropped. */
export const LOG_KEPT: { lines: number; bytes: number } = { lines: 10_000, bytes: 4 * 1024 * 1024 }
/** Bytes that a line counts besides its text. */
export const LINE_COST = 100

/** A line, as stored. */
export interface LogRow {
  /** Its number in the log of its task, rising. */
  seq: number
  /** When it was logged (ms since the epoch). */
  at: number
  /** The level, as its index among the levels. */
  level: number
  /** The step; 0: the workflow's code. */
  step: number
  /** The operation of the attempt; null for the workflow's code. */
  operation: string | null
  /** The number of the attempt; null for the workflow's code. */
  attempt: number | null
  /** The node on which it was logged. */
  node: string | null
  /** The line, as JSON. */
  text: string
}

/** Selects lines of a task's log, in order. */
export interface LogQuery {
  /** The id of the task. */
  task: string
  /** Only lines with a higher number. */
  after: number
  /** Most lines. */
  limit: number
  /** The lowest level. */
  level: number
  /** Only lines of this step; 0: of the workflow's code; null: all. */
  step: number | null
  /** Only lines of attempts with this number; null: all. */
  attempt: number | null
}

/** A part of a log. */
export interface StoredLog {
  /** The lines that fit. */
  lines: LogRow[]
  /** The number of the last line ever written. If there are fewer than `limit` lines, the answer has all that match up to it. */
  last: number
  /** How many lines were dropped for newer ones. */
  shed: number
  /** The last line of the workflow's code: its run, and its number there. */
  said: { run: number; n: number }
}
