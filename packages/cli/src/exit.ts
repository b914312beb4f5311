import { CommanderError } from 'commander'
import { type ErrorCode, errorCatalogue, isTriarchError, type TriarchError } from 'triarch'

/**
 * What the command ends with: stable, for scripts. docs/concepts/cli.md says when.
 * @example const { conflict } = exitCodes
 */
export const exitCodes = {
  /** All went well. */
  ok: 0,
  /** The task failed, something was found that is not as it should be, or something went wrong that has no code of its own. */
  failed: 1,
  /** The command was not understood, or what it was given is no such thing. */
  usage: 2,
  /** Whoever asks may not. */
  forbidden: 3,
  /** There is no such task, schedule, workflow or store. */
  absent: 4,
  /** The state of what was asked for does not allow it. */
  conflict: 5,
  /** The store or server cannot be reached, or does not answer. */
  unavailable: 6,
  /** The time given by `--timeout` is over. */
  timeout: 124,
} as const

/**
 * One of the exit codes.
 * @example const ended: ExitCode = exitCodes.ok
 */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Something that ends the command: what is said, and with which code. */
export class Failure extends Error {
  readonly exit: ExitCode
  readonly code: string

  constructor(exit: ExitCode, code: string, message: string) {
    super(message)
    this.exit = exit
    this.code = code
  }
}

/** What was typed cannot be meant. */
export function usage(message: string): Failure {
  return new Failure(exitCodes.usage, 'USAGE', message)
}

const kinds: { readonly [C in ErrorCode]?: ExitCode } = {
  INVALID_DURATION: exitCodes.usage,
  INVALID_NAME: exitCodes.usage,
  INVALID_OPTION: exitCodes.usage,
  INVALID_FILTER: exitCodes.usage,
  UNKNOWN_OPTION: exitCodes.usage,
  INVALID_INPUT: exitCodes.usage,
  UNKNOWN_SIGNAL: exitCodes.usage,
  UNSERIALISABLE: exitCodes.usage,
  PAYLOAD_TOO_LARGE: exitCodes.usage,
  INVALID_TOKEN: exitCodes.usage,
  UNKNOWN_KEY: exitCodes.absent,
  KEY_EXISTS: exitCodes.conflict,
  TOO_MANY_KEYS: exitCodes.conflict,
  UNKNOWN_TASK: exitCodes.absent,
  UNKNOWN_SCHEDULE: exitCodes.absent,
  UNKNOWN_BREAKER: exitCodes.absent,
  UNKNOWN_RECORD: exitCodes.absent,
  UNKNOWN_ALERT: exitCodes.absent,
  UNKNOWN_RATE_LIMIT: exitCodes.absent,
  UNKNOWN_SETTING: exitCodes.absent,
  INVALID_SETTING: exitCodes.usage,
  SETTING_CHANGED: exitCodes.conflict,
  SUBMISSIONS_PAUSED: exitCodes.conflict,
  QUEUE_FULL: exitCodes.conflict,
  UNKNOWN_WORKFLOW: exitCodes.absent,
  TOO_MANY_SECRETS: exitCodes.usage,
  TASK_EXISTS: exitCodes.conflict,
  REQUEST_DIFFERS: exitCodes.conflict,
  IMPORT_REFUSED: exitCodes.conflict,
  IMPORT_TOO_LARGE: exitCodes.usage,
  TASK_STOPPED: exitCodes.conflict,
  TASK_NOT_PAUSED: exitCodes.conflict,
  TASK_QUARANTINED: exitCodes.conflict,
  ILLEGAL_MOVE: exitCodes.conflict,
  LOCK_HELD: exitCodes.conflict,
  INBOX_FULL: exitCodes.conflict,
  TOKEN_SPENT: exitCodes.conflict,
  MORE_THAN_CONFIRMED: exitCodes.conflict,
  READ_TOO_COSTLY: exitCodes.conflict,
  WATCH_FULL: exitCodes.unavailable,
  STORE_BUSY: exitCodes.unavailable,
  STORE_UNAVAILABLE: exitCodes.unavailable,
  STORE_UNANSWERED: exitCodes.unavailable,
  STORE_CLOSED: exitCodes.unavailable,
  STORE_REPLACED: exitCodes.unavailable,
  STORE_FULL: exitCodes.unavailable,
  STORE_SCHEMA_OLD: exitCodes.unavailable,
  STORE_SCHEMA_NEWER: exitCodes.unavailable,
  STORE_READ_ONLY: exitCodes.unavailable,
  SERVER_UNREACHABLE: exitCodes.unavailable,
  SERVER_ANSWER_INVALID: exitCodes.unavailable,
  NODE_STOPPED: exitCodes.unavailable,
  WAIT_TIMEOUT: exitCodes.timeout,
}

/** How an error ends the command, and the one line that is said of it: its code, what is wrong, what to do. */
export function endOf(error: unknown): { exit: ExitCode; line: string | null } {
  if (error instanceof Failure) return { exit: error.exit, line: `${error.code}: ${error.message}` }
  // Commander has said what is wrong; asked for help or version, nothing is.
  if (error instanceof CommanderError)
    return { exit: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage, line: null }
  if (isTriarchError(error)) {
    const { code, message } = error
    const advice = Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code].replace(/^[^:]*: |\.$/g, '') : ''
    return {
      exit: refusedBy(error) ?? refusedByServer(error) ?? kinds[code] ?? exitCodes.failed,
      line: `${code}: ${message} (${advice})`,
    }
  }
  const { code, message } =
    error instanceof Error ? (error as NodeJS.ErrnoException) : { code: '', message: String(error) }
  return { exit: refusedBy(error) ?? exitCodes.failed, line: code ? `${code}: ${message}` : `FAILED: ${message}` }
}

/** Somebody's rights: of the file, or of the role in the database. */
function refusedBy(error: unknown): ExitCode | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === 'string' && /^(?:EACCES|EPERM|28\w{3}|42501)$/.test(code)) return exitCodes.forbidden
  }
  return null
}

/** What a server says before it asks its engine: who may not, what it has no word for, and what it cannot do now. */
function refusedByServer({ code, details }: TriarchError): ExitCode | null {
  if (code !== 'REQUEST_REFUSED') return null
  const { status } = (details ?? {}) as { status?: number }
  if (status === 401 || status === 403) return exitCodes.forbidden
  if (status === undefined || status >= 500) return exitCodes.unavailable
  return status === 409 ? exitCodes.conflict : exitCodes.usage
}
