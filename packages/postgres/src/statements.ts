import { type Act, acts } from './act.ts'
import { type AlertStatement, alertStatements } from './alert.ts'
import { DONE, EXPIRE_AUDIT, TRIM_AUDIT, WRITE_AUDIT, withAct } from './audit.ts'
import {
  BREAKERS_AFTER,
  BREAKERS_NAMED,
  BREAKERS_OF,
  CREATE_BREAKER,
  DROP_BREAKER,
  RATE_LIMITS,
  REST,
  UPDATE_BREAKER,
} from './breaker.ts'
import { FLY, FORGET_ANSWERS, FORGET_MARKS, INVALIDATE, INVALIDATED, LAND, RECALL, REMEMBER } from './cache.ts'
import { HEADS } from './head.ts'
import { IMPORT_TASK } from './import.ts'
import { type KeyStatement, keyStatements } from './key.ts'
import { ELECT_FIRST, ELECT_NEXT, LEADERS_AFTER, LEADERS_NAMED, RESIGN } from './leader.ts'
import { LOGS } from './log.ts'
import { PERMITS, UNSEAT } from './permit.ts'
import { type ProbeStatement, probeStatements } from './probe.ts'
import { CLEAR_SUSPICION, LIFT } from './quarantine.ts'
import { LITTERED } from './queue-vacuum.ts'
import {
  ADOPT_WORK,
  AHEAD,
  ATTEMPTS,
  BACKLOGS,
  COUNTS,
  HEARTBEATS,
  HELD,
  LOCKS_OF_NAME,
  LOCKS_OF_TASK,
  LOST,
  MARKS,
  NEXT_WAKE,
  NODES,
  OWNED,
  PARKED,
  QUEUED,
  QUEUED_FOR,
  QUEUES,
  READY,
  RECORDS,
  REPLAY,
  TASK,
} from './reads.ts'
import { DROP_SCHEDULE, SCHEDULE_NAMED, SCHEDULES_AFTER, SCHEDULES_DUE } from './schedule.ts'
import { inSchema } from './schema.ts'
import { type SecretStatement, secretStatements } from './secret.ts'
import {
  CREATE_SETTING,
  SETTING_CHANGES,
  SETTINGS_AFTER,
  SETTINGS_MARK,
  SETTINGS_NAMED,
  UPDATE_SETTING,
} from './setting.ts'
import type { Statement } from './slot.ts'
import { COUNTING, RECOUNT, TALLIES } from './statistics.ts'

type Gated = 'commit_gated' | 'submit_gated'
type Call =
  | 'write_schedule'
  | 'commit'
  | 'commit_one'
  | 'submit'
  | 'post_on_terms'
  | 'take_tasks'
  | 'quarantine'
  | 'terminate'
  | 'truncate_history'
  | 'take_work'
  | 'reply'
type Read =
  | AlertStatement
  | KeyStatement
  | ProbeStatement
  | SecretStatement
  | 'breakersOf'
  | 'breakersNamed'
  | 'rateLimits'
  | 'breakersAfter'
  | 'createBreaker'
  | 'updateBreaker'
  | 'dropBreaker'
  | 'readCache'
  | 'writeCache'
  | 'beginFill'
  | 'endFill'
  | 'invalidate'
  | 'invalidated'
  | 'forgetAnswers'
  | 'forgetMarks'
  | 'leadersNamed'
  | 'leadersAfter'
  | 'electFirst'
  | 'electNext'
  | 'resign'
  | 'settingsNamed'
  | 'settingsAfter'
  | 'settingChanges'
  | 'createSetting'
  | 'updateSetting'
  | 'schedulesDue'
  | 'scheduleNamed'
  | 'schedulesAfter'
  | 'dropSchedule'
  | 'ahead'
  | 'queued'
  | 'parked'
  | 'attempts'
  | 'locksOfTask'
  | 'locksOfName'
  | 'heldLocks'
  | 'queues'
  | 'backlogs'
  | 'ready'
  | 'queuedFor'
  | 'task'
  | 'taskVersions'
  | 'records'
  | 'lostRecords'
  | 'owned'
  | 'replay'
  | 'nodes'
  | 'heartbeats'
  | 'counts'
  | 'releaseQuarantine'
  | 'importTask'
  | 'clearSuspicion'
  | 'adoptWork'
  | 'nextWake'
  | 'permits'
  | 'queueHeads'
  | 'tallies'
  | 'counting'
  | 'recount'
  | 'logs'
  | 'writeAudit'
  | 'expireAudit'
  | 'trimAudit'
export type CallWithAct = 'submit' | 'post_on_terms' | 'terminate' | 'truncate_history' | 'write_schedule'

