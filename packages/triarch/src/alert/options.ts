import { TriarchError } from '../error/error.ts'
import type { AlertSeverity, AlertTerms } from '../policy/alert.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { quietOf } from './quiet.ts'
import type { AlertSink } from './sink.ts'

/**
 * The name of an alert rule.
 * @example const rules: readonly AlertRuleName[] = ['stuck', 'queue-age']
 */
export type AlertRuleName =
  | 'stuck'
  | 'failure-rate'
  | 'queue-age'
  | 'no-agent'
  | 'missed-schedule'
  | 'undo-failed'
  | 'quarantine'
  | 'flapping'
  | 'node-lost'
  | 'breaker-open'
  | 'probe-down'
  | 'check'

/**
 * The limits and time constants of a rule.
 * @example const slow: AlertRuleOptions = { after: '10m', for: '2m', severity: 'critical' }
 */
export interface AlertRuleOptions {
  /**
   * How long a condition is acceptable (`stuck` 1h, `queue-age` 5m, `missed-schedule` 1m), or the time span examined (`flapping` 10m,
   * `node-lost` 1h, `failure-rate` 1h, in whole hours).
   */
  after?: Duration
  /** The smallest number: of nodes that died (`flapping` 3), or of stopped tasks for which a rate is computed (`failure-rate` 20). */
  least?: number
  /** The share of failures that is acceptable (`failure-rate` 0.5): 0 to 1. */
  above?: number
  /** How long the condition must hold before sinks are notified; 0, for `no-agent`, `node-lost` and `check` 1m. */
  for?: Duration
  /** How long it must be gone before the alert ends, so that one that comes and goes is one alert; '5m'. */
  keep?: Duration
  /** Interval at which sinks are notified again until the alert is acknowledged; false: never; '4h'. */
  repeat?: Duration | false
  /** Severity; that of the rule. For `check`: as the check reports; for `probe-down`: critical if down, a warning if not probed. */
  severity?: AlertSeverity
}

/**
 * The alert rules of the leading supervisor, and the sinks that are notified.
 * @example
 * const alerts: AlertOptions = {
 *   rules: { stuck: { after: '30m' }, 'breaker-open': false },
 *   sinks: [{ name: 'pager', send: async ({ message }) => console.error(message) }],
 * }
 */
export interface AlertOptions {
  /** Options of rules that differ from the defaults; false disables a rule. */
  rules?: Partial<Record<AlertRuleName, false | AlertRuleOptions>>
  /** Sinks besides the log (the sink `log`, which always exists: `on('alert')`, the `logger`, or stderr): 20 at most; none. */
  sinks?: readonly AlertSink[]
  /**
   * How long (1 h at most) the first alert of a rule waits for others, which are then sent as one notification. If shorter than `every`,
   * alerts found by one check are combined. By default each is sent by itself.
   */
  group?: Duration
  /** Interval between two checks; '15s'. */
  every?: Duration
  /** How long a rule, and a sink, is awaited; '10s'. */
  timeout?: Duration
  /** How long alerts that have ended are kept; '30d'. */
  retention?: Duration
}

export interface AlertRule extends AlertTerms {
  after: number
  least: number
  above: number
  severity: AlertSeverity | null
}

export interface AlertSettings {
  rules: ReadonlyMap<AlertRuleName, AlertRule>
  sinks: readonly AlertSink[]
  /** In ms; null: notifications are not combined. */
  group: number | null
  every: number
  timeout: number
  retention: number
}

/** The name of the sink that always exists. */
export const LOG = 'log'

