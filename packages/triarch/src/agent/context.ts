import type { LogWriter } from '../definition/log.ts'
import type { StepContext, StepSignal, SuspendOptions } from '../definition/step.ts'
import type { Json } from '../kernel/json.ts'
import type { StepRequest } from '../store/port.ts'
import { SUSPENDED } from './suspension.ts'

/** How the step's code acts on its attempt. */
export interface Reins {
  readonly signal: AbortSignal
  readonly suspended: boolean
  readonly log: LogWriter
  readonly token: string
  suspend(options: SuspendOptions): void
  heartbeat(beat: { progress?: unknown; checkpoint?: unknown }): void
}

/** The `step` that an action's code is given. */
export class Context implements StepContext {
  readonly attempt: number
  readonly idempotencyKey: string
  readonly fence: number | undefined
  readonly taskId: string
  readonly stepId: number
  /** Middleware may add entries. */
  metadata: Readonly<Record<string, string>>
  readonly checkpoint: Json | undefined
  readonly received: StepSignal | undefined
  readonly #reins: Reins
  readonly #completeBy: number

  constructor(reins: Reins, request: StepRequest, completeBy: number) {
    this.attempt = request.attempt
    this.idempotencyKey = request.idempotencyKey
    this.fence = request.fence
    this.taskId = request.task
    this.stepId = request.step
    this.metadata = Object.freeze(request.metadata ?? {})
    this.checkpoint = request.checkpoint
    this.received = request.event
    this.#reins = reins
    this.#completeBy = completeBy
  }

  get signal(): AbortSignal {
    return this.#reins.signal
  }

  get log(): LogWriter {
    return this.#reins.log
  }

  get completeBy(): Date {
    return new Date(this.#completeBy)
  }

  get token(): string {
    return this.#reins.token
  }

  get suspended(): boolean {
    return this.#reins.suspended
  }

  suspend(options: SuspendOptions = {}): never {
    this.#reins.suspend(options)
    return SUSPENDED
  }

  heartbeat(beat: { progress?: unknown; checkpoint?: unknown } = {}): void {
    this.#reins.heartbeat(beat)
  }
}
