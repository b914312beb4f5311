import type { Reply } from '../kernel/message.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Operation, Step } from '../kernel/step/step.ts'
import { isOutstanding } from '../kernel/turn.ts'
import type { Claim } from '../store/port.ts'
import type { IncomingMessage } from './incoming-message.ts'

/**
 * The first messages of a claimed task. Attempts in the work queues are under way, and so are those whose replies wait in the inbox but
 * did not come with the claim (`unread`); they must not be requested again. If the former owner died, all other outstanding attempts are
 * lost.
 */
export function reconcile({ state }: Rebuilt, claim: Claim, unread: readonly Reply[]): IncomingMessage[] {
  for (const known of [...claim.work, ...unread]) {
    const step = state.steps.get(known.step)
    if (step && isAttempt(step, known)) step.dispatched = true
  }
  // Each loss is a message of its own, because one of them may pause the task before the next.
  const lost = claim.orphaned ? unaccounted(state, claim) : []
  const messages = lost.map((step): IncomingMessage => ({ message: { type: 'takeover', step }, inboxId: null }))
  for (const { id, message } of claim.letters) messages.push({ message, inboxId: id })
  return messages
}

/** Whether both mean the same attempt of the step. */
function isAttempt(
  { id, operation, attempt }: Step,
  other: { step: number; operation: Operation; attempt: number },
): boolean {
  return id === other.step && operation === other.operation && attempt === other.attempt
}

/** Steps with an outstanding attempt that is not in a queue and has no reply: if it ran, it ran in the former owner's process. */
function unaccounted({ steps }: TaskState, { letters }: Claim): number[] {
  const replies = Map.groupBy(
    letters.flatMap(({ message }) => (message.type === 'reply' ? [message] : [])),
    ({ step }) => step,
  )
  const outstanding = [...steps.values()].filter((step) => isOutstanding(step) && !step.dispatched)
  return outstanding.filter((step) => !replies.get(step.id)?.some((it) => isAttempt(step, it))).map(({ id }) => id)
}
