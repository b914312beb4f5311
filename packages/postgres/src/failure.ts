import { isTriarchError, TriarchError } from 'triarch'

/**
 * What to do about an error. `again`: the transaction was undone, the same call may be sent again. `reconnect`: the
 * connection is lost or useless, and with it perhaps the answer; the call is sent again on a new one, under its number.
 * `fail`: it would fail again.
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
  /** Ours, when patience is at its end. */
  code: Code
}

/** By SQLSTATE: the whole of it, or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
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
/** What was prepared has an answer of other columns by now, as after a migration: on this connection it fails for ever. */
const outdated: Rule = { verdict: 'reconnect', code: 'STORE_FAILED' }
/** The server assigns no numbers of transactions until it was vacuumed: of a class with statements that are too large. */
const exhausted: Rule = { verdict: 'fail', code: 'STORE_FULL' }
const otherwise: Rule = { verdict: 'fail', code: 'STORE_FAILED' }

/** What Node's sockets say when there is no server, or no longer. */
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
 * No connection could be made, to a server that this process has been connected to. Whatever the reason, as a password that is being
 * changed or a database that lets nobody in for a while, it says nothing of the call, which was not sent.
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
  // Of a class with all that PostgreSQL cannot do; its message is in the server's language, the place in its source is not.
  if (code === '0A000' && routine === 'RevalidateCachedQuery') return outdated
  if (code === '54000' && (routine === 'GetNewTransactionId' || routine === 'GetNewMultiXactId')) return exhausted
  if (sockets.has(code) || (error instanceof AggregateError && error.errors.some((it) => sockets.has(it?.code)))) {
    return { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }
  }
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return rules[code] ?? rules[code.slice(0, 2)] ?? otherwise
  // pg gives no code for a connection that ended under it.
  if (
    message !== undefined &&
    /connection (?:terminated|ended|is closed)|not queryable|timeout (?:expired|exceeded)/i.test(message)
  ) {
    return { verdict: 'reconnect', code: 'STORE_UNAVAILABLE' }
  }
  return otherwise
}

/** What query builders make of an error is not that deep. */
const DEEPEST_CAUSE = 10

/** An error and its causes. It may be anybody's: one that is a cause of itself, even. */
export function* causesOf(error: unknown): Generator<Error> {
  let it = error
  for (let depth = 0; it instanceof Error && depth <= DEEPEST_CAUSE; depth++) {
    yield it
    it = it.cause
  }
}

/** The SQLSTATE of a server's error, also behind what a query builder made of it. */
export function sqlStateOf(error: unknown): string | undefined {
  for (const it of causesOf(error)) {
    const { code } = it as { code?: unknown }
    if (typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}

/** PostgreSQL's errors as ours. */
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

/** A call that waits for a moment only has met rows that somebody holds: nothing was written. Other errors stay what they are. */
export function blocked(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: string }
  if (code !== BLOCKED) return error
  const text = `somebody holds what this needs: ${message}`
  return new TriarchError('STORE_BUSY', text, { cause: error, details: { postgres: code, blocked: true } })
}

export function isBlocked(error: unknown): boolean {
  return isTriarchError(error, 'STORE_BUSY') && (error.details as { blocked?: unknown } | undefined)?.blocked === true
}

/** What a user asked for took longer than a read may: tried again, it would as well. Other errors stay what they are. */
export function tooCostly(error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (code !== '57014') return error
  const text = 'the store would have to look at too much for this: narrow it by status, result, tags or parent'
  return new TriarchError('READ_TOO_COSTLY', text, { cause: error, details: { postgres: code } })
}

/** With these the server refuses what it was asked: it did nothing. */
const REFUSED: ReadonlySet<unknown> = new Set(['25006', '26000', '0A000', '53300'])

/** Of a call whose connection is of no more use: whether it may have taken effect, though its answer was lost. */
export function mayBeDone(error: unknown): boolean {
  return !REFUSED.has((error as { code?: unknown }).code)
}

/** A call was sent, lost its connection, and was not answered on another. That the store is closed stays what it is. */
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
