import type { SuspendOptions } from '../definition/step.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Outcome } from '../kernel/message.ts'
import { milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkLabel } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'

/** The value that `run` returns to suspend its step. */
export const SUSPENDED: never = Object.freeze({ suspended: true }) as never

/**
 * Whether the step is suspended. Calling `suspend` (typed as if it never returned) and returning nothing counts as returning its result.
 */
export function waits(output: unknown, step: object): boolean {
  return output === SUSPENDED || (output === undefined && 'suspended' in step && step.suspended === true)
}

/** Signal names that only the engine uses. */
export const ownSignals: readonly string[] = ['timeout', 'cancel']
const MOST_SIGNALS = 100

/** The outcome of a suspended attempt. Throws if it cannot be recorded, for example TOO_MANY_SECRETS. */
export function suspensionOf(options: SuspendOptions, limit: number, secrets: readonly string[]): Outcome {
  checkOptions('suspend', options, ['timeout', 'checkpoint', 'progress', 'signals', 'onCancel'])
  const { timeout, checkpoint, progress, signals = [], onCancel } = options
  if (signals.length > MOST_SIGNALS)
    throw new TriarchError('INVALID_OPTION', `suspend: at most ${MOST_SIGNALS} signals`)
  const alarms = signals.map((signal) => {
    const name = checkLabel('a signal', signal.name)
    if (ownSignals.includes(name)) throw new TriarchError('INVALID_NAME', `signal: "${name}" is the engine's own`)
    const payload = encode(signal.payload, `payload of signal "${name}"`, limit, secrets)
    return { in: milliseconds(signal.in, `suspend: signal "${name}"`), name, payload }
  })
  return {
    kind: 'suspended',
    ...(timeout !== undefined && { timeout: positiveMilliseconds(timeout, 'suspend: timeout') }),
    ...(alarms.length > 0 && { alarms }),
    ...suspensionReport({ progress, checkpoint }, limit, secrets),
    ...(onCancel && { wary: true as const }),
  }
}

/** What a heartbeat reports. Throws UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS. */
export function suspensionReport(
  { progress, checkpoint }: { progress?: unknown; checkpoint?: unknown },
  limit: number,
  secrets: readonly string[],
): { progress?: Json; checkpoint?: Json } {
  return {
    ...(checkpoint !== undefined && { checkpoint: encode(checkpoint, 'checkpoint', limit, secrets) }),
    ...(progress !== undefined && { progress: encode(progress, 'progress', limit, secrets) }),
  }
}
