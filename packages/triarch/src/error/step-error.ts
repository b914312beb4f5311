import { isTriarchError } from './error.ts'

/** Registered globally, so that errors are recognised across two copies of the package. */
const brand: unique symbol = Symbol.for('triarch.step-error') as never

/** How an action's error wants to be treated. */
export type StepErrorKind = 'transient' | 'permanent' | 'unknown-outcome'

/** What caused it, and how long to wait. */
export interface TransientErrorOptions {
  /** The error behind it. */
  cause?: unknown
  /** Leave the service alone for this long (ms), 30 days at most. What is no finite number ≥ 0 counts as not given. */
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
 * Thrown by an action: it may well succeed later. Other errors are treated alike, but for programming errors.
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
 * Thrown by an action: trying again is useless, so the rescue strategy decides at once.
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
 * Thrown by an action: the attempt may have taken effect all the same, so verification comes before another one.
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

/** The wait (ms) that a transient error asks for; undefined when it asks for none. Never throws. */
export function retryAfterOf(error: unknown): number | undefined {
  const kind = stepErrorKind(error)
  if (kind === undefined || kind === 'permanent') return undefined
  try {
    return checkedWait((error as TransientError).retryAfter)
  } catch {
    return undefined
  }
}

/** Longest wait (ms) that anybody may ask for: a quota by the month ends within it. */
const LONGEST_WAIT = 30 * 86_400_000

/** The wait that was asked for (ms), 30 days at most; undefined: what is no finite number ≥ 0 asks for none. */
export function checkedWait(ms: unknown): number | undefined {
  return typeof ms === 'number' && Number.isFinite(ms) && ms >= 0 ? Math.min(ms, LONGEST_WAIT) : undefined
}

/** By name: those of another realm, and of a thread, are no instances of the classes here. */
const programmingErrors = ['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'AssertionError']
/** An action has called Triarch itself wrongly. */
const misuses = [
  ...(['STEP_MISUSE', 'MIDDLEWARE_MISUSE'] as const),
  ...(['UNKNOWN_OPTION', 'INVALID_OPTION', 'INVALID_DURATION', 'INVALID_NAME'] as const),
]
/** What `fetch` says of a network that fails, where it gives no cause: of browsers, Deno, Bun and Node. */
const networkFailure = /\bfetch\b|network|load failed|terminated|sending request|socket|connection/i

/**
 * Whether the error says that the code is wrong: it is wrong the next time, too. A TypeError of `fetch`, which has a cause, tells of
 * the network, and a SyntaxError of JSON tells of what a service answered: those may pass. Never throws.
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
