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
 * Thrown by an action: it may well succeed later. Errors of unknown kinds are treated alike.
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

/** The kind of an error an action threw; undefined for any other error, which counts as transient. Never throws. */
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
