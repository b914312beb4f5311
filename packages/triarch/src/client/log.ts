import { delay } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { SecretTexts } from '../kernel/secret.ts'
import { type LogLevel, logLevels, rankOf } from '../value/level.ts'
import { checkInteger, checkOptions, HIGHEST_NUMBER } from '../value/options.ts'
import { type LogLine, logLine } from '../view/log.ts'
import type { Connection } from './connection.ts'
import { LOG_POLL_MS } from './log-watch.ts'

/**
 * Which lines of a task's log to read.
 * @example const { lines } = await task.logs({ step: 2, level: 'warn' })
 */
export interface LogOptions {
  /** Lines of this step; 0: lines of the workflow's own code; all by default. */
  step?: number
  /** Lines of attempts with this number; all by default. */
  attempt?: number
  /** Lines of at least this level: 'debug', 'info', 'warn' or 'error'; all by default. */
  level?: LogLevel
  /** Lines after the one with this `seq`; by default from the oldest kept. */
  after?: number
  /** Most lines of one page, 1 to 1,000; 100 by default. */
  limit?: number
}

/**
 * A page of a task's log, oldest line first.
 * @example
 * const page = await task.logs()
 * const rest = page.next === undefined ? null : await task.logs({ after: page.next })
 */
export interface LogPage {
  /** The lines of this page. */
  lines: LogLine[]
  /** For `after`: there may be more lines now. Absent if there are none yet. */
  next?: number
  /** For `after`, whether there are more now or not: all lines up to this one were inspected. */
  last: number
  /** Lines that were deleted to make room for others: a log holds the latest 10,000, within 4 MiB. */
  shed: number
}

const MOST_LINES = 1_000
/** Nodes write lines a second after they were logged; this long after the task's end all are written (ms). */
const LAST_LINES = 2_000

const keys = ['step', 'attempt', 'level', 'after', 'limit'] as const

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
function checked(what: string, options: LogOptions) {
  const { step = null, attempt = null, level = 'debug', after = 0, limit = 100 } = options
  if (step !== null) checkInteger(`${what}: step`, step, 0, HIGHEST_NUMBER)
  if (attempt !== null) checkInteger(`${what}: attempt`, attempt, 1, HIGHEST_NUMBER)
  if (!logLevels.includes(level))
    throw new TriarchError('INVALID_OPTION', `${what}: level must be one of ${logLevels.join(', ')}`)
  checkInteger(`${what}: after`, after, 0, Number.MAX_SAFE_INTEGER)
  checkInteger(`${what}: limit`, limit, 1, MOST_LINES)
  return { step, attempt, level: rankOf(level), after, limit }
}

/** A page of a task's log. Throws UNKNOWN_TASK, UNKNOWN_OPTION, INVALID_OPTION, STORE_*. */
export async function readLogs(connection: Connection, task: string, options: LogOptions): Promise<LogPage> {
  checkOptions('logs', options, keys)
  const query = checked('logs', options)
  await connection.row(task)
  return pageOf(connection, task, query)
}

async function pageOf(connection: Connection, task: string, query: ReturnType<typeof checked>): Promise<LogPage> {
  await connection.said()
  const { lines, last, shed } = await connection.store.logs({ task, ...query })
  const secrets = lines.length > 0 ? await textsOf(connection, task) : null
  const full = lines.length === query.limit
  const seen = full ? (lines.at(-1)?.seq ?? last) : Math.max(last, query.after)
  return { lines: lines.map((line) => logLine(line, secrets)), ...(full && { next: seen }), last: seen, shed }
}

/** The texts that are secret in the task; null: not known. */
async function textsOf(connection: Connection, task: string): Promise<SecretTexts | null> {
  const { redaction, broken } = await connection.veils.of(await connection.row(task))
  return broken ? null : redaction.texts
}

/**
 * Yields lines as they are written, until the task has stopped and all lines were yielded. Rejects with the signal's reason; otherwise as
 * `readLogs`.
 */
export async function* followLogs(
  connection: Connection,
  task: string,
  { signal, ...options }: LogOptions & { signal?: AbortSignal },
): AsyncIterableIterator<LogLine> {
  checkOptions('watchLogs', options, keys)
  const query = checked('watchLogs', options)
  const { logWatch } = connection
  logWatch.enter(task)
  try {
    for (let endedAt: number | null = null; ; ) {
      signal?.throwIfAborted()
      const { at, isOver, last } = await logWatch.look(task)
      for (let more = last > query.after; more; ) {
        signal?.throwIfAborted()
        const page = await pageOf(connection, task, query)
        query.after = page.last
        yield* page.lines
        more = page.next !== undefined
      }
      if (!isOver) endedAt = null
      else if (endedAt === null) endedAt = at
      else if (at - endedAt >= LAST_LINES) return
      await delay(connection.environment, LOG_POLL_MS, signal)
    }
  } finally {
    logWatch.leave(task)
  }
}
