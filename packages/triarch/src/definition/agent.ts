import { TriarchError } from '../error/error.ts'
import type { Given, Jsonified } from '../value/jsonified.ts'
import { checkName } from '../value/name.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { checkSchema, type StandardSchema } from '../value/schema.ts'
import {
  type Action,
  type ActionDefinition,
  capabilities,
  type StepContext,
  type StepEvent,
  type Verification,
} from './action.ts'
import { type BatchDefinition, type BatchResult, type Items, type PageRequest, pageOf, toBatchPolicy } from './batch.ts'
import { inOrder } from './middleware.ts'
import type { ActionPlanContext, PlanContext, PlanningAction } from './plan.ts'
import { type PolicyOptions, policyKeys, toRecordedPolicy } from './policy.ts'
import type { Resolved } from './reference.ts'
import {
  type ThreadActionDefinition,
  type ThreadInput,
  type ThreadModule,
  type ThreadOutput,
  threadDefinition,
} from './thread.ts'

/**
 * Bounds of an agent.
 * @example const payments = agent('payments', { concurrency: 20 })
 */
export interface AgentOptions {
  /** Most attempts at a time in one process: 1 to 100,000; 100. */
  concurrency?: number
}

/** An action's definition as it is written: its schemas, or else the annotations of `run`, give the types. */
export type TypedActionDefinition<P, R, I, O> = Omit<
  ActionDefinition<P, R>,
  'input' | 'output' | 'run' | 'undo' | 'finalize' | 'plan'
> & {
  /** Checks the input where the step is requested, and again where it runs; `run` is given what it makes of it. */
  input?: StandardSchema<I, P>
  /** Does the work. May run more than once: see `step.idempotencyKey`. */
  run(input: P, step: StepContext, event?: StepEvent): R | Promise<R>
  /** Takes back what `run` did. May run more than once. */
  undo?(done: { input: P; output: Jsonified<O> }, step: StepContext): unknown
  /** In a plan: runs once all its steps have run, in the order of planning. May run more than once. */
  finalize?(done: { input: P; output: Jsonified<O> }, step: StepContext, tx: never): unknown
}

/** With an output schema: what it is given. */
export type OutputOf<P, S> = [unknown] extends [S]
  ? unknown
  : {
      run(input: P, step: StepContext, event?: StepEvent): S | Promise<S>
      verify?(input: P, step: StepContext): Verification<S> | Promise<Verification<S>>
    }

/** An action that only plans others: what `plan` returns, references and all, is its output. */
export type PurePlanDefinition<A, R> = PolicyOptions &
  Pick<ActionDefinition, 'middleware' | 'subscribe'> & {
    /** Plans the steps. Answers at once. */
    plan(input: A, plan: PlanContext): R
    /** It has none: what it plans does the work. */
    run?: never
  }

/**
 * A named group of actions on one remote service or resource, with a concurrency of its own.
 * @example const actions = [...payments.actions.keys()]
 */
export interface Agent {
  /** Its name, the first part of the keys of its actions. */
  readonly name: string
  /** Most attempts at a time in one process. */
  readonly concurrency: number
  /** Its actions by their names. */
  readonly actions: ReadonlyMap<string, Action>
  /**
   * Defines an action. Throws DUPLICATE_DEFINITION, INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
   * @example
   * const charge = payments.action('charge', {
   *   completeWithin: '5s',
   *   run: (order: { amount: number }, step) => api.charge(order, step.idempotencyKey),
   *   undo: ({ output }) => api.refund(output.id),
   * })
   */
  action<P, R, I = P>(
    name: string,
    definition: TypedActionDefinition<P, R, I, R> & { output?: never; plan?: never },
  ): Action<Given<I>, Jsonified<R>>
  action<P, R, O, I = P>(
    name: string,
    definition: TypedActionDefinition<P, NoInfer<R>, I, NoInfer<O>> & {
      output: StandardSchema<R, O>
      plan?: never
    },
  ): Action<Given<I>, Jsonified<O>>
  /** Defines an action whose code runs in a pool of threads: `action<typeof import('./resize.ts')>(…)`. */
  action<M extends ThreadModule = { run(input: unknown): unknown }>(
    name: string,
    definition: ThreadActionDefinition,
  ): Action<Given<ThreadInput<M>>, ThreadOutput<M>>
  /** Defines an action that plans others; with `run`, its own too, by `plan.self`. */
  action<A, R>(name: string, definition: PurePlanDefinition<A, R>): PlanningAction<A, Resolved<R>>
  action<A, P, R>(
    name: string,
    definition: TypedActionDefinition<P, R, P, R> & {
      plan(input: A, plan: ActionPlanContext<P, Jsonified<R>>): void
      output?: never
    },
  ): PlanningAction<A, Jsonified<R>>
  /** The first two in one, for the compiler: what it says of a definition that fits none is said of this. */
  action<P, R, S = unknown, O = R, I = P>(
    name: string,
    definition: TypedActionDefinition<P, R, I, O> & { output?: StandardSchema<S, O>; plan?: never } & OutputOf<
        P,
        NoInfer<S>
      >,
  ): Action<Given<I>, Jsonified<O>>
  /**
   * Defines a batch: a step that runs a child task for each of any number of inputs and gives the counts of what became of
   * them. Throws like action(), and UNKNOWN_WORKFLOW.
   * @example
   * const chargeAll = payments.batch('charge-all', {
   *   workflow: fulfil,
   *   items: (day: { date: string }, page) => api.orders(day.date, page.offset, page.limit),
   * })
   */
  batch<I, C>(
    name: string,
    definition: Omit<BatchDefinition<I, C>, 'items'> & {
      items(input: I, page: PageRequest, step: StepContext): Items<NoInfer<C>> | Promise<Items<NoInfer<C>>>
    },
  ): Action<Given<I>, BatchResult>
}

