import type { Environment } from '../environment/environment.ts'
import type { Outcome } from '../kernel/message.ts'
import type { StepRequest } from '../store/port.ts'
import type { AttemptTelemetry } from '../telemetry/catalogue.ts'
import { traceparentOf } from '../telemetry/narrator.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface AttemptReporterOptions {
  environment: Environment
  node: string
  telemetry: Telemetry
}

/** Emits the telemetry of one agent's attempts; `''`: of local steps. */
export class AttemptReporter {
  readonly #agent: string
  readonly #options: AttemptReporterOptions

  constructor(agent: string, options: AttemptReporterOptions) {
    this.#agent = agent
    this.#options = options
  }

  started(request: StepRequest, at: number): void {
    const outlet = this.#options.telemetry['attempt:started']
    if (!outlet.open) return
    const { since, trial } = request
    const waited = since === undefined ? null : Math.max(0, at - since)
    outlet.tell({ ...this.#about(request), at, trial: trial !== undefined, waited })
  }

  /** Reports the result of a cache lookup. An outcome without a mark is a failure of the attempt itself. */
  found(request: StepRequest, outcome: Outcome | null): void {
    const { environment, telemetry } = this.#options
    const cached = outcome !== null && 'cached' in outcome ? outcome.cached : undefined
    const at = environment.now()
    const [hit, miss] = [telemetry['cache:hit'], telemetry['cache:miss']]
    if (outcome === null && miss.open) miss.tell({ ...this.#about(request), at })
    if (!cached || !hit.open) return
    const { from, stale = false } = cached
    hit.tell({ ...this.#about(request), at, from, stale, ms: Math.max(0, at - cached.at) })
  }

  ended(request: StepRequest, outcome: Outcome, startedAt: number): void {
    const outlet = this.#options.telemetry['attempt:ended']
    if (!outlet.open) return
    const at = this.#options.environment.now()
    const error = outcome.kind === 'failed' ? outcome.error : null
    outlet.tell({ ...this.#about(request), at, outcome: outcome.kind, ms: at - startedAt, error })
  }

  #about(request: StepRequest): Omit<AttemptTelemetry, 'at'> {
    const { task, workflow, version, step, action, name, operation, attempt, metadata, run = 1 } = request
    // A local step's request has its name in place of an action.
    const own = this.#agent === '' ? null : action
    const { node } = this.#options
    const about = { node, task, workflow, version, step, action: own, name, operation, attempt }
    return { ...about, traceparent: traceparentOf(metadata), run }
  }
}