/** Functions of Triarch's schema, with the number of their parameters. Calls begin with the slot and the number. */
const calls: Readonly<Record<Call, number>> = {
  write_schedule: 22,
  commit: 82,
  commit_one: 32,
  submit: 13,
  post_on_terms: 15,
  take_tasks: 15,
  quarantine: 9,
  terminate: 14,
  truncate_history: 15,
  take_work: 12,
  reply: 9,
}
const plain = {
  letters_beside: 4,
  letters_each: 7,
  letters_of: 4,
  pulse_work: 4,
  beat: 6,
  leave: 2,
  lead: 4,
  declare_dead: 2,
  sweep: 7,
  prune: 9,
  poll: 6,
  clock: 1,
  write_logs: 15,
  follow_history: 7,
  tally_history: 8,
} as const
type Plain = keyof typeof plain
const reads: Readonly<Record<Read, string>> = {
  ...alertStatements,
  ...keyStatements,
  ...secretStatements,
  ...probeStatements,
  permits: PERMITS,
  queueHeads: HEADS,
  tallies: TALLIES,
  counting: COUNTING,
  recount: RECOUNT,
  breakersOf: BREAKERS_OF,
  breakersNamed: BREAKERS_NAMED,
  rateLimits: RATE_LIMITS,
  breakersAfter: BREAKERS_AFTER,
  createBreaker: CREATE_BREAKER,
  updateBreaker: UPDATE_BREAKER,
  dropBreaker: DROP_BREAKER,
  readCache: RECALL,
  writeCache: REMEMBER,
  beginFill: FLY,
  endFill: LAND,
  invalidate: INVALIDATE,
  invalidated: INVALIDATED,
  forgetAnswers: FORGET_ANSWERS,
  forgetMarks: FORGET_MARKS,
  leadersNamed: LEADERS_NAMED,
  leadersAfter: LEADERS_AFTER,
  electFirst: ELECT_FIRST,
  electNext: ELECT_NEXT,
  resign: RESIGN,
  settingsNamed: SETTINGS_NAMED,
  settingsAfter: SETTINGS_AFTER,
  settingChanges: SETTING_CHANGES,
  createSetting: CREATE_SETTING,
  updateSetting: UPDATE_SETTING,
  schedulesDue: SCHEDULES_DUE,
  scheduleNamed: SCHEDULE_NAMED,
  schedulesAfter: SCHEDULES_AFTER,
  dropSchedule: DROP_SCHEDULE,
  ahead: AHEAD,
  queued: QUEUED,
  parked: PARKED,
  attempts: ATTEMPTS,
  locksOfTask: LOCKS_OF_TASK,
  locksOfName: LOCKS_OF_NAME,
  heldLocks: HELD,
  queues: QUEUES,
  backlogs: BACKLOGS,
  ready: READY,
  queuedFor: QUEUED_FOR,
  task: TASK,
  taskVersions: MARKS,
  records: RECORDS,
  lostRecords: LOST,
  owned: OWNED,
  replay: REPLAY,
  nodes: NODES,
  heartbeats: HEARTBEATS,
  counts: COUNTS,
  releaseQuarantine: LIFT,
  importTask: IMPORT_TASK,
  clearSuspicion: CLEAR_SUSPICION,
  adoptWork: ADOPT_WORK,
  nextWake: NEXT_WAKE,
  logs: LOGS,
  writeAudit: WRITE_AUDIT,
  expireAudit: EXPIRE_AUDIT,
  trimAudit: TRIM_AUDIT,
}
const callActs = {
  submit: 'created',
  post_on_terms: 'posted',
  terminate: 'yes',
  truncate_history: 'yes',
  write_schedule: 'written',
} as const satisfies Record<CallWithAct, keyof typeof DONE>

export type Statements = Record<Call | Gated | Plain | Read | `${Act}Act` | `${CallWithAct}_act`, Statement>

/** Every fixed statement, prepared under its name where sessions keep prepared statements. */
export function statementsIn(schema: string): Statements {
  const statement = (name: string, sql: string, numbered: boolean) => [
    name,
    { name: `triarch_${name}`, sql: inSchema(sql, schema), numbered, bounded: sql.includes(BOUND) },
  ]
  return Object.fromEntries([
    ...Object.entries(calls).map(([name, count]) => statement(name, call(name, count), true)),
    ...bounded.map((name) => statement(name, boundedCall(name, calls[name]), true)),
    statement('take_tasks', unflushedTake(calls.take_tasks), true),
    statement('commit', commit('commit', ofOne(boundedParameters(calls.commit))), true),
    statement('commit_one', commit('commit_one', boundedParameters(calls.commit_one)), true),
    statement('commit_gated', gated('commit', calls.commit), true),
    statement('submit_gated', gated('submit', calls.submit), true),
    ...Object.entries(plain).map(([name, count]) => statement(name, call(name, count), false)),
    statement('pulse_work', call('pulse_work', plain.pulse_work).replace('$3', worksOf(3, plain.pulse_work)), false),
    statement('poll', looked(plain.poll), false),
    statement('sweep', swept(plain.sweep), false),
    ...Object.entries({ ...reads, ...acts }).map(([name, sql]) => statement(name, sql, false)),
    ...(Object.keys(callActs) as CallWithAct[]).map((name) => {
      const count = calls[name]
      const whole = bounded.some((it) => it === name) ? boundedCall(name, count) : call(name, count)
      return statement(`${name}_act`, withAct(whole, count, DONE[callActs[name]]), true)
    }),
  ]) as Statements
}

