import type { PeerPlace } from '../agent/peer.ts'
import { defaultThreads } from '../agent/threads.ts'
import { type AlertOptions, type AlertSettings, alertSettings } from '../alert/options.ts'
import type { Agent, TaskHook, Workflow } from '../definition/definition.ts'
import type { FairnessOptions } from '../definition/fairness.ts'
import type { Middleware } from '../definition/middleware.ts'
import { type Retention, type RetentionOption, toRetention } from '../definition/retention.ts'
import { type KnownSetting, knownSetting, type Setting } from '../definition/setting.ts'
import type { Environment } from '../environment/environment.ts'
import { heapLimit } from '../environment/system.ts'
import { TriarchError } from '../error/error.ts'
import { checkNames } from '../health/checks.ts'
import { type HealthOptions, type HealthSettings, healthSettings } from '../health/options.ts'
import { DEFAULT_PLAN_LIMITS } from '../planning/limits.ts'
import type { SchedulerLimits } from '../scheduler/host.ts'
import { type Codec, checkCodecs } from '../store/codec/codec.ts'
import type { StoreFactory } from '../store/factory.ts'
import type { TelemetryListeners } from '../telemetry/catalogue.ts'
import { checkTelemetry } from '../telemetry/listening.ts'
import { checkLogger, checkLogLevel, type Logger } from '../telemetry/logger.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import type { LogLevel } from '../value/level.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { DEFAULT_PAYLOAD_LIMIT } from '../value/payload.ts'
import { checkTags } from '../value/tag.ts'
import { type AuditKeeping, type AuditRules, auditRules } from './audit.ts'
import { type AnswerCache, type AnswerCacheOptions, answerCacheOf } from './cache.ts'
import { type DirectOptions, directOf } from './direct.ts'
import { type LineRule, lineRuleOf } from './line.ts'

/**
 * What a node does: own tasks (scheduler), run attempts (agent), watch over both (supervisor).
 * @example const roles: readonly Role[] = ['scheduler', 'supervisor']
 */
export type Role = 'scheduler' | 'agent' | 'supervisor'

/**
 * What a node is made of. Only `store` is needed to submit and watch tasks.
 * @example
 * const triarch = new Triarch({
 *   store: sqlite('shop.db'),
 *   workflows: [fulfil],
 *   agents: [payments],
 *   roles: ['scheduler', 'agent'],
 *   retention: '30d',
 * })
 */
