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
 * What of the engine itself can be another while it runs: the setting `triarch.engine`.
 * @example
 * const change: EnginePolicy = { closed: 'we move to another bank', retention: '30d' }
 * await triarch.setting('triarch.engine').change(change, { reason: 'maintenance' })
 */
export interface EnginePolicy {
  /** Why all submissions are refused, with SUBMISSIONS_PAUSED; they are taken. */
  closed?: string
  /** How long stopped tasks are kept, where their workflow does not say; as the options of `Triarch`. */
  retention?: RetentionOption
  /** How much a line for the `logger` must matter: 'debug', 'info', 'warn', 'error', or 'silent'; as the process says. */
  logLevel?: LogLevel | 'silent'
  /** Distance between two looks of the supervisor: 100 ms to a minute; as the options. */
  sweep?: Duration
  /** After so long without a word a node is taken for dead, and another supervisor leads: 3 s to 10 minutes; as the options. */
  lease?: Duration
  /** Of tenants in the line of ready tasks, where a process has `fairness`: over what `fairness.weight` says, for what is submitted from then on. */
  weights?: FairnessWeights
}

/**
 * Which schedules start nothing: the setting `triarch.schedules`.
 * @example
 * const change: SchedulesPolicy = { paused: { 'billing-*': 'the books are closed' } }
 */
export interface SchedulesPolicy {
  /** Why, by the name of a schedule, or by what the names of a group begin with and `*`; none. */
  paused?: Readonly<Record<string, string>>
}

const ENGINE = `${OWN_SETTINGS}engine`
const SCHEDULES = `${OWN_SETTINGS}schedules`
/** Names in one list. */
const MOST_PATTERNS = 1_000

/** The engine's own setting of this name; null: there is none. */
export function ownSetting(name: string): KnownSetting | null {
  const part = (prefix: string) => (name.startsWith(prefix) && !name.slice(prefix.length).includes('.') ? name : null)
  if (part(AGENT_SETTING)) return own<AgentPolicy>(name, (value) => checkAgentPolicy(name, value))
  if (part(WORKFLOW_SETTING)) return own<WorkflowPolicy>(name, (value) => checkWorkflowPolicy(name, value))
  return name === engineSetting.name ? engineSetting : name === schedulesSetting.name ? schedulesSetting : null
}

function own<T>(name: string, check: (value: unknown) => T): KnownSetting<T> {
  return new KnownSetting(name, checkedBy(check), {})
}

/** Bounds (ms): a lease is renewed three times while it lasts, also over a store that is far away or busy. */
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

/** Why a schedule starts nothing; undefined: it does. */
export function pausedSchedule({ paused = {} }: SchedulesPolicy, schedule: string): string | undefined {
  for (const [pattern, reason] of Object.entries(paused))
    if (pattern.endsWith('*') ? schedule.startsWith(pattern.slice(0, -1)) : schedule === pattern) return reason
  return undefined
}

/** A schema of what a check lets pass. */
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
