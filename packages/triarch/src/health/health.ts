import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { type Finding, finding, type HealthStatus, type HealthValues, judged, thrownText, worst } from './finding.ts'
import type { HealthCode } from './message.ts'

/**
 * One thing that was looked at.
 * @example const slow = (check: HealthCheckReport) => check.ms > 1_000
 */
export interface HealthCheckReport {
  /** What was looked at: docs/concepts/health.md has all names. */
  name: string
  /** How it is, as the options weigh it. */
  status: HealthStatus
  /** What was seen, for people. */
  message?: string
  /** Which message of the engine's own that is, for who says it in another language; absent: a check of the user's own said it, or what it threw. */
  code?: HealthCode
  /** What that message is made of; absent: nothing. */
  details?: HealthValues
  /** What was seen, for machines. */
  observed?: HealthValues
  /** How long the look took (ms). */
  ms: number
  /** When it was looked at. */
  at: Date
  /** Since when it is like that, as far as this process knows. */
  since: Date
  /** What was last wrong, and when; absent: nothing was, as far as this process knows. */
  lastError?: { at: Date; message: string }
}

/**
 * How an engine is.
 * @example
 * const report: HealthReport = await triarch.health()
 * for (const { name, status, message } of report.checks) console.log(name, status, message)
 */
export interface HealthReport {
  /** That of the worst check. */
  status: HealthStatus
  /** When the last of them was looked at. */
  at: Date
  /** The node that looked; undefined: the process plays no role. */
  node: string | undefined
  /** Each by itself. */
  checks: HealthCheckReport[]
}

/**
 * What to look at.
 * @example const { status } = await triarch.health({ checks: ['store.read', 'node'] })
 */
export interface HealthRequest {
  /** The names of the checks; all. */
  checks?: readonly string[]
}

/** A check, whoever made it. */
export interface Check<Look> {
  name: string
  /** What its failure is. */
  failing: 'warning' | 'critical'
  /** It is the engine's own. */
  isOwn?: boolean
  /** How long it is waited for (ms). */
  timeout: number
  run(look: Look, signal: AbortSignal): unknown
}

interface Known {
  report: HealthCheckReport | null
  /** By the monotonic clock. */
  askedAt: number
  asking: Promise<HealthCheckReport> | null
  /** Since when it has not answered, by the monotonic clock; null: it has. */
  silentSince: number | null
}

export interface HealthParts<Look> {
  environment: Environment
  checks: readonly Check<Look>[]
  severity: ReadonlyMap<string, HealthStatus>
  /** How long an answer is fresh (ms). */
  cache: number
  node: () => string | undefined
  /** What the checks of one report look at together. */
  look: () => Look
}

/**
 * Looks when it is asked, and at no other time. Each check is by itself: it is waited for no longer than its bound, asked once at a time, and
 * whatever it does is told of it alone. Its answer serves all who ask within some seconds.
 */
export class Health<Look> {
  readonly #parts: HealthParts<Look>
  readonly #known = new Map<string, Known>()

  constructor(parts: HealthParts<Look>) {
    this.#parts = parts
  }

  /** Never rejects for what a check does. Throws INVALID_OPTION for a check that there is not. */
  async report(names?: readonly string[]): Promise<HealthReport> {
    const { checks, environment, node, look } = this.#parts
    const unknown = names?.find((name) => !checks.some((check) => check.name === name))
    if (unknown !== undefined)
      throw new TriarchError('INVALID_OPTION', `health: there is no check "${unknown.slice(0, 100)}"`)
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

  async #look(check: Check<Look>, known: Known, look: Look): Promise<HealthCheckReport> {
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

  /** A check that has not answered yet is not asked a second time: so many of it would run as look at it. */
  async #answer(check: Check<Look>, known: Known, look: Look): Promise<Finding> {
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

/** Listeners of the signal are the check's own. */
function abort(over: AbortController): void {
  over.abort(new Error('nobody waits for this check any more'))
}
