import { TriarchError } from '../error/error.ts'
import type { AlertSeverity, AlertTerms } from '../policy/alert.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { quietOf } from './quiet.ts'
import type { AlertSink } from './sink.ts'

/**
 * A rule of the engine's own.
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
 * When a rule finds something, and how patient it is.
 * @example const slow: AlertRuleOptions = { after: '10m', for: '2m', severity: 'critical' }
 */
export interface AlertRuleOptions {
  /** How long something may be so (`stuck` 1h, `queue-age` 5m, `missed-schedule` 1m), or the time looked at (`flapping` 10m, `node-lost` 1h, `failure-rate` 1h, by whole hours). */
  after?: Duration
  /** Of which number on: nodes that died (`flapping` 3), or tasks that stopped, below which there is no rate (`failure-rate` 20). */
  least?: number
  /** The share that may fail (`failure-rate` 0.5): 0 to 1. */
  above?: number
  /** How long the condition must hold before anybody is told; 0, of `no-agent`, `node-lost` and `check` 1m. */
  for?: Duration
  /** How long it must be gone before the alert ends: what comes and goes is one alert; '5m'. */
  keep?: Duration
  /** After so long sinks are told again, while nobody has acknowledged it; false: never. '4h'. */
  repeat?: Duration | false
  /** How bad it is; that of the rule. Of `check`: as the check finds it; of `probe-down`: a warning where nobody probes, critical where it is down. */
  severity?: AlertSeverity
}

/**
 * What the leading supervisor watches for, and who is told.
 * @example
 * const alerts: AlertOptions = {
 *   rules: { stuck: { after: '30m' }, 'breaker-open': false },
 *   sinks: [{ name: 'pager', send: async ({ message }) => console.error(message) }],
 * }
 */
export interface AlertOptions {
  /** Rules that are otherwise than by default; false: that one does not look. */
  rules?: Partial<Record<AlertRuleName, false | AlertRuleOptions>>
  /** Who is told besides the log (the sink `log`, which is always there: `on('alert')`, the `logger`, or stderr): 20 at most; nobody. */
  sinks?: readonly AlertSink[]
  /**
   * For so long (1 h at most) the first of a rule's alerts waits for others, and then all of them are told as one; shorter than `every`, what one
   * look finds is told as one. Each is told by itself.
   */
  group?: Duration
  /** Distance between two looks; '15s'. */
  every?: Duration
  /** How long a rule, and a sink, is waited for; '10s'. */
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
  /** Ms; null: each is told by itself. */
  group: number | null
  every: number
  timeout: number
  retention: number
}

/** The sink that is always there. */
export const LOG = 'log'

const HOUR = 3_600_000
const MINUTE = 60_000
const base = { after: 0, least: 1, above: 0, for: 0, keep: 5 * MINUTE, repeat: 4 * HOUR }
/** A new rule is a line here, one in the type, and its look. */
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

/** Null: nobody watches. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION. */
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
