import { isTriarchError, TriarchError } from 'triarch'

/**
 * How to handle an error. `again`: the transaction was rolled back, and the same call may be sent again. `reconnect`:
 * the connection is lost or useless, and possibly the answer with it; the call is sent again on a new one, under its
 * number. `fail`: it would fail again.
 */
export type Verdict = 'again' | 'reconnect' | 'fail'

type Code =
  | 'STORE_BUSY'
  | 'STORE_UNAVAILABLE'
  | 'STORE_READ_ONLY'
  | 'STORE_FULL'
  | 'STORE_FAILED'
  | 'STORE_SCHEMA_NEWER'

interface Rule {
  verdict: Verdict
  /** The code of the store's error when the patience is over. */
  code: Code
}

/** Rules by SQLSTATE or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const rules: Readonly<Record<string, Rule>> = {
  '40001': { verdict: 'again', code: 'STORE_BUSY' }, // serialization failure
  '40P01': { verdict: 'again', code: 'STORE_BUSY' }, // deadlock
  '55P03': { verdict: 'again', code: 'STORE_BUSY' }, // lock timeout
  '57014': { verdict: 'again', code: 'STORE_BUSY' }, // statement timeout
  '08': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // connection lost
  '57P01': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // the server is shut down, or this connection ended
  '57P02': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // another server process crashed
  '57P03': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // the server is starting up
  '57P05': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // idle session timeout
  '25P03': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // idle in transaction timeout
  '25P04': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // transaction timeout
  '53300': { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }, // too many connections
  '25006': { verdict: 'reconnect', code: 'STORE_READ_ONLY' }, // a standby: after a failover the address may lead elsewhere
  '26000': { verdict: 'reconnect', code: 'STORE_FAILED' }, // prepared statement gone: a pooler gave us another session
  '53100': { verdict: 'fail', code: 'STORE_FULL' }, // disk full
  '53200': { verdict: 'fail', code: 'STORE_FULL' }, // out of memory
  '53400': { verdict: 'fail', code: 'STORE_FULL' }, // a configured limit
  '54': { verdict: 'fail', code: 'STORE_FAILED' }, // a limit of PostgreSQL itself
  '58': { verdict: 'fail', code: 'STORE_FULL' }, // I/O error
}
/** The columns of a prepared statement's answer have changed, as after a migration: on this connection it always fails. */
const outdated: Rule = { verdict: 'reconnect', code: 'STORE_FAILED' }
/** The server assigns no transaction ids until it is vacuumed; the SQLSTATE is of the class of statements that are too large. */
const exhausted: Rule = { verdict: 'fail', code: 'STORE_FULL' }
const otherwise: Rule = { verdict: 'fail', code: 'STORE_FAILED' }

/** Error codes of Node's sockets when the server cannot be reached. */
const sockets: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'EPROTO', // TLS
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a Unix socket that is not there
])

/**
 * No connection could be made to a server to which this process was connected before. Whatever the reason, such as a
 * password that is being changed or a database that refuses connections for a while, it is unrelated to the call, which
 * was not sent.
 */
export class Unreachable extends Error {
  readonly code: unknown

  constructor(cause: unknown) {
    super(textOf(cause), { cause })
    this.code = (cause as { code?: unknown }).code
  }
}

const unreachable: Rule = { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }

export function ruleOf(error: unknown): Rule {
  if (error instanceof Unreachable) return unreachable
  const { code, message, routine } = error as { code?: unknown; message?: string; routine?: unknown }
  // The SQLSTATE covers everything that PostgreSQL does not support. The message is in the server's language; the name
  // of the routine is not translated.
  if (code === '0A000' && routine === 'RevalidateCachedQuery') return outdated
  if (code === '54000' && (routine === 'GetNewTransactionId' || routine === 'GetNewMultiXactId')) return exhausted
  if (sockets.has(code) || (error instanceof AggregateError && error.errors.some((it) => sockets.has(it?.code)))) {
    return { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }
  }
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return rules[code] ?? rules[code.slice(0, 2)] ?? otherwise
  // pg gives no code for a connection that ended during a query.
  if (
    message !== undefined &&
    /connection (?:terminated|ended|is closed)|not queryable|timeout (?:expired|exceeded)/i.test(message)
  ) {
    return { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }
  }
  return otherwise
}

/** Most causes that are followed; query builders do not nest errors deeper. */
const DEEPEST_CAUSE = 10

/** Yields an error and its causes. The number is bounded because an error may be a cause of itself. */
export function* causesOf(error: unknown): Generator<Error> {
  let it = error
  for (let depth = 0; it instanceof Error && depth <= DEEPEST_CAUSE; depth++) {
    yield it
    it = it.cause
  }
}

/** Returns the SQLSTATE of a server's error, also if a query builder wrapped it. */
export function sqlStateOf(error: unknown): string | undefined {
  for (const it of causesOf(error)) {
    const { code } = it as { code?: unknown }
    if (typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}

/** Converts errors of PostgreSQL to store errors. */
export function storeError(error: unknown): unknown {
  if (isTriarchError(error)) return error
  const { code } = error as { code?: unknown }
  const text = textOf(error)
  const details = typeof code === 'string' ? { postgres: code } : undefined
  return new TriarchError(ruleOf(error).code, text, { cause: error, ...(details && { details }) })
}

function textOf(error: unknown): string {
  const { message } = error as { message?: string }
  return message || (error instanceof AggregateError ? error.errors.map(String).join('; ') : String(error))
}

/** SQLSTATE lock_not_available. */
const BLOCKED = '55P03'

/**
 * Converts the error of a bounded call that waited for rows which another transaction holds: nothing was written. Other
 * errors are returned unchanged.
 */
export function blocked(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: string }
  if (code !== BLOCKED) return error
  const text = `somebody holds what this needs: ${message}`
  return new TriarchError('STORE_BUSY', text, { cause: error, details: { postgres: code, blocked: true } })
}

export function isBlocked(error: unknown): boolean {
  return isTriarchError(error, 'STORE_BUSY') && (error.details as { blocked?: unknown } | undefined)?.blocked === true
}

/** Converts the error of a user's read that took too long, and would again. Other errors are returned unchanged. */
export function tooCostly(error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (code !== '57014') return error
  const text = 'the store would have to look at too much for this: narrow it by status, result, tags or parent'
  return new TriarchError('READ_TOO_COSTLY', text, { cause: error, details: { postgres: code } })
}

/** With these errors the server refused the statement and did nothing. */
const REFUSED: ReadonlySet<unknown> = new Set(['25006', '26000', '0A000', '53300'])

/** Whether a call whose connection is lost or useless may have taken effect. */
export function mayBeDone(error: unknown): boolean {
  return !REFUSED.has((error as { code?: unknown }).code)
}

/**
 * Converts the error of a call that was sent, lost its connection, and was not answered on another. STORE_CLOSED is
 * returned unchanged.
 */
export function unanswered(error: unknown): unknown {
  if (isTriarchError(error, 'STORE_CLOSED')) return error
  const { message } = error as Error
  return new TriarchError('STORE_UNANSWERED', `the connection was lost before the answer came: ${message}`, {
    cause: error,
  })
}

export function unopened(): TriarchError {
  return new TriarchError('STORE_CLOSED', 'the store is not open')
}
