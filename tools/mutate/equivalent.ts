const kernel = 'packages/triarch/src/kernel'
const policy = 'packages/triarch/src/policy'
const postgres = 'packages/postgres/src'
const sqlite = 'packages/triarch/src/store/sqlite'

const falls = 'What follows in the switch finds nothing by the ids of this event, and does nothing.'
const paired = 'A step has a batch if, and only if, its policy has one; both are asked for by the types.'
const again = 'A line is looked at once more, of which all was seen from further behind: the same, later.'
const spent = 'Of what follows nothing fits any more: nothing is read.'
const idle = 'Where nothing waits there are never more slots than run.'
const none = 'Of no instants none is taken.'
const savepoint = 'One that stays open ends with its transaction, and the last of its name is the one that is meant.'

/**
 * Mutants that nobody can tell from the original, each with the reason. They count neither as noticed nor as missed. One
 * that is not there any more fails the run: the list tells only of what is.
 */
export const equivalent: Readonly<Record<string, string>> = {
  'packages/triarch/src/statistics/histogram.ts bucketOf: <= to < ms <= 1':
    'The logarithm of 1 is 0, which is the same bucket.',
  'packages/triarch/src/statistics/tally.ts tally: drop break #11':
    'What follows says that the task goes on, and one that continues as new does.',
  [`${kernel}/plan/advance.ts doneOf: || to && input === undefined || output === undefined`]:
    'A step that is done had an input, and its output is kept for those that refer to it: neither is missing.',
  [`${kernel}/batch/batching.ts isUrgent: || to && !batch || !policy`]: paired,
  [`${kernel}/batch/batching.ts driveBatches: || to && !step || !policy`]: paired,
  [`${kernel}/batch/batching.ts stopBatch: || to && !batch || !policy`]: paired,
  [`${kernel}/batch/batching.ts stopBatch: drop return`]: 'Whoever calls it has found the batch.',
  [`${kernel}/step/compensation.ts closeCompensation: > to >= state.batches.size > 0`]: 'Of no batches none moves.',
  [`${kernel}/task/control.ts control: drop return resume(turn, remarkOf(message))`]:
    'Once nothing is held any more, a retry of all that is held is a resume.',
  [`${kernel}/step/failure.ts awaitsChildren: || to && !batch || !step.policy.batch`]: paired,
  [`${kernel}/lock/fold.ts lockReleased: || to && !state.plan || id === undefined`]:
    'Of locks given back those of plans have an id, and no others.',
  [`${kernel}/lock/request.ts requestsOf: && to || step <= 0 && standing === 'asked'`]:
    'Keys are asked for all at once, and before there are other locks.',
  [`${kernel}/lock/gate.ts fenceOf: > to >= fence > (highest ?? 0)`]: 'The higher of two equal numbers is either.',
  [`${kernel}/lock/request.ts requestsOf: drop return`]: falls,
  [`${kernel}/wait/buffered-signal.ts sizeOf: drop sizes.set(signal, size)`]: 'It is reckoned again: the same, later.',
  [`${kernel}/plan/plan.ts dependents: drop continue`]: 'What was found is found again: the same, later.',
  [`${kernel}/plan/plan.ts finalizeNext: drop return`]:
    'What is ready becomes ready: it is asked about once more before it is requested.',
  [`${kernel}/rebuild.ts cut: < to <= outcome < 0`]: 'The first event is a submission, and no outcome.',
  [`${kernel}/task/close.ts windUp: || to && !batch || !step.policy.batch`]: paired,
  [`${kernel}/step/change.ts next: drop step.aborted = false`]:
    'Only runs are asked to give up, and only once their task unwinds: then no other run of the step follows.',
  [`${kernel}/turn.ts emit: > to >= state.hooks.length > 0`]: 'Moves are noted for hooks: without any nobody looks.',
  [`${policy}/adaptive.ts adapted: > to >= seen.answers > 0`]: 'Of no answers none is ill: 0 / 0 is above nothing.',
  [`${policy}/adaptive.ts adapted: < to <= next < limit`]: 'Any part of the way to the limit that there is ends there.',
  [`${policy}/demand.ts wanted: > to >= waiting > 0`]: idle,
  [`${policy}/demand.ts wanted: > to >= waiting > 0 #2`]: idle,
  [`${policy}/rate.ts reserve: <= to < at <= now + AHEAD`]:
    'From there on one instant may be reserved, and a quarter of one is none.',
  [`${policy}/rate.ts take: > to >= open > 0`]: none,
  [`${policy}/rate.ts takeAhead: > to >= open > 0`]: none,
  [`${policy}/rate.ts takeAt: drop return #2`]:
    'The last span ends a gap after the last time that is asked for, so that one has room.',
  [`${policy}/secret.ts holding: < to <= over < 0`]: 'The newest holds: it is never the first that does not.',
  [`${policy}/setting.ts placed: < to <= a < b`]: 'No two nodes have one id.',
  [`${postgres}/store.ts close: drop this.#pools = null`]: 'A pool that is closed refuses a call by the same word.',
  [`${sqlite}/deadlock.ts circleOf: drop continue`]: again,
  [`${sqlite}/deadlock.ts circleOf: drop lines.set(place.name, place)`]: again,
  [`${sqlite}/deadlock.ts isBefore: > to >= a.priority > b.priority`]: again,
  [`${sqlite}/deadlock.ts isBefore: && to || a.priority === b.priority && a.id < b.id`]: again,
  [`${sqlite}/deadlock.ts isBefore: < to <= a.id < b.id`]: again,
  [`${sqlite}/claim.ts take: > to >= unread > 0`]: 'Of no letters none is read.',
  [`${sqlite}/commit.ts createChild: drop return`]:
    'A child that was just made is that of its parent and has not stopped: nothing is told.',
  [`${sqlite}/commit.ts createChild: && to || heldBy !== undefined && lock !== undefined`]:
    'Who has a lock is said with the name of the lock, and neither alone.',
  [`${sqlite}/inbox.ts inbox: || to && left.limit <= 0 || left.bytes <= 0`]: spent,
  [`${sqlite}/inbox.ts inbox: <= to < left.limit <= 0`]: spent,
  [`${sqlite}/inbox.ts inbox: <= to < left.bytes <= 0`]: spent,
  [`${sqlite}/inbox.ts inbox: drop break`]: spent,
  [`${sqlite}/lock.ts stopped: || to && !task || task.status === 'stopped'`]:
    'A task that has stopped has no locks, and nobody comes after it any more.',
  [`${sqlite}/lock.ts tie: > to >= parents.length > 0`]:
    'A circle is looked for where there can be none, and not found.',
  [`${sqlite}/prune.ts dropOne: drop database.run('RELEASE one')`]: savepoint,
  [`${sqlite}/prune.ts dropOne: drop database.run('RELEASE one') #2`]: savepoint,
  [`${sqlite}/replay.ts upTo: < to <= end < 0`]: 'The first record always fits: the end is behind it.',
  [`${sqlite}/sweep.ts sweep: > to >= shift > 0`]: 'Bounds that are shifted by nothing stay what they are.',
  [`${sqlite}/worker.ts request: ++ to -- ++this.#lastId`]:
    'Numbers that differ tell answers apart, whichever they are.',
}
