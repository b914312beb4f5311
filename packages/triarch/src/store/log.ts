/** One line on its way into a task's log. */
export interface LogEntry {
  /** Its number among those of the one who says it: never written twice. Rising within a write. */
  n: number
  /** When it was said (ms since the epoch). */
  at: number
  /** How much it matters: its place among the levels. */
  level: number
  /** As JSON: what it says. */
  text: string
}

/** Lines of one who says something in a task: an attempt, or the workflow's code. */
export interface LogWrite {
  /** The id of the task. Where there is none, nothing is written. */
  task: string
  /** One run of an attempt's code, among all that there ever are; null: the workflow's code. */
  source: string | null
  /** The workflow's code: the number of the first decision of its run, which rises. Else 0. */
  run: number
  /** The step; 0: the workflow's code. */
  step: number
  /** What the attempt is for; the workflow's code has none. */
  operation: string | null
  /** Which attempt of the operation it is; the workflow's code has none. */
  attempt: number | null
  /** Where it was said. */
  node: string | null
  /** The lines, in their order. */
  entries: readonly LogEntry[]
}

/** What of a task's log is kept: beyond it the oldest go. */
export const LOG_KEPT: { lines: number; bytes: number } = { lines: 10_000, bytes: 4 * 1024 * 1024 }
/** What a line costs besides its text (bytes). */
export const LINE_COST = 100

/** A line as it is kept. */
export interface LogRow {
  /** Its number in the log of its task, rising. */
  seq: number
  /** When it was said (ms since the epoch). */
  at: number
  /** How much it matters: its place among the levels. */
  level: number
  /** The step; 0: the workflow's code. */
  step: number
  /** What the attempt is for; the workflow's code has none. */
  operation: string | null
  /** Which attempt of the operation it is; the workflow's code has none. */
  attempt: number | null
  /** Where it was said. */
  node: string | null
  /** As JSON: what it says. */
  text: string
}

/** Which lines of a task's log, in their order. */
export interface LogQuery {
  /** The id of the task. */
  task: string
  /** Those with a higher number. */
  after: number
  /** So many at most. */
  limit: number
  /** At least that level. */
  level: number
  /** Of this step; 0: of the workflow's code; null: all. */
  step: number | null
  /** Of attempts with this number; null: all. */
  attempt: number | null
}

/** What a log has. */
export interface StoredLog {
  /** The lines that fit. */
  lines: LogRow[]
  /** The number of the last line that there ever was. All up to it that fit are here, if there are less than `limit`. */
  last: number
  /** Lines that had to go for others. */
  shed: number
  /** The last line of the workflow's code: its run, and its number there. */
  said: { run: number; n: number }
}