const HOUR = 3_600_000
const MINUTE = 60_000
const base = { after: 0, least: 1, above: 0, for: 0, keep: 5 * MINUTE, repeat: 4 * HOUR }
/** The defaults of the rules. A new rule needs a line here, one in the type, and its function. */
const standard: Readonly<Record<AlertRuleName, AlertRule>> = {
  stuck: { ...base, after: HOUR, severity: 'warning' },
  'failure-rate': { ...base, after: HOUR, least: 20, above: 0.5, severity: 'critical' },
  'queue-age': { ...base, after: 5 * MINUTE, severity: 'warning' },
  'no-agent': { ...base, for: MINUTE, severity: 'critical' },
  'missed-schedule': { ...base, after: MINUTE, severity: 'warning' },
  'undo-failed': { ...base, severity: 'critical' },
  quarantine: { ...base, severity: 'critical' },
  flapping: { ...base, after: 10 * MINUTE, least: 3, severity: 'warning' },
  'node-lost': { ...base, after: HOUR, for: MINUTE, severity: 'warning' },
  'breaker-open': { ...base, severity: 'warning' },
  'probe-down': { ...base, severity: null },
  check: { ...base, for: MINUTE, severity: null },
}
export const ruleNames = Object.keys(standard) as AlertRuleName[]

const MOST_SINKS = 20
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
const ruleKeys = ['after', 'least', 'above', 'for', 'keep', 'repeat', 'severity'] as const

/** The checked options; null: alerts are disabled. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION. */
export function alertSettings(given: boolean | AlertOptions | undefined): AlertSettings | null {
  if (given === undefined || given === false) return null
  const what = 'Triarch: alerts'
  const options = given === true ? {} : given
  checkOptions(what, options ?? null, ['rules', 'sinks', 'group', 'every', 'timeout', 'retention'])
  const { rules = {}, sinks = [], group, every = '15s', timeout = '10s', retention = '30d' } = options
  const window = group === undefined ? null : positiveMilliseconds(group, 'alerts.group')
  if (window !== null && window > HOUR) throw invalid('group must be 1 h at most')
  checkOptions(`${what}: rules`, rules ?? null, ruleNames)
  const kept = ruleNames.flatMap((name) => {
    const own = rules[name]
    return own === false ? [] : [[name, ruleOf(name, own ?? {})] as const]
  })
  return {
    rules: new Map(kept),
    sinks: checkSinks(sinks),
    group: window,
    every: positiveMilliseconds(every, 'alerts.every'),
    timeout: positiveMilliseconds(timeout, 'alerts.timeout'),
    retention: positiveMilliseconds(retention, 'alerts.retention'),
  }
}

function ruleOf(name: AlertRuleName, own: AlertRuleOptions): AlertRule {
  const what = `alerts.rules.${name}`
  checkOptions(`Triarch: ${what}`, own, ruleKeys)
  const of = standard[name]
  const { severity = of.severity, above = of.above, least = of.least, repeat } = own
  if (severity !== null && severity !== 'warning' && severity !== 'critical')
    throw invalid(`${name}: severity must be "warning" or "critical"`)
  if (typeof above !== 'number' || !(above >= 0 && above <= 1)) throw invalid(`${name}: above must be between 0 and 1`)
  return {
    ...{ severity, above, least: checkInteger(`Triarch: ${what}.least`, least, 1, 1_000_000) },
    after: own.after === undefined ? of.after : positiveMilliseconds(own.after, `${what}.after`),
    for: own.for === undefined ? of.for : milliseconds(own.for, `${what}.for`),
    keep: own.keep === undefined ? of.keep : milliseconds(own.keep, `${what}.keep`),
    repeat: repeat === false ? null : repeat === undefined ? of.repeat : positiveMilliseconds(repeat, `${what}.repeat`),
  }
}

function checkSinks(sinks: readonly AlertSink[]): readonly AlertSink[] {
  if (!Array.isArray(sinks) || sinks.length > MOST_SINKS)
    throw invalid(`sinks must be an array of ${MOST_SINKS} at most`)
  const seen = new Set([LOG])
  for (const sink of sinks as readonly AlertSink[]) {
    if (typeof sink !== 'object' || sink === null || typeof sink.name !== 'string' || !NAME.test(sink.name))
      throw invalid('each sink needs a name of letters, digits, ".", "-" and "_"')
    if (seen.has(sink.name)) throw invalid(`there is a sink "${sink.name}" already`)
    seen.add(sink.name)
    if (sink.quiet !== undefined) quietOf(`Triarch: alerts: quiet of the sink "${sink.name}"`, sink.quiet)
    checkFunction(`Triarch: alerts: send of the sink "${sink.name}"`, sink.send)
  }
  return sinks
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `Triarch: alerts: ${problem}`)
}
