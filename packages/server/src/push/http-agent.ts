import {
  type Action,
  type Agent,
  type AgentOptions,
  type Duration,
  agent as define,
  type GivenInput,
  type InferInput,
  type InferOutput,
  type Jsonified,
  type PolicyOptions,
  type StandardSchema,
  type SuspendOptions,
  TriarchError,
} from 'triarch'
import { known } from '../options.ts'
import { Outbound, type OutboundOptions } from '../outbound/outbound.ts'
import { Signature } from '../outbound/signature.ts'
import { Push } from './push.ts'

/**
 * One action of a push agent: its policies, and what its endpoint can do.
 * @example const upsert: HttpActionOptions = { attemptWithin: '10s', undo: true, verify: true }
 */
export interface HttpActionOptions extends PolicyOptions {
  /** Checks the input where the step is requested, and gives the type of it. */
  input?: StandardSchema
  /** Checks what the endpoint answers before it is recorded, and gives the type of it. */
  output?: StandardSchema
  /** The endpoint takes back what `run` did; false. */
  undo?: boolean
  /** The endpoint says by the idempotency key whether an attempt took effect; false. */
  verify?: boolean
  /** Most calls of it at a time in one process, within the agent's: 1 to 100,000; the agent's. */
  concurrency?: number
  /** After a 202: how long the step waits for its token. Then the endpoint is asked again, with the signal `timeout`; never. */
  answerWithin?: Duration
  /** After a 202: the endpoint is told, with the signal `cancel`, when the task is cancelled meanwhile; false. */
  onCancel?: boolean
}

/**
 * An endpoint that does steps.
 * @example
 * const options: HttpAgentOptions = {
 *   url: 'https://crm.example.com/triarch',
 *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM=',
 *   actions: { upsert: { undo: true } },
 * }
 */
export interface HttpAgentOptions<
  A extends Readonly<Record<string, HttpActionOptions>> = Record<string, HttpActionOptions>,
> extends AgentOptions {
  /** Where each attempt is sent. */
  url: string | URL
  /** `whsec_` and 24 to 64 random bytes in Base64. Of several, the calls are signed by each: that is how one replaces another. */
  secret: string | readonly string[]
  /** Its actions, by their names. */
  actions: A
  /** Where calls may go; https on port 443 of the public internet. */
  outbound?: OutboundOptions
}

/**
 * A push agent: `agent` for the Triarch, `actions` for the workflows.
 * @example const use = ({ agent }: HttpAgent) => [agent]
 */
export interface HttpAgent<A extends Readonly<Record<string, HttpActionOptions>> = Record<string, HttpActionOptions>> {
  /** As agent() gives it: for the `agents` of a Triarch, or of connectAgents(). */
  readonly agent: Agent
  /** As agent.action() gives them, by their names. */
  readonly actions: { readonly [K in keyof A]: Action<InputOf<A[K]>, OutputOf<A[K]>> }
}

/**
 * What a workflow gives.
 * @example const input: InputOf<{ undo: true }> = { id: 'c-1' }
 */
export type InputOf<O extends HttpActionOptions> = O extends { input: infer S extends StandardSchema }
  ? GivenInput<InferInput<S>>
  : unknown

/**
 * What a workflow gets back.
 * @example const output: OutputOf<{ undo: true }> = { id: 'c-1' }
 */
export type OutputOf<O extends HttpActionOptions> = O extends { output: infer S extends StandardSchema }
  ? Jsonified<InferOutput<S>>
  : unknown

// Held to their types both ways, so that no option is promised and refused.
const keys = namesOf<HttpAgentOptions>({
  url: true,
  secret: true,
  actions: true,
  outbound: true,
  concurrency: true,
  circuitBreaker: true,
  rateLimit: true,
  ageing: true,
  fairness: true,
  pools: true,
  policy: true,
})
const actionKeys = namesOf<HttpActionOptions>({
  input: true,
  output: true,
  undo: true,
  verify: true,
  concurrency: true,
  answerWithin: true,
  onCancel: true,
  attemptWithin: true,
  stepWithin: true,
  heartbeatWithin: true,
  retry: true,
  undoRetry: true,
  rescue: true,
  semantics: true,
  priority: true,
  weight: true,
  secrets: true,
})

function namesOf<T>(all: Record<keyof T & string, true>): string[] {
  return Object.keys(all)
}

/**
 * An agent without a process: each attempt is a signed POST to one URL. Throws INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION,
 * INVALID_DURATION.
 * @example
 * const crm = httpAgent('crm', {
 *   url: 'https://crm.example.com/triarch',
 *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM=',
 *   actions: { upsert: { undo: true, verify: true } },
 * })
 */
export function httpAgent<const A extends Readonly<Record<string, HttpActionOptions>>>(
  name: string,
  options: HttpAgentOptions<A>,
): HttpAgent<A> {
  const what = `httpAgent("${name}")`
  known(what, options, keys)
  const { url, secret, actions, outbound = {}, ...bounds } = options
  const agent = define(name, bounds)
  if (!URL.canParse(String(url))) throw new TriarchError('INVALID_OPTION', `${what}: url must be a URL`)
  if (typeof actions !== 'object' || actions === null || Object.keys(actions).length === 0)
    throw new TriarchError('INVALID_OPTION', `${what}: actions must name one at least`)
  const endpoint = {
    ...{ agent: name, url: new URL(url) },
    signature: new Signature(what, Array.isArray(secret) ? secret : [secret as string]),
    outbound: new Outbound(outbound),
  }
  endpoint.outbound.check(endpoint.url)
  const defined: Record<string, Action> = {}
  for (const [key, action] of Object.entries(actions)) {
    known(`${name}.${key}`, action, actionKeys)
    const { undo = false, verify = false, answerWithin, onCancel, ...rest } = action as HttpActionOptions
    for (const [option, value] of Object.entries({ undo, verify, onCancel: onCancel ?? false }))
      if (typeof value !== 'boolean')
        throw new TriarchError('INVALID_OPTION', `${name}.${key}: ${option} must be a boolean`)
    const wait: SuspendOptions = {
      ...(answerWithin !== undefined && { timeout: answerWithin }),
      ...(onCancel && { onCancel }),
    }
    const push = new Push(endpoint, key, wait)
    const { input: inputs, output: outputs, ...policies } = rest
    defined[key] = agent.action(key, {
      ...policies,
      ...(inputs && { input: inputs as StandardSchema<unknown, unknown> }),
      ...(outputs && { output: outputs as StandardSchema<unknown, unknown> }),
      run: (input: unknown, step, received) => push.run(input, step, received),
      ...(undo && { undo: (done, step) => push.undo(done, step) }),
      ...(verify && { verify: (input: unknown, step) => push.verify(input, step) }),
    } as Parameters<Agent['action']>[1]) as Action
  }
  return { agent, actions: defined as HttpAgent<A>['actions'] }
}
