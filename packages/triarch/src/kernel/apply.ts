import { batchFolds } from './batch/fold.ts'
import { childFolds } from './child/fold.ts'
import type { TaskEvent } from './event.ts'
import type { Fold, Folds } from './fold.ts'
import { lockFolds } from './lock/fold.ts'
import { planFolds } from './plan/fold.ts'
import { bringsSecrets, Redaction } from './redaction.ts'
import type { Delivery, TaskState } from './state.ts'
import { stepFolds } from './step/fold.ts'
import { suspensionFolds } from './suspension/fold.ts'
import { taskFolds } from './task/fold.ts'
import { waitFolds } from './wait/fold.ts'

/** The fold of each event type. */
const folds: Folds<TaskEvent> = {
  ...taskFolds,
  ...planFolds,
  ...stepFolds,
  ...suspensionFolds,
  ...waitFolds,
  ...childFolds,
  ...batchFolds,
  ...lockFolds,
}

/** Whether this version knows the event's type. An event of an unknown type changes nothing. */
export function isKnown({ type }: TaskEvent): boolean {
  return Object.hasOwn(folds, type)
}

/**
 * The fold: applies one event of the history to the state. Live turns and replay use this one function, which is why they cannot
 * disagree.
 */
export function apply(state: TaskState, event: TaskEvent, at: number, deliveries: Delivery[]): void {
  state.ordinal++
  const fold = folds[event.type] as Fold<TaskEvent> | undefined
  fold?.(state, event, at, deliveries)
  if (state.secrets === null && !bringsSecrets(event)) return
  if (event.type === 'continuedAsNew') state.secrets = state.secrets?.continued() ?? null
  state.secrets ??= new Redaction()
  state.secrets.add(event)
}
