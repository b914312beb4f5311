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
import { DEFAULT_PLAN_LIMITS } from '../planning/planning.ts'
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
import { type LineRule, lineOf } from './line.ts'

/**
 * What a node does: own tasks, run attempts, watch over both.
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
  /** Where everything is kept: `sqlite(…)`, `postgres(…)`, `memory()`. */
  store: StoreFactory
  /** Those that this node can run; none. Submitting needs none of them. */
  workflows?: readonly Workflow[]
  /** Those whose actions this node can run; none. */
  agents?: readonly Agent[]
  /** All three when not given. */
  roles?: readonly Role[]
  /** A node that says nothing for this long is taken for dead: '10s'. */
  lease?: Duration
  /**
   * How long a process whose event loop stands still keeps its lease: '5m'. Its tasks are run nowhere else meanwhile; beyond
   * it is taken for dead. Counts where a thread renews the lease: in every store but those in memory.
   */
  stall?: Duration
  /** Most threads for actions that run in `thread`, each started when it is needed: as many as the machine has cores. */
  threads?: number
  /** Distance between two looks of the supervisor: '1s'. */
  sweep?: Duration
  /** Longest time between two looks into the store for what other processes wrote: '25ms'. */
  poll?: Duration
  /** How long running steps may go on after stop(): '10s'. */
  grace?: Duration
  /**
   * How long stopped tasks are kept before the supervisor drops them, with their histories: a duration, or one by outcome
   * (`{ success: '30d', error: '52w' }`); workflows may say otherwise. For ever when not given. A dropped id is forgotten:
   * submitted again, it is a new task. Children stay as long as their parent.
   */
  retention?: RetentionOption
  /**
   * Whether the supervisor counts what histories say, for `statistics({ by })`: true, or how; false. Whoever leads counts as it was told:
   * say the same to all nodes with that role. It costs one small read a sweep, and one commit for each hundred tasks that have gone on.
   */
  statistics?: boolean | StatisticsOptions
  /** Bounds, each with a default of its own. */
  limits?: Partial<Limits>
  /** Around all that happens in this process: what is submitted, planned, attempted and shown here; none. */
  middleware?: readonly Middleware[]
  /** For every task submitted here, besides those of its workflow; none. */
  hooks?: readonly TaskHook[]
  /** Takes engine errors that nobody else hears of, and those of listeners; a process warning when not given. */
  onError?: (error: unknown) => unknown
  /**
   * Whether this node carries out operations on many tasks (`operate`): it then runs their workflow and their agent, both named
   * `triarch-operation`; false.
   */
  operations?: boolean
  /** Whether alerts that nobody listens to (`on('alert')`) are said on stderr, one line for each cause; true. */
  notices?: boolean
  /**
   * Who is told of what the engine does: a function by the event's name (docs/reference/telemetry.md); nobody. The same is published
   * on `node:diagnostics_channel` as `triarch:<name>`.
   */
  telemetry?: TelemetryListeners
  /**
   * Takes what the engine tells as structured lines, one for each event: `console`, pino, or what is shaped like one of them; nobody. With
   * it, neither alerts nor errors are said on stderr. What it throws goes to `onError`; lines that a slow one has no time for are dropped.
   */
  logger?: Logger
  /** How much a line for the logger must matter: 'debug', 'info', 'warn', 'error', or 'silent' for none; 'warn'. `triarch.logLevel` changes it. */
  logLevel?: LogLevel | 'silent'
  /** Where answers of actions with a `cache` are kept: in the memory of the process, and in the state store. */
  cache?: AnswerCacheOptions
  /** How much is kept of who did what to the system (docs/concepts/audit.md); the leading supervisor's word counts. */
  audit?: AuditKeeping
  /**
   * How payloads are kept in the store: `compress()`, `encrypt({ keys })`, your own, or several in the order in which they
   * encode. As they are when not given. Every process on a store needs what decodes what the others encode.
   */
  codec?: Codec | readonly Codec[]
  /**
   * What the leading supervisor watches for, and who is told (docs/concepts/alerts.md): true, or how; false. Say the same to all nodes with that
   * role. It costs about twelve small reads every 15 s, in one process.
   */
  alerts?: boolean | AlertOptions
  /** What `health()` looks at, and when that is not well: its own checks, by bounds that each have a default. */
  health?: HealthOptions
  /**
   * Shares the line of ready tasks between tenants: is asked for each task that is submitted or scheduled here; what a task starts is of its
   * share. First come first served when not given (docs/concepts/queues.md). Say the same to all processes that submit.
   */
  fairness?: FairnessOptions
  /**
   * Each such span that a task waits to be taken up counts as one level of priority more, so that nothing starves: 1 s to 30 days; strict
   * priorities when not given. Say the same to all schedulers. Not with `fairness`.
   */
  ageing?: Duration
  /** Settings that this process reads; those that its agents and workflows follow are among them. None besides. */
  settings?: readonly Setting<unknown>[]
  /**
   * A file of this machine in which the last good values of settings are kept, for a start without the store: they count until it has
   * answered. None when not given.
   */
  settingsFile?: string
  /** What this node is told apart by, for changes that begin on some: up to 32 short strings; none. */
  labels?: Readonly<Record<string, string>>
  /**
   * Gives attempts to agents of other processes without a queue between them (docs/concepts/direct.md): as a scheduler this node listens, on
   * this machine alone (true) or where it is told; with agents, it connects to those that listen. Say so to both. False.
   */
  direct?: boolean | DirectOptions
  /** Clock, timers, ids and randomness; the real ones when not given. */
  environment?: Environment
}

/**
 * How histories are counted.
 * @example const statistics: StatisticsOptions = { tag: 'tenant', keep: '90d' }
 */
export interface StatisticsOptions {
  /** The tag whose values are counted apart, such as a tenant; none. What has too many values makes the statistics large. */
  tag?: string
  /** How long hours are kept: '90d'. */
  keep?: Duration
}

/**
 * Every bound, and what crossing it means.
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
   * Bytes of the signals kept for a task that does not wait for them: 16,777,216, and half of `historyBytes` at most. More
   * are refused with INBOX_FULL; one finds room in an empty inbox, whatever its size. What is kept counts towards neither `history` nor `historyBytes`.
   */
  inboxBytes: number
  /** Steps of one plan: 20,000. More: PLAN_TOO_LARGE. */
  planSteps: number
  /** Bytes of JSON of all inputs of one plan: 16,777,216. More: PLAN_TOO_LARGE. */
  planBytes: number
  /** Tasks in memory of one node: 5,000. More wait in the store. */
  tasks: number
  /**
   * Bytes of the histories of tasks in memory of one node: a quarter of its heap. More wait in the store; a task that has
   * more by itself is left for a larger node, and set apart (TASK_QUARANTINED) when there is none.
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
  /** Null: attempts go to agents elsewhere through their queues. */
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
    ...lineOf(options),
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
