import type { IfChildExists } from '../kernel/child/child.ts'
import type { Decision } from '../kernel/event.ts'
import type { Submission } from '../kernel/task/order.ts'

/** A decision of the workflow's code, with what the history needs not keep. */
export interface Command {
  decision: Decision
  /** Why it asks again for a signal that came. */
  refused?: string
  /** For `childStarted`: what the child is submitted with. */
  child?: Pick<Submission, 'input' | 'exclusive' | 'hooks'> & {
    priority?: number
    tags?: Record<string, string>
    metadata?: Record<string, string>
    completeWithin?: number
    secrets?: readonly string[]
    /** Of a child with an id of its own. */
    ifExists?: IfChildExists
  }
}
