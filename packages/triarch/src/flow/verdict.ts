import { isTriarchError } from '../error/error.ts'
import { isProgrammingError } from '../error/step-error.ts'
import type { Outcome } from '../kernel/message.ts'
import type { Loss, Operation } from '../kernel/step/step.ts'
import { atOnce } from '../value/answer.ts'

/** What ended an attempt from outside: it says nothing about the service. */
const CUT_OFF = ['STEP_CANCELLED', 'STEP_LOST', 'NODE_STOPPED', 'NODE_FENCED'] as const
/** The service answered; what it answered cannot be used. */
const UNFIT = ['INVALID_INPUT', 'INVALID_OUTPUT', 'UNSERIALISABLE', 'PAYLOAD_TOO_LARGE', 'TOO_MANY_SECRETS'] as const

/** Whether it says that the service is ill; null: it says nothing about it. */
export function verdict(outcome: Outcome): boolean | null {
  if (outcome.kind === 'withdrawn') return null
  if (outcome.kind !== 'failed') return false
  const { error, lost, done, retryable, unknown } = outcome
  const is = (codes: readonly string[]) => error.code !== undefined && codes.includes(error.code)
  if (lost || is(CUT_OFF)) return null
  return !(done || is(UNFIT) || (!retryable && !unknown))
}

/** Whether an attempt was told to stop before it had an answer. */
export function isCutOff(reason: unknown): boolean {
  return reason !== undefined && CUT_OFF.some((code) => isTriarchError(reason, code))
}

/** What cut an attempt off, if its node did: whatever the code then says is said because of that. */
export function lossBy(reason: unknown): Loss | undefined {
  if (isTriarchError(reason, 'NODE_STOPPED')) return 'stop'
  return isTriarchError(reason, 'NODE_FENCED') || isTriarchError(reason, 'STEP_LOST') ? 'alive' : undefined
}

/** For how long the service asked to be left alone (ms); 0: it did not. */
export function retryAfterOfOutcome(outcome: Outcome): number {
  return outcome.kind === 'failed' ? (outcome.retryAfter ?? 0) : 0
}

/** Codes of an attempt that did its work, and gave what cannot be recorded. */
export const unrecordableCodes = ['INVALID_OUTPUT', 'UNSERIALISABLE', 'PAYLOAD_TOO_LARGE', 'TOO_MANY_SECRETS'] as const

/** Codes of what another attempt would meet as well. */
export const refusedCodes = ['INVALID_INPUT', 'BATCH_PAGE_INVALID'] as const

type Predicate = (error: unknown) => boolean

/** What the action's own predicate says; one that throws, promises or gives no boolean has no opinion. */
export function mayRetry(
  { retryIf, undoRetryIf = retryIf }: { retryIf?: Predicate | undefined; undoRetryIf?: Predicate | undefined },
  operation: Operation,
  error: unknown,
): boolean {
  try {
    const opinion = atOnce((operation === 'run' ? retryIf : undoRetryIf)?.(error))
    if (typeof opinion === 'boolean') return opinion
  } catch {
    // It has none.
  }
  return !isProgrammingError(error)
}
