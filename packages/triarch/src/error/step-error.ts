import { isTriarchError } from './error.ts'

/** Registered globally, so that errors are recognised across two copies of the package. */
const brand: unique symbol = Symbol.for('triarch.step-error') as never

/** How the engine is to treat an error of an action. */
export type StepErrorKind = 'transient' | 'permanent' | 'unknown-outcome'

/** The cause of the error, and how long to wait. */
export interface TransientErrorOptions {
  /** The error behind it. */
  cause?: unknown
  /** Start no attempt at the service for this long (ms), 30 days at most. Anything but a finite number ≥ 0 is ignored. */
  retryAfter?: number
}

function mark(prototype: Error, name: string, kind: StepErrorKind): void {
  Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true })
  Object.defineProperty(prototype, brand, { value: kind })
}

function causeOf(options: { cause?: unknown } | undefined): ErrorOptions | undefined {
  return options !== undefined && 'cause' in options ? { cause: options.cause } : undefined
}

/**
 * Thrown by an action: a later attempt may succeed. Other errors are treated the same, except programming errors.
 * @example throw new TransientError('the bank is busy', { retryAfter: 5_000 })
 */
export class TransientError extends Error {
  static {
    mark(TransientError.prototype, 'TransientError', 'transient')
  }

  /** Shortest wait before the next attempt (ms). */
  declare readonly retryAfter?: number

  constructor(message: string, options?: TransientErrorOptions) {
    super(message, causeOf(options))
    const wait = checkedWait(options?.retryAfter)
    if (wait !== undefined) this.retryAfter = wait
  }
}

/**
 * Thrown by an action: another attempt would be useless, so the rescue strategy applies at once.
 * @example throw new PermanentError('the account is closed')
 */
export class PermanentError extends Error {
  static {
    mark(PermanentError.prototype, 'PermanentError', 'permanent')
  }

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, causeOf(options))
  }
}

/**
 * Thrown by an action: the attempt may have taken effect all the same, so it is verified before another one.
 * @example throw new UnknownOutcomeError('the connection broke before the answer came')
 */
export class UnknownOutcomeError extends TransientError {
  static {
    mark(UnknownOutcomeError.prototype, 'UnknownOutcomeError', 'unknown-outcome')
  }
}

/** The kind of an error an action threw; undefined for any other error. Never throws. */
export function stepErrorKind(error: unknown): StepErrorKind | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  try {
    return (error as { [brand]?: StepErrorKind })[brand]
  } catch {
    return undefined
  }
}

/** The wait (ms) that a transient error requests; undefined: none. Never throws. */
export function retryAfterOf(error: unknown): number | undefined {
  const kind = stepErrorKind(error)
  if (kind === undefined || kind === 'permanent') return undefined
  try {
    return checkedWait((error as TransientError).retryAfter)
  } catch {
    return undefined
  }
}

/** Longest wait that can be requested (ms); a monthly quota ends within it. */
const LONGEST_WAIT = 30 * 86_400_000

/** The requested wait (ms), 30 days at most; undefined: it is not a finite number ≥ 0. */
export function checkedWait(ms: unknown): number | undefined {
  return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0 ? Math.min(ms, LONGEST_WAIT) : undefined
}

/** By name, because errors of another realm or thread are not instances of the classes here. */
const programmingErrors = ['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'AssertionError']
/** Codes of errors that mean an action called Triarch wrongly. */
const misuses = [
  ...(['STEP_MISUSE', 'MIDDLEWARE_MISUSE'] as const),
  ...(['UNKNOWN_OPTION', 'INVALID_OPTION', 'INVALID_DURATION', 'INVALID_NAME'] as const),
]
/** Messages of `fetch` about a failing network that come without a cause: of browsers, Deno, Bun and Node. */
const networkFailure = /\bfetch\b|network|load failed|terminated|sending request|socket|connection/i

/**
 * Whether the error shows a fault in the code, which would recur in each attempt. A TypeError of `fetch` with a cause reports the network,
 * and a SyntaxError of JSON reports a service's answer; these may pass. Never throws.
 */
export function isProgrammingError(error: unknown): boolean {
  try {
    if (isTriarchError(error)) return misuses.some((code) => isTriarchError(error, code))
    if (typeof error !== 'object' || error === null || stepErrorKind(error) !== undefined) return false
    const { name, message, cause } = error as { name?: unknown; message?: unknown; cause?: unknown }
    if (typeof name !== 'string' || !programmingErrors.includes(name)) return false
    if (name === 'TypeError') return cause === undefined && !networkFailure.test(String(message))
    return name !== 'SyntaxError' || !/\bJSON\b/.test(String(message))
  } catch {
    return false
  }
}
