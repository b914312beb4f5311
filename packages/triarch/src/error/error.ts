import type { Json } from '../kernel/json.ts'
import type { ErrorCode } from './catalogue.ts'

/** Registered globally, so that errors are recognised across two copies of the package. */
const brand: unique symbol = Symbol.for('triarch.error') as never

/** Properties of an error besides its code and message. */
export interface TriarchErrorOptions {
  /** The error behind it. */
  cause?: unknown
  /** Data for programs, in addition to the message. */
  details?: Json
}

/**
 * Every error that Triarch itself raises. `code` is stable; the message is for people and may change.
 * @example
 * const error = await triarch.tasks.get('o-1').explain().catch((error: unknown) => error)
 * if (error instanceof TriarchError && error.code === 'UNKNOWN_TASK') console.log('no such task')
 */
export class TriarchError extends Error {
  static {
    Object.defineProperty(TriarchError.prototype, 'name', { value: 'TriarchError', configurable: true, writable: true })
    Object.defineProperty(TriarchError.prototype, brand, { value: true })
  }

  /** The error code: stable, for programs. */
  readonly code: ErrorCode
  /** Data for programs, in addition to the message. */
  declare readonly details?: Json

  constructor(code: ErrorCode, message: string, options?: TriarchErrorOptions) {
    super(message, options !== undefined && 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    if (options?.details !== undefined) this.details = options.details
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * True for a TriarchError (of this code, if given), also one made by another copy of the package. Never throws.
 * @example
 * const error = await task.result().catch((error: unknown) => error)
 * if (isTriarchError(error, 'TASK_CANCELLED')) console.log(error.details)
 */
export function isTriarchError(error: unknown, code?: ErrorCode): error is TriarchError {
  if (typeof error !== 'object' || error === null) return false
  try {
    const found = error as { [brand]?: unknown; code?: unknown }
    return found[brand] === true && (code === undefined || found.code === code)
  } catch {
    return false
  }
}
