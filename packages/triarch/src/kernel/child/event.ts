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
  /** The task may have started it before: it is asked, and answers itself. */
  asked?: true
}

export type ChildFact =
  /** `secretTexts`: texts in the output that are secret where it comes from. */
  | {
      type: 'childStopped'
      id: number
      result: TaskOutcome
      output?: Json
      error?: ErrorRecord
      secretTexts?: string[]
    }
  /** An earlier run of the task started it. Ordinals are negative: before this run. */
  | {
      type: 'childCarried'
      id: number
      task: string
      workflow: string
      mode: 'call' | 'start'
      onCancel: ParentPolicy
      undo: boolean
      /** It has ended well. */
      ended: boolean
      requestedAt: number
      completedAt: number
    }