const actionKeys = [
  ...policyKeys,
  'concurrency',
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
]

/**
 * Defines an agent. Throws INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const payments = agent('payments', { concurrency: 20 })
 * const charge = payments.action('charge', { run: (order: { amount: number }) => api.charge(order) })
 */
export function agent(name: string, options: AgentOptions = {}): Agent {
  checkName('agent', name)
  checkOptions(`agent "${name}"`, options, ['concurrency'])
  const actions = new Map<string, Action>()
  const concurrency = checkInteger(`agent "${name}": concurrency`, options.concurrency ?? 100, 1, 100_000)
  const self: Agent = Object.freeze({
    name,
    concurrency,
    actions,
    action: ((actionName: string, definition: ActionDefinition | ThreadActionDefinition) => {
      const action = define(self, actionName, definition)
      actions.set(actionName, action)
      return action
    }) as Agent['action'],
    batch: ((actionName: string, definition: BatchDefinition) => {
      const { workflow: _, items: __, undo = true, ...policies } = definition ?? {}
      const what = `${name}.${actionName}`
      const batch = { policy: toBatchPolicy(what, definition), undo }
      const policyOf = Object.fromEntries(Object.entries(policies).filter(([key]) => policyKeys.includes(key)))
      const run = pageOf(what, definition)
      const action = register(self, actionName, { ...policyOf, run, batch })
      actions.set(actionName, action)
      return action
    }) as Agent['batch'],
  })
  return self
}

function define(agent: Agent, name: string, given: ActionDefinition | ThreadActionDefinition): Action {
  const key = `${agent.name}.${name}`
  checkOptions(key, given ?? null, actionKeys)
  const definition = isThreaded(given) ? threadDefinition(key, given) : given
  const { run, plan, finalize, undo, verify, input, output } = definition
  if (definition.concurrency !== undefined) checkInteger(`${key}: concurrency`, definition.concurrency, 1, 100_000)
  if (plan !== undefined) checkFunction(`${key}: plan`, plan)
  if (plan === undefined || run !== undefined) checkFunction(`${key}: run`, run)
  if (finalize !== undefined) checkFunction(`${key}: finalize`, finalize)
  if (undo !== undefined) checkFunction(`${key}: undo`, undo)
  if (verify !== undefined) checkFunction(`${key}: verify`, verify)
  if (definition.present !== undefined) checkFunction(`${key}: present`, definition.present)
  inOrder(definition.middleware)
  for (const other of definition.subscribe ?? []) checkAction(`${key}: subscribe`, other)
  checkSchema(`${key}: input`, input)
  checkSchema(`${key}: output`, output)
  return register(agent, name, definition)
}

function isThreaded(given: ActionDefinition | ThreadActionDefinition): given is ThreadActionDefinition {
  return given.thread !== undefined
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
  // Policies that make no sense are found here, and the usual one is ready for the first step.
  toRecordedPolicy(action, undefined, undefined, capabilities(definition))
  return action
}
