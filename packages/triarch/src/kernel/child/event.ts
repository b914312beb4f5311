import type { ErrorRecord, Json } from '../json.ts'
import type { TaskOutcome } from '../status.ts'
import type { ParentPolicy } from '../task/order.ts'

export type ChildDecision = {
  type: 'childStarted'
  id: number
  task: string
  workflow: string
  version: string
  /** `call` waits for the child's end, `start` only for its creation. */
  mode: 'call' | 'start'
  onCancel: ParentPolicy
  /** Compensate the child when the parent compensates. */
  undo: boolean
  /** The task may have started the child before, so the child is asked and answers itself. */
  asked?: true
}

export type ChildFact =
  /** `secretTexts`: texts in the output that are secret in the child. */
  | {
      type: 'childStopped'
      id: number
      result: TaskOutcome
      output?: Json
      error?: ErrorRecord
      secretTexts?: string[]
    }
  /** A child that an earlier run of the task started. Ordinals are negative: before this run. */
  | {
      type: 'childCarried'
      id: number
      task: string
      workflow: string
      mode: 'call' | 'start'
      onCancel: ParentPolicy
      undo: boolean
      /** The child has succeeded. */
      ended: boolean
      requestedAt: number
      completedAt: number
    }
