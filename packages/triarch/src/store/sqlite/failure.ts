import type { ErrorCode } from '../../error/catalogue.ts'
import { TriarchError } from '../../error/error.ts'
import type { Json } from '../../kernel/json.ts'

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_NOMEM = 7
const SQLITE_READONLY = 8
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
const SQLITE_NOTADB = 26

/**
 * Extended codes of SQLITE_IOERR for failed writes: of the file or its log, a flush, a new size, the shared memory.
 * SQLite returns SQLITE_FULL only for ENOSPC, and these codes for a quota or a limit of the process. They do not say
 * whether something was written.
 */
const UNWRITTEN: ReadonlySet<number> = new Set([3, 4, 5, 6, 12, 18, 19, 21].map((extended) => 10 | (extended << 8)))

/** Converts errors of SQLite to store errors; others, programming errors among them, are returned unchanged. */
export function storeError(error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: number; message?: string }
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return error
  const primary = errcode & 0xff
  const text = message ?? 'unknown error'
  if ([SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].includes(primary)) {
    return new TriarchError('STORE_BUSY', `another connection holds the store: ${text}`, { cause: error })
  }
  const details = { sqlite: errcode }
  if (primary === SQLITE_READONLY) return new TriarchError('STORE_READ_ONLY', text, { cause: error, details })
  if (primary === SQLITE_FULL || primary === SQLITE_NOMEM || UNWRITTEN.has(errcode))
    return new TriarchError('STORE_FULL', text, { cause: error, details })
  return new TriarchError('STORE_FAILED', text, { cause: error, details })
}

/** Adds the path to errors of opening a file, because SQLite does not name the file. */
export function fileError(path: string, error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: number; message?: string }
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return error
  if (![SQLITE_CANTOPEN, SQLITE_NOTADB].includes(errcode & 0xff)) return error
  const details = { sqlite: errcode, path }
  return new TriarchError('STORE_FAILED', `the file "${path}" cannot be opened: ${message}`, { cause: error, details })
}

export function unopened(): TriarchError {
  return new TriarchError('STORE_CLOSED', 'the store is not open')
}

/** An error in the form in which the worker thread sends it. */
export interface SentError {
  code: ErrorCode | null
  message: string
  details: Json | undefined
  cause: unknown
}

export function send(error: unknown): SentError {
  const known = storeError(error)
  if (known instanceof TriarchError) {
    const { code, message, details, cause } = known
    return { code, message, details, cause: cause instanceof Error ? cause.message : cause }
  }
  const { message } = error as Error
  return { code: null, message, details: undefined, cause: undefined }
}

export function receive({ code, message, details, cause }: SentError): Error {
  if (code === null) return new Error(message)
  return new TriarchError(code, message, {
    ...(cause !== undefined && { cause }),
    ...(details !== undefined && { details }),
  })
}
