const kernel = 'packages/triarch/src/kernel'
const postgres = 'packages/postgres/src'

const falls = 'What follows in the switch finds nothing by the ids of this event, and does nothing.'
const paired = 'A step has a batch if, and only if, its policy has one; both are asked for by the types.'

/**
 * Mutants that nobody can tell from the original, each with the reason. They count neither as noticed nor as missed. One
 * that is not there any more fails the run: the list tells only of what is.
 */
export const equivalent: Readonly<Record<string, string>> = {
  [`${kernel}/advance.ts doneOf: || to && input === undefined || output === undefined`]:
    'A step that is done had an input, and its output is kept for those that refer to it: neither is missing.',
  [`${kernel}/apply.ts apply: drop return #13`]: falls,
  [`${kernel}/apply.ts apply: drop return #37`]: falls,
  [`${kernel}/batching.ts isUrgent: || to && !batch || !policy`]: paired,
  [`${kernel}/batching.ts driveBatches: || to && !step || !policy`]: paired,
  [`${kernel}/batching.ts stopBatch: || to && !batch || !policy`]: paired,
  [`${kernel}/batching.ts stopBatch: drop return`]: 'Whoever calls it has found the batch.',
  [`${kernel}/compensation.ts settleCompensation: > to >= state.batches.size > 0`]: 'Of no batches none moves.',
  [`${kernel}/control.ts control: drop return resume(turn)`]:
    'Once nothing is held any more, a retry of all that is held is a resume.',
  [`${kernel}/failure.ts awaitsChildren: || to && !batch || !step.policy.batch`]: paired,
  [`${kernel}/gate.ts applyGate: drop return #2`]: falls,
  [`${kernel}/gate.ts applyGate: drop return #8`]: falls,
  [`${kernel}/gate.ts applyGate: || to && !state.plan || event.id === undefined`]:
    'Of locks given back those of plans have an id, and no others.',
  [`${kernel}/gate.ts requestsOf: && to || step <= 0 && standing === 'asked'`]:
    'Keys are asked for all at once, and before there are other locks.',
  [`${kernel}/gate.ts fenceOf: > to >= fence > (highest ?? 0)`]: 'The higher of two equal numbers is either.',
  [`${kernel}/gate.ts requestsOf: drop return`]: falls,
  [`${kernel}/mailbox.ts sizeOf: drop sizes.set(mail, size)`]: 'It is reckoned again: the same, later.',
  [`${kernel}/plan.ts dependents: drop continue`]: 'What was found is found again: the same, later.',
  [`${kernel}/plan.ts finalizeNext: drop return`]:
    'What is ready becomes ready: it is asked about once more before it is requested.',
  [`${kernel}/rebuild.ts cut: < to <= outcome < 0`]: 'The first event is a submission, and no outcome.',
  [`${kernel}/secret.ts matcherOf: drop matchers.set(secrets, { size: secrets.size, matcher })`]:
    'It is made again: the same, later.',
  [`${kernel}/settle.ts windUp: || to && !batch || !step.policy.batch`]: paired,
  [`${kernel}/step.ts next: drop step.aborted = false`]:
    'Only runs are asked to give up, and only once their task unwinds: then no other run of the step follows.',
  [`${kernel}/turn.ts emit: > to >= state.hooks.length > 0`]: 'Moves are noted for hooks: without any nobody looks.',
  [`${postgres}/transactions.ts constructor: drop this.#sound = false`]:
    'The ROLLBACK on the connection that was cut fails, which says the same of it.',
}
