import { TriarchError } from '../error/error.ts'
import { checkName } from '../value/name.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import { checkSchema } from '../value/schema.ts'
import { capabilities, threadDefinition } from './action.ts'
import type { AgentPolicy } from './agent-policy.ts'
import { pageOf, toBatchPolicy } from './batching.ts'
import { type CircuitBreakerOptions, toAgentBreaker } from './breaker.ts'
import { toCachePolicy } from './cache.ts'
import { type ConcurrencyOptions, toActionConcurrency, toConcurrency } from './concurrency.ts'
import type { Action, ActionDefinition, Agent, BatchDefinition, ThreadActionDefinition } from './definition.ts'
import { checkWhenOpen } from './fallback.ts'
import { keyedOf, keyOf } from './key.ts'
import { inOrder } from './middleware.ts'
import { policiesOf, policyKeys, toRecordedPolicy } from './policy.ts'
import { type QueueOptions, queueKeys, toPools, toQueueRule } from './queue.ts'
import { type RateLimitOptions, toRateRule } from './rate.ts'
import { checkSettingPolicy, type SettingPolicy } from './setting.ts'

/**
 * Bounds of an agent.
 * @example const payments = agent('payments', { concurrency: 20 })
 */
export interface AgentOptions extends QueueOptions {
  /** Most attempts at a time in one process: 1 to 100,000; 100. Or in all processes together, or adapted to the service. */
  concurrency?: number | ConcurrencyOptions
  /** The circuit breaker of its service, shared by all nodes; none when not given. */
  circuitBreaker?: CircuitBreakerOptions
  /** How many attempts may begin in a span of time, over all nodes together; any number when not given. */
  rateLimit?: RateLimitOptions
  /** A policy that follows a setting and overrides these options and those of its actions: the result of the setting's `as()`; none. */
  policy?: SettingPolicy<AgentPolicy>
}

const actionKeys = [
  ...policyKeys,
  'concurrency',
  'rateLimit',
  'cache',
  'whenOpen',
  'input',
  'output',
  'run',
  'thread',
  'undo',
  'verify',
  'plan',
  'finalize',
  'present',
  'hints',
  'middleware',
  'subscribe',
] as const

/** Default for the attempts at a time in one process. */
const USUAL = 100

/**
 * Defines an agent. Throws INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
 * @example
 * const payments = agent('payments', { concurrency: 20 })
 * const charge = payments.action('charge', { run: (order: { amount: number }) => api.charge(order) })
 */
export function agent(name: string, options: AgentOptions = {}): Agent {
  checkName('agent', name)
  checkOptions(`agent "${name}"`, options, ['concurrency', 'circuitBreaker', 'rateLimit', 'policy', ...queueKeys])
  const actions = new Map<string, Action>()
  const { each, shared, keyed, least } = toConcurrency(`agent "${name}": concurrency`, options.concurrency)
  const { circuitBreaker, rateLimit, policy } = options
  if (policy !== undefined) checkSettingPolicy(`agent "${name}": policy`, policy)
  if (circuitBreaker !== undefined) toAgentBreaker(`agent "${name}": circuitBreaker`, circuitBreaker)
  if (rateLimit !== undefined) toRateRule(`agent "${name}": rateLimit`, rateLimit)
  toQueueRule(name, options)
  keyOf(`agent "${name}"`, options)
  const { ageing, fairness } = options
  const pools = toPools(name, options)
  if (pools && (each ?? least ?? null) !== null)
    throw new TriarchError(
      'INVALID_OPTION',
      `agent "${name}": pools say how many attempts run in a process: concurrency may be shared only`,
    )
  const self: Agent = Object.freeze({
    name,
    concurrency: pools ? pools.high + pools.rest : (each ?? (keyed ? null : shared) ?? USUAL),
    ...(shared !== null && { shared }),
    ...(least && { least }),
    ...(typeof options.concurrency === 'object' && options.concurrency.key && { sharedKey: options.concurrency.key }),
    ...(circuitBreaker !== undefined && { circuitBreaker: Object.freeze({ ...circuitBreaker }) }),
    ...(rateLimit !== undefined && { rateLimit: Object.freeze({ ...rateLimit }) }),
    ...(ageing !== undefined && { ageing }),
    ...(pools && { pools }),
    ...(fairness !== undefined && { fairness: Object.freeze({ ...fairness }) }),
    ...(policy !== undefined && { policy }),
    actions,
    action: ((actionName: string, definition: GivenAction) => {
      const action = define(self, actionName, definition)
      actions.set(actionName, action)
      return action
    }) as Agent['action'],
    batch: ((actionName: string, definition: BatchDefinition) => {
      const { workflow: _, items: __, undo = true, ...policies } = definition ?? {}
      const what = `${name}.${actionName}`
      const batch = { policy: toBatchPolicy(what, definition), undo }
      const run = pageOf(what, definition)
      const action = register(self, actionName, { ...policiesOf(policies), run, batch })
      actions.set(actionName, action)
      return action
    }) as Agent['batch'],
  })
  return self
}

