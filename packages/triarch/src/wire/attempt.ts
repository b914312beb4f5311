import type { HostedAttempt } from '../agent/host.ts'
import type { RemoteAttempt } from './message.ts'

/** Converts an attempt from the wire into a step request. */
export function requestFromWire(given: RemoteAttempt): HostedAttempt['request'] {
  const { task, step, operation, number: attempt, name, action, workflow, version, idempotencyKey, input } = given
  const { output, checkpoint, signal, metadata, run, fence } = given
  return {
    ...{ task, step, operation, attempt, name, action, workflow, version, idempotencyKey, input },
    ...(output !== undefined && { output }),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(signal && { event: signal }),
    ...(metadata && { metadata }),
    ...(run !== undefined && { run }),
    ...(fence !== undefined && { fence }),
  }
}
