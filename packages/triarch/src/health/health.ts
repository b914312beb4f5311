import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { type Finding, finding, type HealthStatus, type HealthValues, judged, thrownText, worst } from './finding.ts'
import type { HealthCode } from './message.ts'

/**
 * The report of one check.
 * @example const slow = (check: HealthCheckReport) => check.ms > 1_000
 */
export interface HealthCheckReport {
  /** The name of the check; docs/concepts/health.md lists all. */
  name: string
  /** The status, as weighted by the options. */
  status: HealthStatus
  /** A description for people. */
  message?: string
  /** The code of the engine's message, for translation; absent: the message comes from a user's check or from an error. */
  code?: HealthCode
  /** The details of that message; absent: it has none. */
  details?: HealthValues
  /** Observations, for programs. */
  observed?: HealthValues
  /** The duration of the check (ms). */
  ms: number
  /** When the check ended. */
  at: Date
  /** Since when the status has been the same, as far as this process knows. */
  since: Date
  /** The last problem, and when it was found; absent: none, as far as this process knows. */
  lastError?: { at: Date; message: string }
}

/**
 * The health of an engine.
 * @example
 * const report: HealthReport = await triarch.health.check()
 * for (const { name, status, message } of report.checks) console.log(name, status, message)
 */
export interface HealthReport {
  /** The status of the worst check. */
  status: HealthStatus
  /** When the last check ended. */
  at: Date
  /** The node of the process that made the report; undefined: it plays no role. */
  node: string | undefined
  /** The reports of the checks. */
  checks: HealthCheckReport[]
}

/**
 * A selection of checks.
 * @example const { status } = await triarch.health.check({ checks: ['store.read', 'node'] })
 */
export interface HealthRequest {
  /** The names of the checks; all. */
  checks?: readonly string[]
}

/** A check of the engine or of the user. */
export interface Check<Look> {
  name: string
  /** The status of a failure. */
  failing: 'warning' | 'critical'
  /** The check is the engine's own. */
  isOwn?: boolean
  /** How long its result is awaited (ms). */
  timeout: number
  run(look: Look, signal: AbortSignal): unknown
}

interface CheckState {
  report: HealthCheckReport | null
  /** When the check was last started, by the monotonic clock. */
  askedAt: number
  asking: Promise<HealthCheckReport> | null
  /** Start of a call that has not answered yet, by the monotonic clock; null: there is none. */
  silentSince: number | null
}

export interface HealthParts<Look> {
  environment: Environment
  checks: readonly Check<Look>[]
  severity: ReadonlyMap<string, HealthStatus>
  /** How long an answer is reused (ms). */
  cache: number
  node: () => string | undefined
  /** Creates the data that the checks of one report share. */
  look: () => Look
}

/**
 * Runs checks on request only. Checks are independent: each is awaited for at most its timeout and runs once at a time, and an error is
 * reported for that check alone. An answer is reused for all requests within some seconds.
 */
export class Health<Look> {
  readonly #parts: HealthParts<Look>
  readonly #known = new Map<string, CheckState>()

  constructor(parts: HealthParts<Look>) {
    this.#parts = parts
  }

  /** Runs the checks; never rejects because of one. Throws INVALID_OPTION for an unknown check. */
  async report(names?: readonly string[]): Promise<HealthReport> {
    const { checks, environment, node, look } = this.#parts
    const unknown = names?.find((name) => !checks.some((check) => check.name === name))
    if (unknown !== undefined)
      throw new TriarchError('INVALID_OPTION', `health.check: there is no check "${unknown.slice(0, 100)}"`)
    const asked = names === undefined ? checks : checks.filter(({ name }) => names.includes(name))
    const together = look()
    const reports = await Promise.all(asked.map((check) => this.#ask(check, together)))
    const at = Math.max(...reports.map((report) => report.at.getTime()))
    const status = worst(reports.map((report) => report.status))
    return { status, at: new Date(reports.length > 0 ? at : environment.now()), node: node(), checks: reports }
  }

  #ask(check: Check<Look>, look: Look): Promise<HealthCheckReport> {
    const { environment, cache } = this.#parts
    const known = this.#known.get(check.name) ?? { report: null, askedAt: 0, asking: null, silentSince: null }
    this.#known.set(check.name, known)
    if (known.asking !== null) return known.asking
    if (known.report && environment.monotonic() - known.askedAt < cache) return Promise.resolve(known.report)
    known.askedAt = environment.monotonic()
    known.asking = this.#look(check, known, look).then((report) => {
      known.report = report
      known.asking = null
      return report
    })
    return known.asking
  }

  async #look(check: Check<Look>, known: CheckState, look: Look): Promise<HealthCheckReport> {
    const { environment, severity } = this.#parts
    const from = environment.monotonic()
    const found = await this.#answer(check, known, look)
    const weight = severity.get(check.name)
    const status = found.status === 'ok' ? 'ok' : (weight ?? found.status)
    const at = new Date(environment.now())
    const before = known.report
    const wrong = found.status !== 'ok' && { at, message: found.message ?? `it is ${found.status}` }
    const lastError = wrong || before?.lastError
    return {
      ...{ name: check.name, status },
      ...(found.message !== undefined && { message: found.message }),
      ...(found.code !== undefined && { code: found.code }),
      ...(found.details !== undefined && { details: found.details }),
      ...(found.observed !== undefined && { observed: found.observed }),
      ...{ ms: Math.round(environment.monotonic() - from), at, since: before?.status === status ? before.since : at },
      ...(lastError && { lastError }),
    }
  }

  /** Runs a check. One that has not answered an earlier call is not called again, or the calls would pile up. */
  async #answer(check: Check<Look>, known: CheckState, look: Look): Promise<Finding> {
    const { environment } = this.#parts
    const { failing, timeout } = check
    if (known.silentSince !== null) {
      const ms = Math.round(environment.monotonic() - known.silentSince)
      return finding(failing, 'silent', { ms })
    }
    known.silentSince = environment.monotonic()
    const over = new AbortController()
    const answer = (async () => check.run(look, over.signal))()
      .then(
        (given) => judged(given, failing, check.isOwn === true),
        (error): Finding => ({ status: failing, message: thrownText(error) }),
      )
      .finally(() => {
        known.silentSince = null
      })
    const { promise: late, resolve } = Promise.withResolvers<Finding>()
    const timer = environment.timer(timeout, () => {
      resolve(finding(failing, 'too-slow', { ms: timeout }))
      abort(over)
    })
    timer.unref?.()
    const found = await Promise.race([answer, late])
    timer.cancel()
    return found
  }
}

/** Aborts the signal; its listeners belong to the check. */
function abort(over: AbortController): void {
  over.abort(new Error('nobody waits for this check any more'))
}
