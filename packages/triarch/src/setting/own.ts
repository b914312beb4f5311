import {
  type AgentPolicy,
  checkAgentPolicy,
  checkReason,
  checkWorkflowPolicy,
  type WorkflowPolicy,
} from '../definition/agent-policy.ts'
import { checkWeights, type FairnessWeights } from '../definition/fairness.ts'
import { type RetentionOption, toRetention } from '../definition/retention.ts'
import { AGENT_SETTING, KnownSetting, OWN_SETTINGS, WORKFLOW_SETTING } from '../definition/setting.ts'
import { messageOf, TriarchError } from '../error/error.ts'
import { checkLogLevel } from '../telemetry/logger.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import type { LogLevel } from '../value/level.ts'
import { checkOptions } from '../value/options.ts'
import type { StandardSchema } from '../value/schema.ts'

/**
 * The engine's own options that can change while it runs: the setting `triarch.engine`.
 * @example
 * const change: EnginePolicy = { closed: 'we move to another bank', retention: '30d' }
 * await triarch.settings.get('triarch.engine').change(change, { reason: 'maintenance' })
 */
export interface EnginePolicy {
  /** All submissions are refused with SUBMISSIONS_PAUSED, for this reason; they are accepted. */
  closed?: string
  /** How long stopped tasks are kept if their workflow has no `retention`; as the options of `Triarch`. */
  retention?: RetentionOption
  /** The lowest level of lines for the `logger`: 'debug', 'info', 'warn', 'error', or 'silent'; as the option of the process. */
  logLevel?: LogLevel | 'silent'
  /** Interval between two sweeps of the supervisor: 100 ms to a minute; as the options. */
  sweep?: Duration
  /** Time without a heartbeat after which a node counts as dead, and another supervisor leads: 3 s to 10 minutes; as the options. */
  lease?: Duration
  /**
   * Weights of tenants in the order of ready tasks, in processes with `fairness`; they override `fairness.weight` for later submissions.
   */
  weights?: FairnessWeights
}

/**
 * Pauses of schedules: the setting `triarch.schedules`.
 * @example
 * const change: SchedulesPolicy = { paused: { 'billing-*': 'the books are closed' } }
 */
export interface SchedulesPolicy {
  /** The reason for each pause, by the name of a schedule, or by a prefix of names followed by `*`; none. */
  paused?: Readonly<Record<string, string>>
}

const ENGINE = `${OWN_SETTINGS}engine`
const SCHEDULES = `${OWN_SETTINGS}schedules`
/** Largest number of names in one list. */
const MOST_PATTERNS = 1_000

/** The engine's own setting of this name; null: the name is not one of them. */
export function ownSetting(name: string): KnownSetting | null {
  const part = (prefix: string) => (name.startsWith(prefix) && !name.slice(prefix.length).includes('.') ? name : null)
  if (part(AGENT_SETTING)) return own<AgentPolicy>(name, (value) => checkAgentPolicy(name, value))
  if (part(WORKFLOW_SETTING)) return own<WorkflowPolicy>(name, (value) => checkWorkflowPolicy(name, value))
  return name === engineSetting.name ? engineSetting : name === schedulesSetting.name ? schedulesSetting : null
}

function own<T>(name: string, check: (value: unknown) => T): KnownSetting<T> {
  return new KnownSetting(name, checkedBy(check), {})
}

/** Bounds (ms). A lease is renewed three times while it lasts, which must also work over a distant or busy store. */
const SWEEP = { least: 100, most: 60_000, words: '100 ms to a minute' }
const LEASE = { least: 3_000, most: 600_000, words: '3 s to 10 minutes' }

export const engineSetting: KnownSetting<EnginePolicy> = own(ENGINE, checkEngine)
export const schedulesSetting: KnownSetting<SchedulesPolicy> = own(SCHEDULES, checkSchedules)

function checkEngine(value: unknown): EnginePolicy {
  const given = value as EnginePolicy
  checkOptions(ENGINE, given ?? null, ['closed', 'retention', 'sweep', 'lease', 'logLevel', 'weights'])
  if (given.closed !== undefined) checkReason('closed', given.closed)
  toRetention(given.retention, 'retention')
  if (given.logLevel !== undefined) checkLogLevel('logLevel', given.logLevel)
  checkSpan('sweep', given.sweep, SWEEP)
  checkSpan('lease', given.lease, LEASE)
  if (given.weights !== undefined) checkWeights('weights', given.weights)
  return given
}

function checkSpan(name: string, given: Duration | undefined, { least, most, words }: typeof SWEEP): void {
  if (given === undefined) return
  const span = positiveMilliseconds(given, name)
  if (span < least || span > most) throw new TriarchError('INVALID_OPTION', `${name} must be from ${words}`)
}

function checkSchedules(value: unknown): SchedulesPolicy {
  const given = value as SchedulesPolicy
  checkOptions(SCHEDULES, given ?? null, ['paused'])
  const paused = Object.entries(given.paused ?? {})
  if (paused.length > MOST_PATTERNS)
    throw new TriarchError('INVALID_OPTION', `paused may have ${MOST_PATTERNS} names at most`)
  for (const [pattern, reason] of paused) {
    if (!/^[\w.:/-]*\*?$/.test(pattern) || pattern === '')
      throw new TriarchError(
        'INVALID_OPTION',
        `paused: "${pattern.slice(0, 100)}" must be a name, or the beginning of names with "*" behind it`,
      )
    checkReason(`paused.${pattern}`, reason)
  }
  return given
}

/** Why a schedule is paused; undefined: it is not. */
export function pausedSchedule({ paused = {} }: SchedulesPolicy, schedule: string): string | undefined {
  for (const [pattern, reason] of Object.entries(paused))
    if (pattern.endsWith('*') ? schedule.startsWith(pattern.slice(0, -1)) : schedule === pattern) return reason
  return undefined
}

/** A schema that accepts what a check accepts. */
function checkedBy<T>(check: (value: unknown) => T): StandardSchema<never, T> {
  const validate = (value: unknown) => {
    try {
      return { value: check(value) }
    } catch (error) {
      return { issues: [{ message: messageOf(error) }] }
    }
  }
  return { '~standard': { version: 1, vendor: 'triarch', validate } }
}