/** Selects the requests of this parameter that match the four parameters after the call's own. */
function worksOf(ids: number, count: number): string {
  return `triarch.works_of($${ids}, ${[1, 2, 3, 4].map((next) => `$${count + next}`).join(', ')})`
}

function call(name: string, count: number): string {
  return `SELECT * FROM triarch.${name}(${parameters(count)})`
}

/** How long a bounded call waits for rows that another transaction holds (ms); then it fails, and its caller decides. */
const WAITS = 200

/** Calls that users' transactions can block: by the id of a task, by a lock, or by a task to come after. */
const bounded = ['submit', 'post_on_terms', 'write_schedule', 'reply'] as const
const BOUND = `(SELECT set_config('lock_timeout', '${WAITS}', true) AS bound OFFSET 0) b`

/**
 * A claim of tasks that were never claimed before is committed without a flush. Before the node acts on the claim it
 * writes a record in a later transaction, and with that the claim is durable; if a crash of the server undoes both,
 * nothing has happened. A task that was claimed before may have attempts that begin without a record.
 */
const UNFLUSHED = `(SELECT set_config('synchronous_commit', 'off', true) AS bound OFFSET 0) b`

function unflushedTake(count: number): string {
  const had = `CASE WHEN x.seq = 0 AND (x.text::json ->> 'epoch')::bigint > 1 THEN set_config('synchronous_commit', 'on', true) END`
  return `SELECT x.*, ${had} AS had FROM ${UNFLUSHED}, LATERAL triarch.take_tasks(${boundedParameters(count)}) x`
}

/** Returns the parameters, where the first depends on the bound, so that the setting is in effect before the call runs. */
function boundedParameters(count: number, of = 'b.bound IS NULL'): string {
  return `CASE WHEN ${of} THEN NULL ELSE $1 END::text, ${parameters(count).slice(4)}`
}

function boundedCall(name: string, count: number, by = BOUND): string {
  return `SELECT x.* FROM ${by}, LATERAL triarch.${name}(${boundedParameters(count)}) x`
}

/** Returns the statement of `poll`, with the mark of the settings and whether there are cooldowns. */
function looked(count: number): string {
  return `SELECT l.*, ${SETTINGS_MARK}, ${REST} FROM triarch.poll(${parameters(count)}) l`
}

/**
 * Returns the statement of `sweep`. In the same statement the leader also examines some of the locks, what no node has
 * taken, dead rows of the queues, and permits whose requests are gone, because all depend on its lease.
 */
function swept(count: number): string {
  return `
WITH unseated AS (${UNSEAT})
SELECT s.report, l.told, o.untaken, o.schedules, CASE WHEN s.report IS NOT NULL THEN ${LITTERED} END AS littered FROM triarch.sweep(${parameters(count)}) AS s (report),
  LATERAL (SELECT triarch.sweep_locks($1, least($4, 200)) AS told WHERE s.report IS NOT NULL) l,
  LATERAL (SELECT * FROM triarch.overlooked($1, $4) WHERE l.told IS NOT NULL OR s.report IS NOT NULL) o`
}

/** The owners of tasks that get messages because tasks of the batch stopped (migrations/0001/lock.sql). */
const TOLD = `nullif(current_setting('triarch_gate.told', true), '')`

function commit(name: string, given: string): string {
  return `SELECT c.answer, c.owners, ${TOLD} FROM ${BOUND}, LATERAL triarch.${name}(${given}) c`
}

/** A commit is usually of one node: its name is sent once, and not with every transition, where it would be a tenth of the data. */
function ofOne(parameters: string): string {
  const filled = (names: string, as: string) =>
    `CASE cardinality(${names}::text[]) WHEN 1 THEN array_fill((${names}::text[])[1], ARRAY[cardinality(${as}::bigint[])]) ELSE ${names} END`
  return parameters.replace('$5', filled('$5', '$3')).replace('$19', filled('$19', '$11'))
}

/** Returns a statement that requests locks after the call itself, because the answer of the call names the tasks. */
function gated(name: string, count: number): string {
  const owners = name === 'commit' ? 'x.owners' : 'NULL::text[]'
  const columns = name === 'commit' ? 'x (answer, owners)' : 'x (answer)'
  const bounded = boundedParameters(count, 'f.fresh IS NULL')
  const given = name === 'commit' ? ofOne(bounded) : bounded
  return `
WITH f AS MATERIALIZED (SELECT triarch.answered(${boundedParameters(2)}) IS NULL AS fresh FROM ${BOUND}),
  c AS MATERIALIZED (SELECT f.fresh, x.answer, ${owners} AS owners
    FROM f, LATERAL triarch.${name}(${given}) ${columns})
SELECT c.answer, c.owners || g.owners, ${TOLD}, g.refused FROM c, LATERAL triarch.gate(c.fresh, c.answer, $${count + 1}) g`
}

function parameters(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}
