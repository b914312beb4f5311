import type { FeatureName } from '../feature.ts'

/** Texts of one file of packages/triarch/src and what takes their places; each must stand in it exactly once. */
type Edits = readonly (readonly [from: string, to: string])[]

/** A deliberate bug: a small change to the engine, made in memory only. */
export interface Mutation {
  change: Readonly<Record<string, Edits>>
  /** The oracles of which one must catch it. */
  by: readonly string[]
  /** A regression that shows it; a scenario that does, each of its calls hurt in turn; or the seed that the search begins with; 1. */
  at?: string | number
  /** A feature that all worlds of the search have: bugs of what is rare are found soon, whatever seeds come to mean. */
  world?: FeatureName
}

/** Each breaks one of the engine's promises. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'a node discards what it knows of a task when a commit fails': {
    change: {
      'scheduler/recommit.ts': [
        [
          'if (this.#stopped) return last\n      if (!(last',
          'if (last instanceof Error) return last\n      if (!(last',
        ],
      ],
      'scheduler/runner.ts': [
        ['const incoming = [...this.#taken, ...this.#messages]', 'const incoming: IncomingMessage[] = []'],
        ['return this.#orphaned || !this.#attempts.none', 'return true'],
      ],
    },
    by: ['known'],
    at: 5,
    world: 'refusal',
  },
  'a task that is given back is taken for one whose owner died': {
    change: {
      'scheduler/recommit.ts': [
        [
          'if (this.#stopped) return last\n      if (!(last',
          'if (last instanceof Error) return last\n      if (!(last',
        ],
      ],
      'scheduler/runner.ts': [['return this.#orphaned || !this.#attempts.none', 'return true']],
    },
    by: ['known'],
    at: 36,
    world: 'refusal',
  },
  'a node gives up its lease while the store takes no writes': {
    change: { 'node/lease.ts': [['if (over && !isListed) return this.#lose()', 'if (over) return this.#lose()']] },
    by: ['known'],
    at: 95,
    world: 'refusal',
  },
  'a task whose code waits for what is not its own leaves memory for ever': {
    change: {
      'scheduler/runner.ts': [['const ready = unfinished || this.#isStalled', 'const ready = unfinished']],
    },
    by: ['asleep'],
    world: 'outside',
  },
  'a task whose code waits for what is not its own sleeps until its complete-by': {
    change: {
      'scheduler/runner.ts': [
        ['.limits.longSleep) &&\n      !this.#isStalled', '.limits.longSleep)'],
        ['const ready = unfinished || this.#isStalled', 'const ready = unfinished'],
      ],
    },
    by: ['asleep'],
    world: 'outside',
  },
  'an append does not check the fence': {
    change: {
      'store/sqlite/commit.ts': [
        ['WHERE key = ?1 AND epoch = ?2 AND locked_by = ?3', "WHERE key = ?1 AND ?2 > 0 AND ?3 <> ''"],
      ],
    },
    by: ['owners'],
    at: 139,
    world: 'silence',
  },
  'a claim does not raise the epoch': {
    change: {
      'store/sqlite/claim.ts': [
        ['locked_by = ?, epoch = epoch + 1', 'locked_by = ?, epoch = max(epoch, 1)'],
        ['locked_by = ?1, epoch = epoch + 1', 'locked_by = ?1, epoch = max(epoch, 1)'],
        ['epoch: row.epoch + 1', 'epoch: Math.max(row.epoch, 1)'],
      ],
    },
    by: ['owners'],
  },
  'what is to be told of an alert is not kept with it': {
    change: {
      'store/sqlite/alert.ts': [
        [
          'for (const { id, sink, dueAt, state } of write.posts)',
          'for (const { id, sink, dueAt, state } of write.posts.slice(0, 1))',
        ],
      ],
    },
    by: ['alerts'],
    at: 'alert of what is ill for a while',
  },
  'what was told of an alert is told under another name by whoever leads next': {
    change: {
      'alert/delivery.ts': [
        ['sink.send(notificationOf(id, said)', 'sink.send(notificationOf(this.#means.environment.id(), said)'],
      ],
    },
    by: ['alerts'],
    at: 'alert of what is ill for a while',
  },
  'an alert does not end': {
    change: { 'alert/watch.ts': [["{ found: whole ? 'gone' : 'unknown' }", "{ found: 'unknown' }"]] },
    by: ['liveness'],
    at: 'alert of what is ill for a while',
  },
  'an act is done without its entry in the audit': {
    change: {
      'store/sqlite/inbox.ts': [
        [
          "if (it.audit && outcome === 'posted') keepAct(database, it.audit)",
          "if (it.audit && outcome === 'full') keepAct(database, it.audit)",
        ],
      ],
    },
    by: ['audit'],
    at: 4,
  },
  'what a task does not take stands in the audit': {
    change: {
      'store/sqlite/inbox.ts': [
        [
          "if (it.audit && outcome === 'posted') keepAct(database, it.audit)",
          'if (it.audit) keepAct(database, it.audit)',
        ],
      ],
    },
    by: ['audit'],
    at: 4,
  },
  'the end of a task that is quarantined has no entry in the audit': {
    change: {
      'store/sqlite/quarantine.ts': [
        ['postOne(database, post)\n    if (audit) keepAct(database, audit)', 'postOne(database, post)'],
      ],
    },
    by: ['audit'],
    world: 'poison',
  },
  'replayed code says its lines again': {
    change: {
      'agent/logbook.ts': [['it.again ? this.#unsaid(it) : it', 'it']],
      'store/sqlite/log.ts': [
        ['    if (source === null && (run < head.run || (run === head.run && n <= head.mark))) continue\n', ''],
      ],
    },
    by: ['logs'],
    at: 'log that outlives its owner',
  },
  'what code said dies with its owner': {
    change: { 'scheduler/runner.ts': [['    this.#tellSaid(true)\n', '    this.#driver.said?.()\n']] },
    by: ['logs'],
    at: 'log that outlives its owner',
  },
  'letters are gone once they were read, not once they are recorded': {
    change: {
      'store/sqlite/inbox.ts': [
        [
          'return marked(read(database, told), more)',
          "const found = read(database, told)\n    for (const { id } of found) database.run('DELETE FROM triarch_inbox WHERE id = ?', id)\n    return marked(found, more)",
        ],
      ],
    },
    by: ['liveness'],
    at: 71,
  },
  'letters stay in the inbox when they are recorded': {
    change: {
      'store/sqlite/commit.ts': [
        ['for (const letter of transition.consumed) database.run(CONSUME, letter, key)\n', ''],
      ],
    },
    // The task is claimed for it again and again.
    by: ['rest'],
    at: 'events',
  },
  'a letter that the inbox shows twice is read twice': {
    change: {
      'scheduler/inbox-tracker.ts': [
        ['if (this.#taken.has(id)) return false', ''],
        ['!spent.has(message.id) && give(message)', 'give(message)'],
        ['{ held: [...held.keys()] }', '{ held: [] }'],
      ],
    },
    by: ['letters'],
  },
  'what a task had at hand that left its node stays at hand': {
    change: {
      'scheduler/runner.ts': [
        [
          'of [...this.#inFlight, ...this.#inboxGauge.unread]) this.#host.inbox.drop(inboxId)',
          'of []) this.#host.inbox.drop(inboxId)',
        ],
        ['    for (const { inboxId } of this.#messages) if (inboxId !== null) this.#host.inbox.drop(inboxId)\n', ''],
      ],
    },
    by: ['liveness'],
    at: 16,
  },
  'the late answer of an attempt that was given up counts': {
    change: {
      'agent/attempt.ts': [['    if (this.#settled) return this.#bounds.late()\n', '']],
      'kernel/receive.ts': [[' && step.attempt === reply.attempt', '']],
    },
    by: ['answers'],
  },
  'what was done first is undone first': {
    change: {
      'kernel/step/compensation.ts': [
        [
          'return waiting.filter((unit) => unit.completedAt >= latest)',
          'return latest < 0 || underWay(state).length > 0 ? [] : waiting.slice(0, 1)',
        ],
      ],
    },
    by: ['compensation'],
    at: 11,
  },
  'an undo that fails is forgotten': {
    change: {
      'kernel/step/failure.ts': [
        [
          "hold(turn, step, reply.operation === 'undo' ? 'undo' : 'unknown-outcome', error)",
          "if (reply.operation === 'undo') emit(turn, { type: 'undone', id: step.id, ...trace(reply) })\n  else hold(turn, step, 'unknown-outcome', error)",
        ],
        [
          'if ((budget.lost || outcome.retryable) && budget.left) {',
          "if (reply.operation !== 'undo' && (budget.lost || outcome.retryable) && budget.left) {",
        ],
      ],
    },
    by: ['effects', 'answers'],
  },
  'other processes are heeded only when they hint': {
    change: { 'node/poller.ts': [['    this.#seen = seen\n    await this.#look()\n', '']] },
    by: ['liveness'],
    at: 'work queue',
  },
  'timers fire early': {
    change: { 'kernel/tick.ts': [['if (until <= at) due.push', 'if (until <= at + 20) due.push']] },
    by: ['timers'],
    at: 5,
  },
  'a retry does not wait': {
    change: {
      'kernel/step/dispatch.ts': [
        ['step.dispatched || Math.max(step.due, step.deferred) > at ||', 'step.dispatched ||'],
      ],
    },
    by: ['asked'],
  },
  'attempts start before they are recorded': {
    change: {
      'scheduler/runner.ts': [
        [
          '    this.#snapshot = snapshot\n    this.#host.committer.commit(',
          '    this.#snapshot = snapshot\n    this.#startAll(turn.at)\n    this.#host.committer.commit(',
        ],
        [
          '    this.#startAll(turn.at)\n    this.#host.committed(this, turn, transition, outcome.told === true)',
          '    this.#host.committed(this, turn, transition, outcome.told === true)',
        ],
      ],
    },
    by: ['asked', 'strangers'],
    at: 90,
  },
  'each attempt has an idempotency key of its own': {
    change: {
      'kernel/step/dispatch.ts': [
        ['const key = step.generation === 0 ?', "const key = step.attempt > 1 ? base + '!' : step.generation === 0 ?"],
      ],
    },
    by: ['asked'],
  },
  'an at-most-once step is tried again when its outcome is unknown': {
    change: {
      'definition/policy.ts': [['retry: { ...policy.retry, attempts: 1 }', 'retry: { ...policy.retry, attempts: 2 }']],
      'kernel/step/failure.ts': [["const again = policy.semantics === 'at-least-once' || ", 'const again = true || ']],
    },
    by: ['atMostOnce'],
    at: 'at most once',
  },
  'a sweep does not check its fencing token': {
    change: {
      'store/sqlite/sweep.ts': [['return database.get(LEADS, name, token, now) !== undefined', 'return true']],
    },
    by: ['leader'],
    at: 89,
  },
  'a new leader gets the token of the old one': {
    change: { 'store/sqlite/nodes.ts': [['token = token + (holder <> ?2 OR until <= ?3)', 'token = token']] },
    by: ['leader'],
  },
  'a node that was buried comes back under its name': {
    change: {
      'store/sqlite/nodes.ts': [
        ['place = coalesce(excluded.place, place) WHERE dead = 0', 'place = coalesce(excluded.place, place)'],
      ],
    },
    by: ['liveness'],
    at: 82,
  },
  'the tasks of a dead node are not known to be orphans': {
    change: {
      'store/sqlite/release.ts': [
        [
          'const rows = database.all<{ key: number }>(RELEASE_TASKS, 1,',
          'const rows = database.all<{ key: number }>(RELEASE_TASKS, 0,',
        ],
      ],
    },
    by: ['starts'],
    at: 'sequence',
  },
  'the work of a dead agent is not given up': {
    change: {
      'store/sqlite/sweep.ts': [
        ['releaseWork(database, now, owner, left),', '0 * left,'],
        ['const lateSteps = expire(database, now, limit)', 'const lateSteps = 0'],
      ],
    },
    by: ['liveness'],
    at: 16,
  },
  'a submission is acknowledged before it is durable': {
    change: {
      'store/sqlite/submit.ts': [
        [
          '    const outcomes = insertTasks(database, tasks)\n',
          '    const outcomes = tasks.map((task) => (_now % 2 === 0 ? { created: true, key: 0 } : insertTask(database, task)))\n',
        ],
      ],
    },
    by: ['accepted'],
  },
  'a parent does not hear of the end of its child': {
    change: { 'kernel/task/stop.ts': [['  tellParent(turn, state.parent)\n', '']] },
    by: ['liveness'],
  },
  'a task stops without awaiting what runs': {
    change: { 'kernel/task/close.ts': [['  if (waiting) return\n', '']] },
    by: ['effects', 'compensation'],
    at: 11,
  },
  'an event that nobody waits for yet is not kept': {
    change: { 'kernel/wait/mailbox.ts': [['  state.mailbox.push({ name, payload })\n', '']] },
    by: ['events'],
    at: 10,
  },
  'the row of a task is not kept with its history': {
    change: {
      'scheduler/runner.ts': [
        [
          'snapshot: this.#draft || !sameSummary(snapshot, this.#snapshot) ? this.#row(snapshot) : null',
          'snapshot: this.#draft || state.pause ? this.#row(snapshot) : null',
        ],
      ],
    },
    by: ['liveness', 'fold'],
  },
  'the code draws chance that a replay does not repeat': {
    change: {
      'scheduler/function/context.ts': [
        ['random ??= seededRandom(hash32(', 'random ??= seededRandom(draws++ + hash32('],
        ['import { hash32', 'let draws = 0\nimport { hash32'],
      ],
    },
    by: ['pauses'],
  },
  'the engine draws chance that the seed does not decide': {
    change: { 'scheduler/runner.ts': [['environment.random, limits)', 'Math.random, limits)']] },
    by: ['determinism'],
  },
  'a planned step does not wait for all that it refers to': {
    change: {
      'kernel/plan/plan.ts': [
        ['if (--other.waiting > 0 || other.standing', 'if (--other.waiting > 1 || other.standing'],
      ],
    },
    by: ['edges', 'dependencies'],
  },
  'a plan is undone along its edges, not against them': {
    change: {
      'kernel/plan/undo.ts': [
        ['left: plan.nodes.map(({ behind }) => behind.length)', 'left: plan.nodes.map(({ before }) => before.length)'],
        ['if (node.behind.length > 0) continue', 'if (node.before.length > 0) continue'],
        ['nodeOf(plan, at)?.before ?? []', 'nodeOf(plan, at)?.behind ?? []'],
      ],
    },
    by: ['edges'],
  },
  'a finalizer runs before the plan is done': {
    change: {
      'kernel/plan/plan.ts': [
        [
          '  if (finalizes) state.finalizers.push(id)\n  else state.left++',
          '  if (finalizes) state.finalizers.push(id)\n  else if (id % 2 === 0) state.left++',
        ],
      ],
    },
    by: ['edges'],
  },
  'an event for a step that is busy is lost': {
    change: { 'kernel/suspension/suspend.ts': [['  else suspension.queue.push(received)\n', '']] },
    by: ['liveness'],
    at: 102,
  },
  'the timeout of a waiting step is not looked at': {
    change: {
      'kernel/suspension/suspend.ts': [
        [
          'first = Math.min(first, step.expiresAt ?? first, until ?? first)',
          'first = Math.min(first, step.expiresAt ?? first)',
        ],
      ],
    },
    by: ['liveness'],
    at: 27,
  },
  'an agent starts more than it has slots for': {
    change: {
      'flow/slots.ts': [['if (this.free <= 0 || this.room(action) <= 0) return false', '']],
    },
    by: ['slots'],
  },
  'a step that begins to wait while its task stops is not told': {
    change: {
      'kernel/suspension/fold.ts': [
        ['event.notifyOnCancel === true && !isNotified(step)', 'event.notifyOnCancel === true && !state.closing'],
      ],
    },
    by: ['told'],
    at: 163,
  },
  'a lock is not passed on when its task stops, nor by a sweep': {
    change: {
      'store/sqlite/lock.ts': [
        ['  free(database, at, freed)\n', ''],
        ['else pass(database, at, name)', 'else void at'],
      ],
    },
    by: ['liveness'],
    at: 24,
  },
  'who comes after another task is not told of its end': {
    change: {
      'store/sqlite/lock.ts': [
        [
          "    deliver(database, follower.task, { type: 'antecedent', task: task.id, result })\n",
          '    void follower\n',
        ],
      ],
    },
    by: ['liveness'],
    at: 34,
  },
  'a lock is given to whoever asks': {
    change: {
      'store/sqlite/lock.ts': [
        [
          'const holder = holderOf(database, at, name)\n  const letter',
          'const holder = undefined as { id: string } | undefined\n  const letter',
        ],
      ],
      'store/sqlite/migrations/0001/locks.ts': [
        ['ON triarch_locks (name) WHERE held', 'ON triarch_locks (name, task, step) WHERE held'],
      ],
    },
    by: ['locks'],
    at: 8,
  },
  'an occurrence starts before it is due': {
    change: {
      'definition/schedule.ts': [
        ['dueAt(name, definition, next) <= now', 'dueAt(name, definition, next) <= now + 400'],
      ],
      'supervisor/schedule.ts': [
        ['due: environment.now()', 'due: environment.now() + 400'],
        ['> round.now) continue', '> round.now + 400) continue'],
      ],
      'supervisor/supervisor.ts': [['this.#schedulesDue = report.schedules', 'this.#schedulesDue = true']],
    },
    by: ['occurrences'],
    world: 'schedules',
  },
  'of the occurrences that are due at once the first run, not the last': {
    change: {
      'definition/schedule.ts': [
        ['start = [...start, next].slice(-limit)', 'start = [...start, next].slice(0, limit)'],
      ],
    },
    by: ['occurrences'],
    at: 12,
    world: 'schedules',
  },
  'a schedule goes on from the present, whatever was due before': {
    change: {
      'definition/schedule.ts': [['next = nextAfter(recurrence, next)', 'next = nextAfter(recurrence, now)']],
    },
    by: ['occurrences'],
    at: 9,
    world: 'schedules',
  },
  'whoever read a schedule may write it, though it has moved on': {
    change: { 'store/sqlite/schedule.ts': [['WHERE name = ? AND revision = ?`', 'WHERE name = ? AND ? > 0`']] },
    by: ['occurrences'],
    at: 5,
    world: 'schedules',
  },
  'schedules are looked at when a leader begins, and then no more': {
    change: {
      'supervisor/supervisor.ts': [['    this.#schedulesDue = report.schedules\n', '    this.#schedulesDue = false\n']],
    },
    by: ['occurrences'],
    world: 'schedules',
  },
  'retention takes what has an open child': {
    change: {
      'store/sqlite/prune.ts': [
        ["  AND NOT EXISTS (SELECT 1 FROM triarch_tasks c WHERE c.parent = t.id AND c.status <> 'stopped')\n", ''],
      ],
    },
    by: ['retained'],
    world: 'retention',
  },
  'retention takes what somebody has or is about to take': {
    change: { 'store/sqlite/prune.ts': [['  AND locked_by IS NULL AND ready = 0 AND key', '  AND key']] },
    by: ['retained'],
    at: 13,
    world: 'retention',
  },
  'retention takes what is not old enough': {
    change: { 'store/sqlite/prune.ts': [['until: now - (rule.age ?? 0)', 'until: now - (rule.age ?? 0) / 2']] },
    by: ['retained'],
    world: 'retention',
  },
  'a dropped task leaves something behind': {
    change: { 'store/sqlite/prune.ts': [["  'DELETE FROM triarch_history WHERE task = ?',\n", '']] },
    by: ['retained'],
    world: 'retention',
  },
  'retention is thought of once': {
    change: {
      'supervisor/retention.ts': [
        ['this.#next = environment.monotonic() + EVERY', 'this.#next = Number.POSITIVE_INFINITY'],
      ],
    },
    by: ['retained'],
    at: 15,
    world: 'retention',
  },
  'nobody remembers that a transaction took effect': {
    change: { 'store/sqlite/effect.ts': [['  database.run(KEEP, key, step, name, answer)\n', '']] },
    by: ['transactions'],
    at: 21,
    world: 'transactions',
  },
  'what a transaction that failed has written stays': {
    change: {
      'store/sqlite/transactions.ts': [
        ["connection.isTransaction) database.run('ROLLBACK')", "connection.isTransaction) database.run('COMMIT')"],
      ],
    },
    by: ['transactions'],
    at: 4,
    world: 'transactions',
  },
  'a task that the store refuses is tried for ever': {
    change: {
      'scheduler/quarantine.ts': [
        ['if (known.row < ENOUGH && known.count < OFTEN && strikes < PROBATION) return null', 'if (known) return null'],
      ],
    },
    by: ['quarantine', 'liveness'],
    at: 4,
    world: 'poison',
  },
  'what the store refuses costs the neighbours of a batch as well': {
    change: {
      'store/group.ts': [
        [
          "if (batch.length === 1 || (isTriarchError(error) && error.code !== 'STORE_FAILED')) return error as Error",
          'if (batch.length > 0) return error as Error',
        ],
      ],
    },
    by: ['quarantine'],
    at: 68,
    world: 'poison',
  },
  'whoever may try suspects does not see that there are any': {
    change: { 'store/sqlite/claim.ts': [['suspicion >= 2 LIMIT 1', 'suspicion > 2 LIMIT 1']] },
    by: ['liveness'],
    at: 76,
    world: 'poison',
  },
  'what is quarantined is claimed again all the same': {
    change: {
      'store/sqlite/quarantine.ts': [
        ['quarantined = 1, locked_by = NULL, ready = 0', 'quarantined = 0, locked_by = NULL, ready = 1'],
      ],
    },
    by: ['quarantine', 'liveness'],
    world: 'poison',
  },
  'the clock of the store buries those whom the leader hears': {
    change: { 'store/sqlite/sweep.ts': [['  database.run(VOUCH, now)\n', '']] },
    by: ['alive'],
    world: 'clocks',
  },
  'what a listener throws meets the engine': {
    change: {
      'client/listeners.ts': [
        [
          'guarded<[never]>(listener as (of: never) => unknown, this.#failed)',
          '((of: never) => void (this.#failed, listener as (of: never) => unknown)(of))',
        ],
      ],
    },
    by: ['liveness', 'rest', 'quarantine', 'engine'],
    at: 6,
    world: 'callbacks',
  },
  'nobody notices that the store went back': {
    change: {
      'scheduler/lost-tail-detector.ts': [
        ['    const known = [...this.#gone(), ...this.#page()]\n', '    const known: WatchedRecord[] = []\n'],
        ['this.#owns)) return this.#options.wentBack()', 'this.#owns)) return'],
      ],
      'scheduler/unknown-ownership.ts': [
        ['if (this.#left === 0 || claiming()) return', 'if (this.#left >= 0 || claiming()) return'],
      ],
    },
    by: ['liveness', 'rest'],
    at: 4,
    world: 'loss',
  },
  'a task that was given back stays with its owner when the store forgets just that': {
    change: {
      'scheduler/unknown-ownership.ts': [['for (const suspect of astray) giveBack(suspect)', '']],
    },
    by: ['liveness', 'rest'],
    at: 'store that forgets that a task was given back',
  },
  'a request is forgotten whose task leaves memory': {
    change: {
      'store/sqlite/commit.ts': [
        [
          '    if (release?.awaits && lacksRequest(database, key, release.awaits, transition.consumed)) return lost\n',
          '',
        ],
      ],
    },
    by: ['liveness', 'rest'],
    at: 'a store that forgets a request whose task leaves memory',
  },
  'who gives a task back does not say which requests it waits for': {
    change: {
      'scheduler/runner.ts': [['...(awaits.length > 0 && { awaits })', '...(awaits.length < 0 && { awaits })']],
    },
    by: ['liveness', 'rest'],
    at: 'a store that forgets a request whose node stops in order before that is noticed',
  },
  'a record is written although the one before it is lost': {
    change: {
      'store/sqlite/commit.ts': [
        [
          'EXISTS (SELECT 1 FROM triarch_history WHERE task = ?1 AND seq = ?5 AND (?6 IS NULL OR at = ?6))',
          '(?5 > 0 OR ?6)',
        ],
      ],
    },
    by: ['gapless', 'fold'],
    world: 'loss',
  },
  'an answer that never comes is waited for': {
    change: { 'store/deadline.ts': [['if (++one.looks <= LOOKS) continue', 'if (++one.looks > 0) continue']] },
    by: ['patience'],
    world: 'silence',
  },
  'an answer that is to come is given up': {
    change: { 'store/deadline.ts': [['if (++one.looks <= LOOKS) continue', 'if (++one.looks < 1) continue']] },
    by: ['patience'],
    world: 'silence',
  },
  'what the store does after all is not looked for': {
    change: {
      'node/lost-tail-check.ts': [['    this.#doubts = DOUBTS\n', '']],
      'scheduler/lost-tail-detector.ts': [
        ['this.#options.environment.monotonic() < last', 'last < Number.NEGATIVE_INFINITY'],
      ],
    },
    by: ['liveness'],
    at: 1_410,
    world: 'silence',
  },
  'a node misses what retention dropped after others had finished it': {
    change: {
      'scheduler/lost-tail-detector.ts': [['runner?.key === key && !runner.returning', 'id.length + key > 0']],
    },
    by: ['alerts'],
    at: 11,
    world: 'retention',
  },
  'a history grows for ever': {
    change: {
      'scheduler/decisions.ts': [['count - unread.letters > history)', 'count - unread.letters > history * 9)']],
    },
    by: ['bounds'],
    at: 212,
    world: 'bounds',
  },
  'of a history the events are counted, and its bytes are not': {
    change: {
      'scheduler/decisions.ts': [['size - unread.bytes > historyBytes)', 'size - unread.bytes > historyBytes * 99)']],
    },
    by: ['bounds'],
    at: 12,
    world: 'bounds',
  },
  'a task does as much at once as it likes': {
    change: { 'scheduler/decisions.ts': [['isWider(state, limits.fanOut)', 'isWider(state, limits.fanOut * 9)']] },
    by: ['bounds'],
    at: 20,
    world: 'bounds',
  },
  'an inbox has room for whatever comes': {
    change: {
      'store/sqlite/inbox.ts': [['fits(amount(AMOUNT)) || fits(amount(SIGNALS))', 'fits(amount(AMOUNT)) || size > 0']],
    },
    by: ['bounds'],
    at: 8,
    world: 'bounds',
  },
  'a claim takes all that is ready, however large': {
    change: { 'store/sqlite/claim.ts': [['(records > left.records || bytes > left.bytes)', 'left.records < 0']] },
    by: ['bounds'],
    at: 34,
    world: 'bounds',
  },
  'a task is given to nodes that do not have its version': {
    change: {
      'store/sqlite/claim.ts': [['(READY, workflow', "(READY.replace('version = ?', 'version >= ?'), workflow"]],
    },
    by: ['versions'],
    at: 8,
    world: 'versions',
  },
  'code hears what its schema refuses': {
    change: { 'definition/signal.ts': [['if (!schema) return', 'if (!schema || payload !== null) return']] },
    by: ['strict'],
    at: 10,
    world: 'strict',
  },
  'nothing is around what is undone': {
    change: { 'definition/middleware.ts': [['if (!wrap) return', "if (!wrap || hook === 'undo') return"]] },
    by: ['strict'],
    world: 'strict',
  },
  'what onError throws meets the engine': {
    change: {
      'client/listeners.ts': [
        [
          'guarded<[unknown]>(onError ?? warner(environment), ',
          '((..._: unknown[]) => onError ?? warner(environment))(0, ',
        ],
      ],
    },
    by: ['liveness', 'rest', 'engine'],
    world: 'strict',
  },
  'what a schema throws meets the engine': {
    change: {
      'value/schema.ts': [
        [
          "return 'async'\n  } catch (cause) {\n    return broken(cause)",
          "return 'async'\n  } catch (cause) {\n    throw cause",
        ],
      ],
    },
    by: ['liveness', 'rest', 'pauses', 'engine', 'errors'],
    at: 10,
    world: 'strict',
  },
  'a half-open breaker lets everybody through': {
    change: {
      'policy/breaker.ts': [
        ['return Math.max(0, Math.min(wants, left))', 'return Math.max(0, Math.min(wants, left * 1_000))'],
      ],
    },
    by: ['breakers'],
    at: 11,
    world: 'outage',
  },
  'a node does not heed what it reads of breakers': {
    change: {
      'flow/breaker-gate.ts': [
        ['return !lane || (isClosed(lane.state) && !lane.tripped)', 'return !lane || !lane.tripped'],
      ],
    },
    by: ['breakers'],
    world: 'outage',
  },
  'a step that has a fallback does not heed its breaker': {
    change: {
      'flow/breaker-gate.ts': [
        [
          'if (this.#admits(lane)) return null\n',
          "if (this.#admits(lane) || typeof this.#instead.of(action, this.breaker) === 'object') return null\n",
        ],
      ],
    },
    by: ['breakers'],
    world: 'outage',
  },
  'what was parked is forgotten when its breaker closes': {
    change: {
      'flow/breaker-gate.ts': [
        [
          'if (!lane || lane.unused === 0) return []',
          "if (!lane || lane.unused === 0 || lane.state.phase === 'releasing') return []",
        ],
      ],
    },
    by: ['liveness'],
    at: 4,
    world: 'outage',
  },
  'a node reserves what others have reserved': {
    change: {
      'policy/rate.ts': [['from + count * this.#every', 'from + this.#every']],
    },
    by: ['rates'],
    world: 'throttle',
  },
  'the limit of an action is not asked where its agent has one': {
    change: {
      'flow/rate-limiter.ts': [
        [
          'const its = action === null ? undefined : this.#quotas.get(action)',
          'const its = own ? undefined : this.#quotas.get(action ?? this.agent)',
        ],
      ],
    },
    by: ['rates'],
    at: 4,
    world: 'throttle',
  },
  'an attempt of a key takes none of its instants': {
    change: {
      'flow/rate-limiter.ts': [
        ['for (const it of all) it.use()', "for (const it of all) if (!it.name.includes('#')) it.use()"],
      ],
    },
    by: ['rates'],
    world: 'throttle',
  },
  'a rest that a service asked another node for is not heard': {
    change: {
      'policy/rate.ts': [['lasts - used), Math.min(state.rests, ', 'lasts - used), Math.min(0, ']],
      'flow/rate-reservation.ts': [['return Math.max(this.rests, this.state.rests)', 'return this.rests']],
    },
    by: ['rates'],
    world: 'throttle',
  },
  'a node does not heed the rest that a service asked another for': {
    change: { 'flow/cooldown-sync.ts': [['host?.coolDown(queue, until)', 'void [host, queue, until]']] },
    by: ['respites'],
    at: 10,
    world: 'respite',
  },
  'a node does not tell others of the rest that its service asked for': {
    change: { 'agent/host.ts': [['    cooldownAsked(queue, until)\n', '']] },
    by: ['respites'],
    at: 10,
    world: 'respite',
  },
  'what a node let start before it heard of a rest begins during it': {
    change: { 'agent/host.ts': [['return this.isCoolingDown(lane) ? { kind', 'return false ? { kind']] },
    by: ['respites'],
    at: 67,
    world: 'respite',
  },
  'a rest never ends': {
    change: {
      'flow/cooldown.ts': [
        ['if (until <= now) this.#until.delete(queue)', 'if (until <= 0) this.#until.delete(queue)'],
        ['(this.#until.get(one) ?? 0) > now', '(this.#until.get(one) ?? 0) > 0'],
      ],
    },
    by: ['liveness'],
    world: 'respite',
  },
  'what a node took of what others had left out stays there': {
    change: { 'policy/rate.ts': [['skip > 0 ? [[first, from]] : []', 'skip > 0 ? [[first, then]] : []']] },
    by: ['rates'],
    at: 133,
    world: 'throttle',
  },
  'instants of a rate limit last for ever': {
    change: {
      'policy/rate.ts': [['after: now + lag - tolerance(rule)', 'after: now + lag - 100_000']],
    },
    by: ['rates'],
    at: 34,
    world: 'throttle',
  },
  'what waits for a rate limit is never looked for': {
    change: {
      'flow/rate-reservation.ts': [
        ['Math.min(most, Math.max(this.waiting, this.#wasAsked))', 'Math.min(most, this.#wasAsked)'],
      ],
    },
    by: ['liveness'],
    world: 'throttle',
  },
  'a node takes whatever others have taken under the bound they share': {
    change: { 'store/sqlite/permit.ts': [['most - (database.get', 'most - 0 * (database.get']] },
    by: ['crowds'],
    world: 'crowd',
  },
  'a step under a bound that is shared begins where its task is': {
    change: {
      'agent/host.ts': [
        [
          'this.#paused !== null || this.sharedConcurrency.isLimited(action)) return false',
          'this.#paused !== null) return false',
        ],
        [
          'this.#paused !== null || this.sharedConcurrency.isLimited(action) || this.breakerGate',
          'this.#paused !== null || this.breakerGate',
        ],
      ],
    },
    by: ['crowds'],
    at: 4,
    world: 'crowd',
  },
  'what runs is not counted in its pool': {
    change: { 'flow/slots.ts': [['if (pool) pool.taken++', 'if (pool && pool.taken < 0) pool.taken++']] },
    by: ['pools'],
    world: 'pools',
  },
  'a queue is asked for the rest as far as what is urgent has room': {
    change: {
      'agent/queue-request.ts': [['host.slots.roomAt(high ? parted : parted - 1)', 'host.slots.roomAt(parted)']],
    },
    by: ['pools'],
    world: 'pools',
  },
  'a slot comes back to the pool of what is urgent, whatever it was': {
    change: {
      'flow/slots.ts': [
        [
          'const filled = pool !== null && pool.taken-- === pool.most',
          'const filled = pool !== null && this.#pools !== null && this.#pools.high.taken-- === pool.most',
        ],
      ],
    },
    by: ['liveness'],
    world: 'pools',
  },
  'what a process has let in counts for nothing until it is written': {
    change: {
      'client/admission-queue.ts': [['roomIn(most, waiting + under + line.since)', 'roomIn(most, waiting)']],
    },
    by: ['entrance'],
    world: 'entrance',
  },
  'a line is taken for as empty as it was when it was read first': {
    change: {
      'client/admission-queue.ts': [
        ['if (!this.#hasRoom(line)) return false\n    line.room--', 'if (!this.#hasRoom(line)) return false'],
      ],
    },
    by: ['entrance'],
    world: 'entrance',
  },
  'who is held back is never let in': {
    change: {
      'client/admission-queue.ts': [
        [
          'while (line.held.length > 0 && this.#take(line)) line',
          'while (line.held.length > 99 && this.#take(line)) line',
        ],
        ['if (at < 0) return', 'if (at < 99) return'],
      ],
    },
    by: ['liveness'],
    world: 'entrance',
  },
  'an attempt meets the breaker of another key': {
    change: {
      'flow/breaker-gate.ts': [
        [
          'this.#refusal(attempt.breakerName, request)',
          'this.#refusal([...this.breakers.keys()].at(-1) ?? attempt.breakerName, request)',
        ],
      ],
    },
    by: ['breakers'],
    at: 10,
    world: 'outage',
  },
  'a node that could not tell in time what it saw leaves the service alone for ever': {
    change: {
      'flow/breaker-gate.ts': [
        ['if (lane.tripped && !this.wouldOpen(lane)) {', 'if (lane.tripped && lane.version < -9) {'],
      ],
    },
    by: ['liveness'],
    at: 279,
    world: 'outage',
  },
  'what waits by its key is looked for once': {
    change: { 'flow/breaker-gate.ts': [['(!lane.waiting || isClosed(lane.state))', '!lane.waiting']] },
    by: ['liveness'],
    at: 50,
    world: 'crowd',
  },
  'a queue that is shared is first come, first served': {
    change: {
      'store/sqlite/share.ts': [
        ['const start = Math.max(present, own)', 'const start = database.get<{ id: number }>(NEXT_ID)?.id ?? 1'],
      ],
    },
    by: ['queues'],
    world: 'line',
  },
  'a tenant may have its turn in each queue of a key': {
    change: {
      'flow/fair-order.ts': [
        ['startOf(level, key) + 1 / weightOf(head.share)', 'startOf(level, key) + 0 / weightOf(head.share)'],
      ],
    },
    by: ['tenants'],
    world: 'tenancy',
  },
  'between queues of keys nobody has more weight than others': {
    change: {
      'flow/fair-order.ts': [['startOf(level, key) + 1 / weightOf(head.share)', 'startOf(level, key) + 1']],
    },
    by: ['tenants'],
    world: 'tenancy',
  },
  'a queue of a key is as early as its first, whoever waits behind it': {
    change: {
      'flow/fair-order.ts': [['if (head.rank !== rank) break', 'if (head.rank !== rank || at > given) break']],
    },
    by: ['tenants'],
    world: 'tenancy',
  },
  'a line of tasks that is shared is first come, first served': {
    change: {
      'store/sqlite/migrations/0001/line.ts': [
        ['const PRESENT = `coalesce(${HEAD', "const PRESENT = `coalesce(${'NULL'"],
      ],
    },
    by: ['tenants'],
    world: 'tenancy',
  },
  'the most urgent task is always taken first, however long others wait': {
    change: {
      'store/sqlite/claim.ts': [
        ['const rank = candidate.priority * ageing - last', 'const rank = candidate.priority * ageing * 1_000 - last'],
      ],
    },
    by: ['seniority'],
    at: 1,
    world: 'ageing',
  },
  'what waits grows younger': {
    change: {
      'policy/line.ts': [['priority * ageing - (since - ORIGIN)', 'priority * ageing + (since - ORIGIN)']],
    },
    by: ['queues'],
    at: 2,
    world: 'line',
  },
  'a leader goes by its row alone, not by its own clock': {
    change: {
      'node/term.ts': [
        ["if (this.#state === 'leads' && this.#left <= 0)", "if (this.#state === 'leads' && this.#left <= -1e9)"],
      ],
      'node/lease.ts': [['|| now - this.#renewedAt > lease) return false', ') return false']],
    },
    by: ['leaders'],
    at: 6,
    world: 'reign',
  },
  'a leadership is taken from a node that lives': {
    change: {
      'store/sqlite/leader.ts': [['(l.until <= ?4 OR NOT ${ALIVE(', '(?4 > 0 OR NOT ${ALIVE(']],
      'node/elections.ts': [['(row && row.node !== null)', '(row?.node === node)']],
    },
    by: ['leaders'],
    world: 'reign',
  },
  'who waits to lead looks once': {
    change: { 'node/elections.ts': [['const FOLLOW = 250', 'const FOLLOW = 1e9']] },
    by: ['liveness'],
    at: 7,
    world: 'reign',
  },
  'a node reads settings once': {
    change: {
      'setting/reader.ts': [['if (mark !== this.#mark) return false', 'if (this.#mark === null) return false']],
    },
    by: ['liveness'],
    world: 'dial',
  },
  'every node tries what is on trial': {
    change: { 'policy/setting.ts': [[' && (nodes === null || nodes.includes(id))', '']] },
    by: ['settings'],
    world: 'dial',
  },
  'a paused agent goes on': {
    change: { 'agent/host.ts': [['    this.#paused = paused\n', '    this.#paused = null\n']] },
    by: ['settings'],
    world: 'dial',
  },
  'a rate limit that a setting gives stands before nobody': {
    change: {
      'node/settings-applier.ts': [
        ['host.setGates({ rateLimiter: this.#pace(agent, policy) })', 'this.#pace(agent, policy)'],
      ],
    },
    by: ['policies'],
    world: 'tuning',
  },
  'a circuit breaker that a setting gives stands before nobody': {
    change: {
      'node/settings-applier.ts': [
        ['host.setGates({ breakerGate: this.#guard(agent, policy) })', 'this.#guard(agent, policy)'],
      ],
    },
    by: ['policies'],
    at: 4,
    world: 'tuning',
  },
  'a node goes on by the rate limit that a setting has changed': {
    change: { 'flow/keyed-rate-limit.ts': [['for (const allowance of this.all) allowance.change(rule)', '']] },
    by: ['policies'],
    world: 'tuning',
  },
  'a setting does not bound what all nodes share': {
    change: {
      'node/settings-applier.ts': [
        ['host.bound(null, own.shared ?? agent?.shared ?? null)', 'host.bound(null, agent?.shared ?? null)'],
      ],
    },
    by: ['policies'],
    world: 'tuning',
  },
  'a look does not tell of settings': {
    change: { 'node/poller.ts': [['    this.#options.settings(settings)\n', '']] },
    by: ['policies'],
    world: 'tuning',
  },
  'what waited under a bound of a setting waits on when that is gone': {
    change: {
      'flow/shared-concurrency.ts': [
        ['if (most === null) this.#limits.delete(name)', 'if (most === null) this.#limits.set(name, 0)'],
      ],
    },
    by: ['liveness'],
    world: 'tuning',
  },
  'answers that did not come with a claim are asked for again': {
    change: { 'scheduler/opening.ts': [['claim.unread ?', 'claim.orphaned && claim.unread ?']] },
    by: ['starts'],
    at: 65,
    world: 'adaptive',
  },
  'illness does not lower a limit': {
    change: { 'policy/adaptive.ts': [['bounded(limit * BACKOFF)', 'bounded(limit)']] },
    by: ['limits'],
    at: 15,
    world: 'adaptive',
  },
  'a limit passes its bound': {
    change: {
      'flow/adaptive-concurrency.ts': [['Math.min(this.#rule.most, this.#limit * 2)', 'this.#limit * 2']],
      'policy/adaptive.ts': [['Math.min(most, Math.max(least, next))', 'Math.max(least, next, most * 0)']],
    },
    by: ['slots'],
    world: 'adaptive',
  },
  'whoever asks does not look who else does': {
    change: {
      'store/sqlite/cache.ts': [['WHERE c.flight_until <= ?4 OR c.flight = ?2 OR NOT $', 'WHERE ?4 > 0 OR NOT $']],
    },
    by: ['caches'],
    at: 38,
    world: 'cache',
  },
  'no node says that it asks': {
    change: {
      'cache/action-cache.ts': [
        [
          'if (!policy.shared || shared === null) return ALONE',
          'if (within > 0 || !policy.shared || shared === null) return ALONE',
        ],
      ],
    },
    by: ['caches'],
    at: 4,
    world: 'cache',
  },
  'of those who ask in a process each asks the service': {
    change: {
      'cache/action-cache.ts': [
        ['= this.#flights.get(key.digest)\n', '= this.#flights.get(String([key.digest]).slice(1))\n'],
      ],
    },
    by: ['caches'],
    world: 'cache',
  },
  'an answer outlives its time': {
    change: {
      'cache/action-cache.ts': [
        ['if (now >= answer.until || !this.#validity.holds(answer)) {', 'if (!this.#validity.holds(answer)) {'],
      ],
    },
    by: ['caches'],
    at: 8,
    world: 'cache',
  },
  'what is declared wrong is given on': {
    change: {
      'cache/invalidations.ts': [['names.every((name) => (this.#marks.get(name) ?? 0) <= seen)', 'names.length > 0']],
    },
    by: ['caches'],
    world: 'cache',
  },
  'an answer that was on its way is kept as if it was asked for now': {
    change: {
      'cache/action-cache.ts': [['names, seen, age: 0 })', 'names, seen: this.#validity.generation, age: 0 })']],
    },
    by: ['caches'],
    at: 82,
    world: 'cache',
  },
  'a cache that fails fails the step': {
    change: {
      'cache/action-cache.ts': [
        [
          '      this.#options.failed(error)\n      return NOTHING',
          "      return { outcome: { kind: 'failed', error: toRecord(error), retryable: true }, flight: null }",
        ],
      ],
    },
    by: ['caches'],
    world: 'cache',
  },
  'a run that continues as new keeps a signal that came to nobody': {
    change: {
      'scheduler/function/driver.ts': [
        ["closing?.cause === 'continue' && turn", "closing?.cause === 'returned' && turn"],
      ],
    },
    by: ['events'],
    at: 1440,
    world: 'wire',
  },
  'an answer is acknowledged before it is recorded': {
    change: {
      'wire/session.ts': [
        [
          '    this.#given.delete(ticket)\n    freed()\n',
          '    this.#given.delete(ticket)\n    freed()\n    if (answer) this.#acknowledge(ticket, true)\n',
        ],
      ],
    },
    by: ['wires'],
    world: 'wire',
  },
  'a hello that is late is heard': {
    change: {
      'wire/session.ts': [['return count <= this.#hellos', 'return count === -this.#hellos']],
    },
    by: ['starts'],
    at: 244,
    world: 'wire',
  },
  'who is asked to end what it does not know says nothing': {
    change: {
      'wire/agent.ts': [
        ['this.#unacknowledged.has(name) ? undefined : ', 'this.#unacknowledged.has(name) || name ? undefined : '],
      ],
    },
    by: ['liveness'],
    at: 8569,
    world: 'wire',
  },
  'whoever waits for a welcome says hello for each word of the session before': {
    change: {
      'wire/exchange.ts': [
        ['if (wasConnected && !this.#process.connected) this.#greeted', 'if (!this.#process.connected) this.#greeted'],
      ],
    },
    by: ['starts'],
    at: 162,
    world: 'wire',
  },
  'a server that vanishes after a hello is waited for': {
    change: { 'wire/socket.ts': [['request.session === undefined || request', 'request.session === null || request']] },
    by: ['liveness'],
    at: 712,
    world: 'wire',
  },
  'an answer for an owner that died is not told to the store': {
    change: {
      'wire/sessions.ts': [
        [
          'if (!(await wantedStep(this.#options.state, ticket))) return false',
          'if (await wantedStep(this.#options.state, ticket)) return false',
        ],
      ],
    },
    by: ['answers'],
    at: 70,
    world: 'direct',
  },
  'a node that is silent is taken for there': {
    change: { 'wire/link.ts': [['        this.#doubt()\n        this.urge()', '        this.urge()']] },
    by: ['answers'],
    at: 126,
    world: 'direct',
  },
  'what is said on a connection that is over is heard': {
    change: {
      'wire/session.ts': [['return count <= this.#hellos', 'return count === -this.#hellos']],
    },
    by: ['starts'],
    at: 97,
    world: 'direct',
  },
  'a step waits longer before it is tried again than its policy says': {
    change: { 'kernel/step/policy.ts': [['plan.factor ** (failures - 1)', 'plan.factor ** failures']] },
    by: ['retries'],
  },
  'a value is taken for another of the same size': {
    change: {
      'store/value-references.ts': [['known.text === text && known', 'known.text.length === text.length && known']],
    },
    by: ['values'],
    at: 'value that is handed on',
  },
  'the row of a task names another place than that of its output': {
    change: { 'store/value-references.ts': [['return placeText(known)', 'return placeText(this.#known[0] ?? known)']] },
    by: ['fold'],
    at: 'value that is handed on',
  },
  'a run refers to values of the one that it continues': {
    change: { 'store/value-references.ts': [['    if (base) this.#known = []\n', '']] },
    by: ['quarantine'],
    at: 'value that is handed on',
  },
}
