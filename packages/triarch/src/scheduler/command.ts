import type { IfChildExists } from '../kernel/child/child.ts'
import type { Decision } from '../kernel/event.ts'
import type { Submission } from '../kernel/task/order.ts'

/** A decision of the workflow's code, with what the history needs not keep. */
export interface Command {
  decision: Decision
  /** Why the code refused the payload of a signal and asks for the next one. */
  refused?: string
  /** For `childStarted`: the submission of the child. */
  child?: Pick<Submission, 'input' | 'exclusive' | 'hooks'> & {
    priority?: number
    tags?: Record<string, string>
    metadata?: Record<string, string>
    completeWithin?: number
    secrets?: readonly string[]
    /** For a child whose id was chosen by the code. */
    ifExists?: IfChildExists
  }
}
