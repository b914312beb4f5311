import type { Reply } from '../kernel/message.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Operation, Step } from '../kernel/step/step.ts'
import { isOutstanding } from '../kernel/turn.ts'
import type { Claim } from '../store/port.ts'
import type { Mail } from './mail.ts'

/**
 * What a claimed task is told first: what the work queues hold is under way, and so is what was answered by letters that did
 * not come with the claim (`unread`), or it would be asked for a second time; what nobody knows of is lost.
 */
export function reconcile({ state }: Rebuilt, claim: Claim, unread: readonly Reply[]): Mail[] {
  for (const known of [...claim.work, ...unread]) {
    const step = state.steps.get(known.step)
    if (step && isAttempt(step, known)) step.dispatched = true
  }
  // One by one, so that the code hears of each before the next: one of them may pause the task.
  const lost = claim.orphaned ? unaccounted(state, claim) : []
  const mail = lost.map((step): Mail => ({ message: { type: 'takeover', step }, letter: null }))
  for (const { id, message } of claim.letters) mail.push({ message, letter: id })
  return mail
}

/** Whether this is the attempt of the step that is under way. */
function isAttempt(
  { id, operation, attempt }: Step,
  other: { step: number; operation: Operation; attempt: number },
): boolean {
  return id === other.step && operation === other.operation && attempt === other.attempt
}

/** Steps whose attempt is not under way and not answered by a letter: it ran in the process of the owner before, if at all. */
function unaccounted({ steps }: TaskState, { letters }: Claim): number[] {
  const replies = Map.groupBy(
    letters.flatMap(({ message }) => (message.type === 'reply' ? [message] : [])),
    ({ step }) => step,
  )
  const outstanding = [...steps.values()].filter((step) => isOutstanding(step) && !step.dispatched)
  return outstanding.filter((step) => !replies.get(step.id)?.some((it) => isAttempt(step, it))).map(({ id }) => id)
}
