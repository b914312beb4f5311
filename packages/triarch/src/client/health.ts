import { TriarchError } from '../error/error.ts'
import { healthOf } from '../health/checks.ts'
import { listProbes, type ProbePage, type ProbesOptions } from '../health/endpoint.ts'
import type { Health, HealthReport, HealthRequest } from '../health/health.ts'
import type { Engine, HealthReads } from '../health/look.ts'
import { checkOptions } from '../value/options.ts'

/**
 * The health of the engine, and of the endpoints that a prober watches.
 * @example const { status } = await triarch.health.check()
 */
export interface HealthCollection {
  /**
   * The health of the answering engine: checks the store, the cluster and its process, and runs the checks of its own (`health.checks`).
   * Costs about twelve small reads and one commit, at most once within `health.cache`. The report contains the errors of checks; it does
   * not reject because of them. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { status, checks } = await triarch.health.check()
   * for (const { name, status, message } of checks) console.log(name, status, message)
   */
  check(request?: HealthRequest): Promise<HealthReport>

  /**
   * Endpoints as a prober (`createProber` of `@triarch/server`) has stored them, by name, a page at a time; none if no prober stores its
   * results. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { endpoints } = await triarch.health.probes()
   * for (const { name, state, last } of endpoints) console.log(name, state, last?.problem?.message)
   */
  probes(options?: ProbesOptions): Promise<ProbePage>
}

/** The health of this process's engine. */
export class EngineHealth implements HealthCollection {
  readonly #engine: Engine
  #health: Health<HealthReads> | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async check(request: HealthRequest = {}): Promise<HealthReport> {
    checkOptions('health.check', request, ['checks'])
    const { checks } = request
    if (checks !== undefined && !Array.isArray(checks))
      throw new TriarchError('INVALID_OPTION', 'health.check: checks must be names')
    return this.checks.report(checks)
  }

  async probes(options: ProbesOptions = {}): Promise<ProbePage> {
    return listProbes(() => this.#engine.store(), options)
  }

  /** Created on first use. */
  get checks(): Health<HealthReads> {
    this.#health ??= healthOf(this.#engine)
    return this.#health
  }
}
