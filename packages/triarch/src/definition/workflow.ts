import { TriarchError } from '../error/error.ts'
import type { RescueStrategy } from '../kernel/step/policy.ts'
import { positiveMilliseconds } from '../value/duration.ts'
import type { GivenInput, Jsonified } from '../value/jsonified.ts'
import { checkName, checkVersion } from '../value/name.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import { checkSchema, type StandardSchema } from '../value/schema.ts'
import { boundKeys, toQueueBound } from './bound.ts'
import type { PlanContext, TaskContext, Workflow, WorkflowDefinition } from './definition.ts'
import { checkExclusive, type ExclusiveOptions } from './exclusive.ts'
import { toHookOrders } from './hook.ts'
import { inOrder } from './middleware.ts'
import { checkPriority, checkSecrets, toRescue } from './policy.ts'
import type { Resolved } from './reference.ts'
import { toRetention } from './retention.ts'
import { checkSettingPolicy } from './setting.ts'
import { checkSignals, type NoSignals, type SignalSchemas } from './signal.ts'

/** A workflow's definition as users write it; the types come from its schemas, or else from the annotations of `run`. */
export type TypedWorkflowDefinition<P, R, I, E extends SignalSchemas = NoSignals> = Omit<
  WorkflowDefinition<P, R>,
  'input' | 'output' | 'exclusive' | 'signals' | 'run' | 'plan'
> & {
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<NoInfer<P>>
  /** Checks the input at submission; `run` gets its result. Must be synchronous and deterministic. */
  input?: StandardSchema<I, P>
  /** The signals it accepts, with the schemas of their payloads. */
  signals?: E
  /** The logic. It is replayed from the history whenever its task is resumed, so all effects must go through `task`. */
  run(input: P, task: TaskContext<E>): R | Promise<R>
}

/** The return type of `run`: the input of the output schema, if there is one. */
export type Returning<P, S, E extends SignalSchemas> = [unknown] extends [S]
  ? unknown
  : { run(input: P, task: TaskContext<E>): S | Promise<S> }

/** A plan's definition as users write it. */
export type PlannedWorkflowDefinition<P, R, I> = Omit<
  WorkflowDefinition<P>,
  'input' | 'output' | 'exclusive' | 'signals' | 'run' | 'plan'
> & {
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<NoInfer<P>>
  /** Checks the input at submission; `plan` gets its result. Must be synchronous and deterministic. */
  input?: StandardSchema<I, P>
  /** Plans the task, once. Its return value, with references resolved, is the task's output. */
  plan(input: P, plan: PlanContext): R
}

const keys = [
  'version',
  'input',
  'output',
  'rescue',
  'taskWithin',
  'runWithin',
  'priority',
  'exclusive',
  'signals',
  'retention',
  'secrets',
  'middleware',
  'hooks',
  'finalizeAs',
  'policy',
  ...boundKeys,
  'run',
  'plan',
] as const

/**
 * Defines a workflow. Throws INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
 * @example
 * const fulfil = workflow('fulfil', {
 *   async run(order: { id: string; amount: number }, task) {
 *     const { id } = await task.run(charge, order)
 *     return { charge: id }
 *   },
 * })
 */
export function workflow<P, R, I = P, E extends SignalSchemas = NoSignals>(
  name: string,
  definition: TypedWorkflowDefinition<P, R, I, E> & { output?: never; plan?: never },
): Workflow<GivenInput<I>, Jsonified<R>, E>
export function workflow<P, R, O, I = P, E extends SignalSchemas = NoSignals>(
  name: string,
  definition: TypedWorkflowDefinition<P, NoInfer<R>, I, E> & { output: StandardSchema<R, O> },
): Workflow<GivenInput<I>, Jsonified<O>, E>
export function workflow<P, R, I = P>(
  name: string,
  definition: PlannedWorkflowDefinition<P, R, I>,
): Workflow<GivenInput<I>, Resolved<Awaited<R>>>
/** All overloads in one: compiler errors for a definition that fits none refer to this one. */
export function workflow<P, R, S = unknown, O = R, I = P, E extends SignalSchemas = NoSignals>(
  name: string,
  definition:
    | (TypedWorkflowDefinition<P, R, I, E> & { output?: StandardSchema<S, O>; plan?: never } & Returning<
          P,
          NoInfer<S>,
          E
        >)
    | PlannedWorkflowDefinition<P, R, I>,
): Workflow<GivenInput<I>, Jsonified<O>, E>
export function workflow(name: string, definition: WorkflowDefinition): Workflow {
  const what = `workflow "${checkName('workflow', name)}"`
  checkOptions(what, definition ?? null, keys)
  const { run, plan } = definition
  checkFunction(`${what}: ${plan === undefined ? 'run' : 'plan'}`, plan ?? run)
  if (plan !== undefined && (run ?? definition.output ?? definition.signals) !== undefined) {
    throw new TriarchError('INVALID_OPTION', `${what}: a plan has no run, no output schema and no signals`)
  }
  const { rescue, taskWithin, runWithin, priority, exclusive, finalizeAs = 'steps', version = '1' } = definition
  if (
    (finalizeAs !== 'steps' && finalizeAs !== 'transaction') ||
    (definition.finalizeAs !== undefined && plan === undefined)
  )
    throw new TriarchError('INVALID_OPTION', `${what}: finalizeAs must be "steps" or "transaction", of a plan`)
  if (definition.secrets !== undefined) checkSecrets(what, definition.secrets)
  inOrder(definition.middleware)
  toHookOrders(what, definition.hooks)
  checkSchema(`${what}: input`, definition.input)
  checkSchema(`${what}: output`, definition.output)
  checkSignals(`${what}: signals`, definition.signals)
  toRetention(definition.retention, `${what}: retention`)
  if (definition.policy !== undefined) checkSettingPolicy(`${what}: policy`, definition.policy)
  toQueueBound(what, definition, 'reject')
  if (rescue !== undefined) toRescue(rescue, `${what}: rescue`)
  if (taskWithin !== undefined) positiveMilliseconds(taskWithin, `${what}: taskWithin`)
  if (runWithin !== undefined) positiveMilliseconds(runWithin, `${what}: runWithin`)
  if (priority !== undefined) checkPriority(`${what}: priority`, priority)
  if (exclusive !== undefined) checkExclusive(`${what}: exclusive`, exclusive)
  return Object.freeze({ name, version: checkVersion(`${what}: version`, version), definition })
}

/** Throws UNKNOWN_WORKFLOW for anything that workflow() did not create. */
export function checkWorkflow(given: unknown): void {
  const { name, version, definition } = (given ?? {}) as Partial<Workflow>
  const code = definition?.run ?? definition?.plan
  if (typeof name === 'string' && typeof version === 'string' && typeof code === 'function') return
  throw new TriarchError('UNKNOWN_WORKFLOW', 'this is not a workflow: give what workflow() returned')
}

/** The rescue strategy for errors of the workflow's own code; compensate, if it has none or a skip. */
export function ownRescue(workflow: Workflow): Exclude<RescueStrategy, 'skip'> {
  const { rescue } = workflow.definition
  return rescue === 'pause' || rescue === 'fail' ? rescue : 'compensate'
}
