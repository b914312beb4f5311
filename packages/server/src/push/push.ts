import { PermanentError, type StepContext, type StepSignal, type SuspendOptions, type Verification } from 'triarch'
import { now } from '../environment.ts'
import type { Answer, Outbound } from '../outbound/outbound.ts'
import type { Signature } from '../outbound/signature.ts'
import { traceOf } from '../request/trace.ts'
import { answeredNow, lossOf, outputOf, verificationOf } from './answer.ts'

type PushOperation = 'run' | 'undo' | 'verify'

/** What an attempt has to say besides itself. */
interface Said {
  input: unknown
  output?: unknown
  signal?: StepSignal
}

/** The endpoint of an agent, and how it is called. */
export interface PushEndpoint {
  agent: string
  url: URL
  signature: Signature
  outbound: Outbound
}

/** The operations of one action, each a call of the endpoint. */
export class Push {
  readonly #endpoint: PushEndpoint
  readonly #action: string
  readonly #wait: SuspendOptions

  constructor(endpoint: PushEndpoint, action: string, wait: SuspendOptions) {
    this.#endpoint = endpoint
    this.#action = `${endpoint.agent}.${action}`
    this.#wait = wait
  }

  /** 202: the step waits, and what its token is resumed with is the output. */
  async run(input: unknown, step: StepContext, received?: StepSignal): Promise<unknown> {
    if (received?.name === 'resume') return received.payload
    if (received?.name === 'failed')
      throw new PermanentError(`${this.#action} failed: ${JSON.stringify(received.payload)}`)
    const answer = await this.#call('run', step, { input, ...(received && { signal: received }) })
    return answer.status === 202 ? step.suspend(this.#wait) : outputOf(this.#action, answer)
  }

  async undo({ input, output }: { input: unknown; output: unknown }, step: StepContext): Promise<void> {
    const answer = answeredNow(this.#action, 'undo', await this.#call('undo', step, { input, output }))
    // What it says is nobody's.
    outputOf(this.#action, answer.status < 300 ? { ...answer, body: '' } : answer)
  }

  async verify(input: unknown, step: StepContext): Promise<Verification<unknown>> {
    return verificationOf(
      this.#action,
      answeredNow(this.#action, 'verify', await this.#call('verify', step, { input })),
    )
  }

  async #call(operation: PushOperation, step: StepContext, said: Said): Promise<Answer> {
    const { agent, url, signature, outbound } = this.#endpoint
    const { taskId: task, stepId, attempt: number, idempotencyKey, fence, metadata, completeBy } = step
    const at = now()
    const body = JSON.stringify({
      ...{ type: `attempt.${operation}`, timestamp: new Date(at).toISOString() },
      data: {
        ...{ agent, action: this.#action, operation, number, task, step: stepId, idempotencyKey },
        ...(operation === 'run' && { token: step.token }),
        ...{ ...said, metadata, ...(fence !== undefined && { fence }) },
        attemptWithin: Math.max(0, completeBy.getTime() - at),
      },
    })
    // One for each attempt: the same one twice is a replay. What is the same work says the idempotency key.
    const id = `${task}.${stepId}.${operation}.${number}.${said.signal ? `${said.signal.name}-${at}` : 0}`
    const headers = {
      ...{ 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      ...traceOf((name) => metadata[name]),
      ...signature.headers(encodeURIComponent(id), body),
    }
    try {
      return await outbound.post({ url, headers, body, signal: step.signal })
    } catch (error) {
      throw lossOf(this.#action, error)
    }
  }
}