export interface TriarchOptions {
  /** The store: `sqlite(…)`, `postgres(…)`, `memory()`. */
  store: StoreFactory
  /** The workflows that this node can run; none by default. Submitting tasks does not need them. */
  workflows?: readonly Workflow[]
  /** The agents whose actions this node can run; none by default. */
  agents?: readonly Agent[]
  /** The node's roles; all three by default. */
  roles?: readonly Role[]
  /** A node without a heartbeat for this long counts as dead: '10s'. */
  lease?: Duration
  /**
   * How long a process whose event loop is blocked keeps its lease: '5m'. Meanwhile its tasks run nowhere else; after that the node
   * counts as dead. Applies where a thread renews the lease: in every store except those in memory.
   */
  stall?: Duration
  /** Most threads for actions that run in `thread`; each is started when it is needed. Default: the number of cores. */
  threads?: number
  /** Interval between two sweeps of the supervisor: '1s'. */
  sweep?: Duration
  /** Longest interval between two polls of the store for changes by other processes: '25ms'. */
  poll?: Duration
  /** How long running steps may go on after stop(): '10s'. */
  grace?: Duration
  /**
   * How long stopped tasks are kept before the supervisor deletes them with their histories: a duration, or one by outcome (`{ success:
   * '30d', error: '52w' }`); workflows may override it. For ever by default. A deleted id is forgotten: submitted again, it is a new
   * task. Children are kept as long as their parent.
   */
  retention?: RetentionOption
  /**
   * Whether, or how, the supervisor counts events of histories for `statistics.figures({ by })`; false by default. The leader's option counts: give
   * all supervisors the same. Costs a small read a sweep, and a commit for each hundred tasks that have made progress.
   */
  statistics?: boolean | StatisticsOptions
  /** Limits; each has a default. */
  limits?: Partial<Limits>
  /** Middleware around everything that happens in this process: what is submitted, planned, attempted and shown; none by default. */
  middleware?: readonly Middleware[]
  /** Hooks for every task submitted here, in addition to those of its workflow; none by default. */
  hooks?: readonly TaskHook[]
  /** Called with engine errors that no caller gets, and with errors of listeners. By default they become process warnings. */
  onError?: (error: unknown) => unknown
  /** Whether this node carries out operations (`tasks.operate`), with a workflow and an agent named `triarch-operation`; false by default. */
  operations?: boolean
  /** Whether alerts without a listener (`on('alert')`) are written to stderr, one line for each cause; true by default. */
  notices?: boolean
  /**
   * Telemetry listeners: functions by event name (docs/reference/telemetry.md); none by default. The same events are published on
   * `node:diagnostics_channel` as `triarch:<name>`.
   */
  telemetry?: TelemetryListeners
  /**
   * Receives events of the engine as structured lines: `console`, pino, or anything shaped like them; none by default. With a logger, no
   * alerts or errors go to stderr. What it throws goes to `onError`; lines that a slow logger has no time for are dropped.
   */
  logger?: Logger
  /** Least level of the logger's lines: 'debug', 'info', 'warn' (default), 'error', or 'silent' for none. `triarch.logLevel` changes it. */
  logLevel?: LogLevel | 'silent'
  /** Where answers of actions with a `cache` are kept. By default in the memory of the process and in the state store. */
  cache?: AnswerCacheOptions
  /** How much of the audit is kept (docs/concepts/audit.md). The leading supervisor's options count. */
  audit?: AuditKeeping
  /**
   * How payloads are encoded in the store: `compress()`, `encrypt({ keys })`, your own codec, or several in the order in which they
   * encode. By default they are not encoded. Every process on a store needs the codecs that decode what the others encode.
   */
  codec?: Codec | readonly Codec[]
  /**
   * What the leading supervisor watches for, and who is alerted (docs/concepts/alerts.md): true, or how; false by default. Give all nodes
   * with that role the same. Costs about twelve small reads every 15 s, in one process.
   */
  alerts?: boolean | AlertOptions
  /** What `health.check()` checks, and the bounds at which each check is not healthy; each has a default. */
  health?: HealthOptions
  /**
   * Shares the queue of ready tasks between tenants. Called for each task that is submitted or scheduled here; the tasks it starts belong
   * to the same share. First come, first served by default (docs/concepts/queues.md). Give all processes that submit tasks the same.
   */
  fairness?: FairnessOptions
  /**
   * Each such span that a task waits raises its priority by one level, so that no task starves: 1 s to 30 days. Strict priorities by
   * default. Give all schedulers the same. Cannot be combined with `fairness`.
   */
  ageing?: Duration
  /** Settings that this process reads; those that its agents and workflows follow are included. None by default. */
  settings?: readonly Setting<unknown>[]
  /** A file on this machine that keeps the last good values of settings, for a start before the store answers; none by default. */
  settingsFile?: string
  /** Labels by which changes can first be made on some nodes: up to 32 short strings; none by default. */
  labels?: Readonly<Record<string, string>>
  /**
   * Gives attempts to agents of other processes without a queue between them (docs/concepts/direct.md). A scheduler listens, on this
   * machine only (true) or on the given address; a node with agents connects to those that listen. Set it on both. False by default.
   */
  direct?: boolean | DirectOptions
  /** Clock, timers, ids and randomness; the real ones by default. */
  environment?: Environment
}

/**
 * How histories are counted.
 * @example const statistics: StatisticsOptions = { tag: 'tenant', keep: '90d' }
 */
export interface StatisticsOptions {
  /**
   * The tag whose values are counted separately, such as a tenant; none by default. A tag with very many values makes the statistics
   * large.
   */
  tag?: string
  /** How long hourly counts are kept: '90d'. */
  keep?: Duration
}

