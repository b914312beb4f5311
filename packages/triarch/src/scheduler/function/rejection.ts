import { fromRecord } from '../../error/record.ts'
import { ChildFailedError, SignalTimeoutError, StepFailedError } from '../../error/task-error.ts'
import type { Delivery } from '../../kernel/state.ts'

/** The error with which the code's promise is rejected. */
export function rejection(delivery: Extract<Delivery, { ok: false }>): Error {
  switch (delivery.reason) {
    case 'step': {
      const { id, action, name, attempts, policy } = delivery.step
      return new StepFailedError({
        id,
        action: action ?? name,
        attempts: attempts.run,
        rescue: policy.rescue,
        error: delivery.error,
      })
    }
    case 'timeout':
      return new SignalTimeoutError(delivery.name)
    case 'lock':
      return fromRecord(delivery.error)
    case 'child':
      return new ChildFailedError(delivery.task, delivery.result, delivery.error)
  }
}
