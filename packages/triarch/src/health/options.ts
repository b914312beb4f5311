import { TriarchError } from '../error/error.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import type { HealthCheck, HealthStatus } from './finding.ts'

/**
 * A user's check, with its timeout and its severity.
 * @example const bank: HealthCheckOptions = { run: async () => true, severity: 'warning', timeout: '2s' }
 */
export interface HealthCheckOptions {
  /** The check. */
  run: HealthCheck
  /** The status of a failure; 'critical'. */
  severity?: 'warning' | 'critical'
  /** How long its answer is awaited; the `timeout` of all checks. */
  timeout?: Duration
}

/**
 * The checks of `triarch.health.check()`, and their limits.
 * @example
 * const health: HealthOptions = {
 *   checks: { bank: async (signal) => (await fetch('https://bank.example.com/ping', { signal })).ok },
 *   severity: { breakers: 'critical', disk: 'ok' },
 * }
 */
export interface HealthOptions {
  /** Checks of the user by name (letters, digits, `.`, `-`, `_`; 100 characters): 100 at most; none. */
  checks?: Readonly<Record<string, HealthCheck | HealthCheckOptions>>
  /** The status of a check that fails, by name; 'ok' if it is only displayed; the status that the check returns. */
  severity?: Readonly<Record<string, HealthStatus>>
  /** How long an answer is reused; '5s'. */
  cache?: Duration
  /** How long a check's answer is awaited; '5s'. */
  timeout?: Duration
  /** A read or a commit slower than this is a warning; '1s'. */
  slow?: Duration
  /** Clocks of this machine and of the store further apart than this are a warning; '5s'. */
  skew?: Duration
  /** Schedules, timers, dead nodes, settings and unclaimed tasks that are later than this are a warning; '1m'. */
  late?: Duration
  /** A request that waits longer than this in the queue of an agent is a warning; '5m'. */
  queueAge?: Duration
  /** Free bytes on the disk of the store, below which there is a warning; 1 GiB. */
  diskFree?: number
  /** Free bytes on the disk of the store, below which it is critical; 128 MiB. */
  diskLeast?: number
}

/** A user's check with all options set. */
export interface OwnCheck {
  name: string
  run: HealthCheck
  severity: 'warning' | 'critical'
  timeout: number
}

export interface HealthSettings {
  own: readonly OwnCheck[]
  severity: ReadonlyMap<string, HealthStatus>
  cache: number
  timeout: number
  slow: number
  skew: number
  late: number
  queueAge: number
  diskFree: number
  diskLeast: number
}

const MOST_CHECKS = 100
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
const MiB = 1024 * 1024

/** Checks the options. `known`: names of the engine's own checks. Throws INVALID_OPTION, UNKNOWN_OPTION, INVALID_DURATION. */
export function healthSettings(given: HealthOptions | undefined, known: readonly string[]): HealthSettings {
  const what = 'Triarch: health'
  checkOptions<HealthOptions, typeof keys>(what, given, keys)
  const { checks = {}, severity = {}, cache = '5s', timeout = '5s', slow = '1s', skew = '5s' } = given ?? {}
  const { late = '1m', queueAge = '5m', diskFree = 1024 * MiB, diskLeast = 128 * MiB } = given ?? {}
  const bound = positiveMilliseconds(timeout, 'health.timeout')
  if (!isRecord(checks) || !isRecord(severity)) throw invalid('checks and severity must be objects')
  const names = Object.keys(checks)
  if (names.length > MOST_CHECKS) throw invalid(`there may be ${MOST_CHECKS} checks`)
  const own = names.map((name): OwnCheck => {
    if (!NAME.test(name)) throw invalid(`"${name.slice(0, 100)}" is no name of a check`)
    if (known.includes(name)) throw invalid(`there is a check "${name}" already`)
    const check = checks[name]
    const {
      run,
      severity: failing = 'critical',
      timeout: own,
    } = typeof check === 'function' ? { run: check } : (check as HealthCheckOptions)
    if (typeof check !== 'function')
      checkOptions<HealthCheckOptions, typeof checkKeys>(`${what}.checks.${name}`, check, checkKeys)
    checkFunction(`${what}.checks.${name}: run`, run)
    if (failing !== 'warning' && failing !== 'critical')
      throw invalid(`checks.${name}: severity must be "warning" or "critical"`)
    const patience = own === undefined ? bound : positiveMilliseconds(own, `health.checks.${name}.timeout`)
    return { name, run, severity: failing, timeout: patience }
  })
  const all = [...known, ...names]
  for (const [name, status] of Object.entries(severity)) {
    if (!all.includes(name)) throw invalid(`severity: there is no check "${name.slice(0, 100)}"`)
    if (!['ok', 'warning', 'critical'].includes(status))
      throw invalid(`severity.${name} must be "ok", "warning" or "critical"`)
  }
  return {
    ...{ own, severity: new Map(Object.entries(severity)), cache: milliseconds(cache, 'health.cache'), timeout: bound },
    slow: positiveMilliseconds(slow, 'health.slow'),
    skew: positiveMilliseconds(skew, 'health.skew'),
    late: positiveMilliseconds(late, 'health.late'),
    queueAge: positiveMilliseconds(queueAge, 'health.queueAge'),
    diskFree: checkInteger(`${what}.diskFree`, diskFree, 0, Number.MAX_SAFE_INTEGER),
    diskLeast: checkInteger(`${what}.diskLeast`, diskLeast, 0, Number.MAX_SAFE_INTEGER),
  }
}

const keys = [
  'checks',
  'severity',
  'cache',
  'timeout',
  'slow',
  'skew',
  'late',
  'queueAge',
  'diskFree',
  'diskLeast',
] as const
const checkKeys = ['run', 'severity', 'timeout'] as const

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `Triarch: health: ${problem}`)
}