/**
 * The limits, and what happens when one is exceeded.
 * @example const triarch = new Triarch({ store: sqlite('shop.db'), limits: { payload: 1_048_576 } })
 */
export interface Limits {
  /** Bytes of JSON of one input, output or signal: 262,144. Larger: PAYLOAD_TOO_LARGE. */
  payload: number
  /** Events of one run of a task: 50,000. More: the task is undone with HISTORY_TOO_LONG. */
  history: number
  /** Bytes of the events of one run of a task: 33,554,432. More: the task is undone with HISTORY_TOO_LONG. */
  historyBytes: number
  /** Steps, timers, waits and children outstanding in one task: 10,000. More: FAN_OUT_TOO_WIDE. */
  fanOut: number
  /** Signals kept for a task that does not wait for them: 10,000. More are refused with INBOX_FULL. */
  inbox: number
  /**
   * Bytes of the signals kept for a task that does not wait for them: 16,777,216, and at most half of `historyBytes`. More are refused
   * with INBOX_FULL; an empty inbox takes one signal of any size. Kept signals count towards neither `history` nor `historyBytes`.
   */
  inboxBytes: number
  /** Steps of one plan: 20,000. More: PLAN_TOO_LARGE. */
  planSteps: number
  /** Bytes of JSON of all inputs of one plan: 16,777,216. More: PLAN_TOO_LARGE. */
  planBytes: number
  /** Tasks in memory of one node: 5,000. More wait in the store. */
  tasks: number
  /**
   * Bytes of the histories of tasks in memory of one node: a quarter of its heap. More wait in the store. A task whose own history is
   * larger is left for a node with more memory, and quarantined (TASK_QUARANTINED) if there is none.
   */
  memory: number
}

export interface Settings extends LineRule {
  roles: ReadonlySet<Role>
  lease: number
  stall: number
  threads: number
  sweep: number
  poll: number
  grace: number
  notices: boolean
  retention: Retention
  statistics: { tag: string | null; keep: number } | null
  limits: SchedulerLimits
  settings: readonly KnownSetting[]
  settingsFile: string | null
  labels: Readonly<Record<string, string>>
  codecs: readonly Codec[]
  cache: AnswerCache
  audit: AuditRules
  telemetry: TelemetryListeners
  logger: Logger | null
  logLevel: LogLevel | 'silent'
  health: HealthSettings
  alerts: AlertSettings | null
  /** Null: attempts for agents of other processes go through their queues. */
  direct: PeerPlace | null
}

const allRoles: readonly Role[] = ['scheduler', 'agent', 'supervisor']
const optionKeys = [
  'store',
  'workflows',
  'agents',
  'roles',
  'lease',
  'stall',
  'threads',
  'sweep',
  'poll',
  'grace',
  'retention',
  'statistics',
  'limits',
  'middleware',
  'hooks',
  'onError',
  'notices',
  'operations',
  'environment',
  'codec',
  'cache',
  'audit',
  'telemetry',
  'logger',
  'logLevel',
  'health',
  'alerts',
  'fairness',
  'ageing',
  'settings',
  'settingsFile',
  'labels',
  'direct',
] as const

