import type { Telling } from '../agent/attempt.ts'
import type { HostedAttempt } from '../agent/host.ts'
import type { Json } from '../kernel/json.ts'
import type { Reply } from '../kernel/message.ts'
import type { StepRequest } from '../store/port.ts'
import type { TaskRunner } from './runner.ts'

/**
 * An attempt of a step whose task this process owns: its messages go to the task's runner. One object with methods, because every step
 * has one.
 */
export class OwnAttempt implements HostedAttempt {
  readonly request: StepRequest
  readonly completeBy: number
  readonly heartbeatWithin: number | null
  readonly #runner: TaskRunner

  constructor(
    runner: TaskRunner,
    request: StepRequest,
    { completeBy, heartbeatWithin }: Pick<HostedAttempt, 'completeBy' | 'heartbeatWithin'>,
  ) {
    this.#runner = runner
    this.request = request
    this.completeBy = completeBy
    this.heartbeatWithin = heartbeatWithin
  }

  beat(progress?: Json, checkpoint?: Json): void {
    if (progress === undefined && checkpoint === undefined) return
    const { step, attempt } = this.request
    this.#runner.push({
      ...{ type: 'heartbeat', step, attempt },
      ...(progress !== undefined && { progress }),
      ...(checkpoint !== undefined && { checkpoint }),
    })
  }

  begun(): Promise<boolean> {
    return this.#runner.begun(this.request.step, this.request.attempt)
  }

  survived(): void {
    const { step, attempt } = this.request
    this.#runner.push({ type: 'heartbeat', step, attempt, trial: 'survived' })
  }

  done(reply: Reply, recorded?: Telling['recorded']): void {
    if (recorded) this.#runner.answered(reply, recorded)
    else this.#runner.push(reply)
  }
}