type GivenAction = Omit<ActionDefinition, 'batch' | 'thread'> | ThreadActionDefinition

function define(agent: Agent, name: string, given: GivenAction): Action {
  const key = `${agent.name}.${name}`
  checkOptions(key, given ?? null, actionKeys)
  const definition = isThreaded(given) ? threadDefinition(key, given) : given
  const { run, plan, finalize, undo, verify, input, output } = definition
  toActionConcurrency(`${key}: concurrency`, definition.concurrency)
  keyOf(key, definition, keyedOf(agent))
  if (definition.rateLimit !== undefined) toRateRule(`${key}: rateLimit`, definition.rateLimit)
  if (definition.cache !== undefined) checkCached(key, definition)
  if (plan !== undefined) checkFunction(`${key}: plan`, plan)
  if (plan === undefined || run !== undefined) checkFunction(`${key}: run`, run)
  if (finalize !== undefined) checkFunction(`${key}: finalize`, finalize)
  if (undo !== undefined) checkFunction(`${key}: undo`, undo)
  if (verify !== undefined) checkFunction(`${key}: verify`, verify)
  if (definition.present !== undefined) checkFunction(`${key}: present`, definition.present)
  if (plan !== undefined && run === undefined) checkPlans(key, definition)
  inOrder(definition.middleware)
  for (const other of definition.subscribe ?? []) checkAction(`${key}: subscribe`, other)
  checkSchema(`${key}: input`, input)
  checkSchema(`${key}: output`, output)
  return register(agent, name, definition)
}

const ofRun = [
  ...([
    'attemptWithin',
    'stepWithin',
    'heartbeatWithin',
    'retry',
    'undoRetry',
    'rescue',
    'semantics',
    'priority',
  ] as const),
  ...(['weight', 'concurrency', 'rateLimit', 'cache', 'whenOpen', 'undo', 'verify', 'finalize'] as const),
]

/** Checks an action that only plans: it has no step of its own, so options of how a step is run are refused. Throws INVALID_OPTION. */
function checkPlans(key: string, definition: ActionDefinition): void {
  const vain = ofRun.find((name) => definition[name] !== undefined)
  if (vain !== undefined)
    throw new TriarchError('INVALID_OPTION', `${key}: ${vain} is for an action with run, and this one only plans`)
}

/** Checks the options of a cached action: an action that changes something must run each time. Throws INVALID_OPTION. */
function checkCached(key: string, definition: ActionDefinition): void {
  const { cache, secrets, undo, verify, plan, finalize, semantics } = definition
  const other = Object.entries({ undo, verify, plan, finalize }).find(([, it]) => it !== undefined)?.[0]
  const why = other ?? (semantics === 'at-most-once' ? "semantics: 'at-most-once'" : undefined)
  if (why !== undefined)
    throw new TriarchError('INVALID_OPTION', `${key}: cache is for what only reads, and so it excludes ${why}`)
  if (cache) toCachePolicy(key, cache, secrets)
}

function isThreaded(given: GivenAction): given is ThreadActionDefinition {
  return 'thread' in given && given.thread !== undefined
}

function checkAction(what: string, action: Pick<Action, 'key'>): void {
  if (typeof action?.key !== 'string')
    throw new TriarchError('UNKNOWN_ACTION', `${what}: give what agent.action() returned`)
}

function register(agent: Agent, name: string, definition: ActionDefinition): Action {
  const key = `${agent.name}.${checkName(`action of agent "${agent.name}"`, name)}`
  if (agent.actions.has(name)) throw new TriarchError('DUPLICATE_DEFINITION', `Action ${key} is already defined`)
  const { plan } = definition
  const action: Action = Object.freeze({ agent, name, key, definition, plans: plan !== undefined })
  if (definition.whenOpen !== undefined) checkWhenOpen(action)
  // Invalid policies are found here, and the usual one is cached for the first step.
  toRecordedPolicy(action, undefined, undefined, capabilities(definition))
  return action
}