/** Checks the options and fills in the defaults. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function settingsOf(options: TriarchOptions): Settings {
  if (options === undefined) throw new TriarchError('INVALID_OPTION', 'Triarch: give it options, at least a store')
  checkOptions('Triarch', options, optionKeys)
  for (const list of ['workflows', 'agents', 'roles', 'middleware', 'hooks', 'settings'] as const) {
    if (options[list] !== undefined && !Array.isArray(options[list]))
      throw new TriarchError('INVALID_OPTION', `Triarch: ${list} must be an array`)
  }
  if (options.onError !== undefined) checkFunction('Triarch: onError', options.onError)
  if (options.operations !== undefined && typeof options.operations !== 'boolean')
    throw new TriarchError('INVALID_OPTION', 'Triarch: operations must be true or false')
  if (options.notices !== undefined && typeof options.notices !== 'boolean')
    throw new TriarchError('INVALID_OPTION', 'Triarch: notices must be true or false')
  if (typeof options.store !== 'function') {
    throw new TriarchError('INVALID_OPTION', "Triarch: store must be a store, such as sqlite('orders.db')")
  }
  const roles = new Set(options.roles ?? allRoles)
  for (const role of roles) {
    if (!allRoles.includes(role))
      throw new TriarchError('INVALID_OPTION', `Triarch: role "${role}" must be one of ${allRoles.join(', ')}`)
  }
  if (options.settingsFile !== undefined && (typeof options.settingsFile !== 'string' || options.settingsFile === ''))
    throw new TriarchError('INVALID_OPTION', 'Triarch: settingsFile must be the path of a file')
  const limits = options.limits ?? {}
  checkOptions('Triarch: limits', limits, [
    'payload',
    'history',
    'historyBytes',
    'fanOut',
    'inbox',
    'inboxBytes',
    'planSteps',
    'planBytes',
    'tasks',
    'memory',
  ])
  const bound = (name: keyof Limits, standard: number) =>
    checkInteger(`Triarch: limits.${name}`, limits[name] ?? standard, 1, 1e12)
  const historyBytes = bound('historyBytes', 32 * 1024 * 1024)
  return {
    roles,
    lease: positiveMilliseconds(options.lease ?? '10s', 'lease'),
    stall: milliseconds(options.stall ?? '5m', 'stall'),
    threads: checkInteger('Triarch: threads', options.threads ?? defaultThreads(), 1, 1_000),
    sweep: positiveMilliseconds(options.sweep ?? '1s', 'sweep'),
    poll: positiveMilliseconds(options.poll ?? '25ms', 'poll'),
    grace: milliseconds(options.grace ?? '10s', 'grace'),
    notices: options.notices ?? true,
    settings: (options.settings ?? []).map((it) => knownSetting('Triarch: settings', it)),
    settingsFile: options.settingsFile ?? null,
    labels: checkTags('Triarch: labels', options.labels ?? {}),
    cache: answerCacheOf(options.cache),
    audit: auditRules(options.audit),
    codecs: checkCodecs('Triarch', options.codec),
    telemetry: checkTelemetry('Triarch: telemetry', options.telemetry),
    logger: checkLogger('Triarch: logger', options.logger),
    logLevel: checkLogLevel('Triarch: logLevel', options.logLevel ?? 'warn'),
    health: healthSettings(options.health, checkNames),
    alerts: alertSettings(options.alerts),
    ...lineRuleOf(options),
    direct: directOf(options.direct),
    retention: toRetention(options.retention, 'Triarch: retention'),
    statistics: countingOf(options.statistics),
    limits: {
      payload: bound('payload', DEFAULT_PAYLOAD_LIMIT),
      history: bound('history', 50_000),
      historyBytes,
      fanOut: bound('fanOut', 10_000),
      inbox: bound('inbox', 10_000),
      inboxBytes: Math.min(bound('inboxBytes', 16 * 1024 * 1024), Math.ceil(historyBytes / 2)),
      planSteps: bound('planSteps', DEFAULT_PLAN_LIMITS.steps),
      planBytes: bound('planBytes', DEFAULT_PLAN_LIMITS.bytes),
      tasks: bound('tasks', 5_000),
      memory: bound('memory', Math.floor(heapLimit() / 4)),
      longSleep: 5_000,
      idle: 10_000,
    },
  }
}

function countingOf(option: TriarchOptions['statistics'] = false): Settings['statistics'] {
  if (option === false) return null
  const given = option === true ? {} : option
  checkOptions('Triarch: statistics', given, ['tag', 'keep'])
  if (given.tag !== undefined && (typeof given.tag !== 'string' || given.tag === ''))
    throw new TriarchError('INVALID_OPTION', 'Triarch: statistics.tag must be the name of a tag')
  return { tag: given.tag ?? null, keep: positiveMilliseconds(given.keep ?? '90d', 'statistics.keep') }
}
