import { TriarchError } from '../error/error.ts'
import type { RescueStrategy } from '../kernel/step/policy.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import type { Given, Jsonified } from '../value/jsonified.ts'
import { checkName, checkVersion } from '../value/name.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import { checkSchema, type StandardSchema } from '../value/schema.ts'
import type { TaskContext } from './context.ts'
import { checkEvents, type EventSchemas, type NoEvents } from './event.ts'
import { checkExclusive, type ExclusiveOptions } from './exclusive.ts'
import { type TaskHook, toHookOrders } from './hook.ts'
import { inOrder, type Middleware } from './middleware.ts'
import type { PlanContext } from './plan.ts'
import { checkPriority, checkSecrets, type RescueOption, toRescue } from './policy.ts'
import type { Resolved } from './reference.ts'
import { type RetentionOption, toRetention } from './retention.ts'

/**
 * A workflow's logic and its policies. `I` is what `run` is given, `O` what it returns.
 * @example
 * const fulfil = workflow('fulfil', {
 *   version: '2',
 *   rescue: 'compensate',
 *   completeWithin: '1d',
 *   run: async (order: { id: string; amount: number }, task) => task.run(charge, order),
 * })
 */
export interface WorkflowDefinition<I = unknown, O = unknown> {
  /** A task keeps the version it started with; '1'. */
  version?: string
  /** Checks the input at submission; `run` is given what it makes of it. Must answer at once and always alike. */
  input?: StandardSchema
  /** Checks what `run` returns. */
  output?: StandardSchema
  /** The rescue strategy of its steps, over their actions'; and, unless it is a skip, of its own errors; compensate. */
  rescue?: RescueOption
  /** Complete-by of a task, counted from its submission; unbounded. */
  completeWithin?: Duration
  /** Higher first: -1,000,000 to 1,000,000; 0. */
  priority?: number
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<I>
  /**
   * The events it takes, with the schemas of their payloads: `task.event` and `emit` are typed by them. What a schema refuses is
   * refused where it is sent, if that process knows the workflow, else set aside when it comes. Must answer at once and always alike.
   */
  events?: EventSchemas
  /** How long its tasks are kept once they have stopped, over what the Triarch says; null: for ever. */
  retention?: RetentionOption
  /** Where secrets are in its input and output: see the option of actions. */
  secrets?: readonly string[]
  /** Around its submission, its planning, and the attempts of its steps where its code is. */
  middleware?: readonly Middleware[]
  /** Workflows that run when a task of it changes its state. */
  hooks?: readonly TaskHook[]
  /** The logic: runs anew from the history whenever its task is taken up again, so all effects go through `task`. */
  run?(input: I, task: TaskContext): O | Promise<O>
  /**
   * Of a plan. 'steps': each `finalize` is a step of its own, at its agent. 'transaction': all are one step where the task is
   * owned, in one transaction of the store that also records it; the schedulers must know the agents.
   */
  finalize?: 'steps' | 'transaction'
  /** In place of `run`: plans the task, once. What it returns, references and all, is the task's output. */
  plan?(input: I, plan: PlanContext): unknown
}

/** A workflow's definition as it is written: its schemas, or else the annotations of `run`, give the types. */
export type TypedWorkflowDefinition<P, R, I, E extends EventSchemas = NoEvents> = Omit<
  WorkflowDefinition<P, R>,
  'input' | 'output' | 'exclusive' | 'events' | 'run' | 'plan'
> & {
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<NoInfer<P>>
  /** Checks the input at submission; `run` is given what it makes of it. Must answer at once and always alike. */
  input?: StandardSchema<I, P>
  /** The events it takes, with the schemas of their payloads. */
  events?: E
  /** The logic: runs anew from the history whenever its task is taken up again, so all effects go through `task`. */
  run(input: P, task: TaskContext<E>): R | Promise<R>
}

/** With an output schema, `run` returns what that takes. */
export type Returning<P, S, E extends EventSchemas> = [unknown] extends [S]
  ? unknown
  : { run(input: P, task: TaskContext<E>): S | Promise<S> }

/** A plan's definition as it is written. */
export type PlannedWorkflowDefinition<P, R, I> = Omit<
  WorkflowDefinition<P>,
  'input' | 'output' | 'exclusive' | 'events' | 'run' | 'plan'
> & {
  /** One task at a time, of the workflow or of each key: `{}` for the workflow. */
  exclusive?: ExclusiveOptions<NoInfer<P>>
  /** Checks the input at submission; `plan` is given what it makes of it. Must answer at once and always alike. */
  input?: StandardSchema<I, P>
  /** Plans the task, once. What it returns, references and all, is the task's output. */
  plan(input: P, plan: PlanContext): R
}

/**
 * A defined workflow. `I` is what a submission gives, `O` what the task results in (as JSON has it), `E` the events it takes.
 * @example
 * const wait = async <I, O>(workflow: Workflow<I, O>, input: NoInfer<I>) =>
 *   (await triarch.submit(workflow, input)).result()
 */
export interface Workflow<I = unknown, O = unknown, E extends EventSchemas = NoEvents> {
  /** Its name. */
  readonly name: string
  /** Tasks keep the version they started with. */
  readonly version: string
  /** As it was given to workflow(). */
  readonly definition: WorkflowDefinition
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O; readonly events: E }
}

const keys = [
  'version',
  'input',
  'output',
  'rescue',
  'completeWithin',
  'priority',
  'exclusive',
  'events',
  'retention',
  'secrets',
  'middleware',
  'hooks',
  'finalize',
  'run',
  'plan',
]

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
export function workflow<P, R, I = P, E extends EventSchemas = NoEvents>(
  name: string,
  definition: TypedWorkflowDefinition<P, R, I, E> & { output?: never; plan?: never },
): Workflow<Given<I>, Jsonified<R>, E>
export function workflow<P, R, O, I = P, E extends EventSchemas = NoEvents>(
  name: string,
  definition: TypedWorkflowDefinition<P, NoInfer<R>, I, E> & { output: StandardSchema<R, O> },
): Workflow<Given<I>, Jsonified<O>, E>
export function workflow<P, R, I = P>(
  name: string,
  definition: PlannedWorkflowDefinition<P, R, I>,
): Workflow<Given<I>, Resolved<Awaited<R>>>
/** All of these in one, for the compiler: what it says of a definition that fits none is said of this. */
export function workflow<P, R, S = unknown, O = R, I = P, E extends EventSchemas = NoEvents>(
  name: string,
  definition:
    | (TypedWorkflowDefinition<P, R, I, E> & { output?: StandardSchema<S, O>; plan?: never } & Returning<
          P,
          NoInfer<S>,
          E
        >)
    | PlannedWorkflowDefinition<P, R, I>,
): Workflow<Given<I>, Jsonified<O>, E>
export function workflow(name: string, definition: WorkflowDefinition): Workflow {
  const what = `workflow "${checkName('workflow', name)}"`
  checkOptions(what, definition ?? null, keys)
  const { run, plan } = definition
  checkFunction(`${what}: ${plan === undefined ? 'run' : 'plan'}`, plan ?? run)
  if (plan !== undefined && (run ?? definition.output ?? definition.events) !== undefined) {
    throw new TriarchError('INVALID_OPTION', `${what}: a plan has no run, no output schema and no events`)
  }
  const { rescue, completeWithin, priority, exclusive, finalize = 'steps', version = '1' } = definition
  if ((finalize !== 'steps' && finalize !== 'transaction') || (definition.finalize !== undefined && plan === undefined))
    throw new TriarchError('INVALID_OPTION', `${what}: finalize must be "steps" or "transaction", of a plan`)
  if (definition.secrets !== undefined) checkSecrets(what, definition.secrets)
  inOrder(definition.middleware)
  toHookOrders(what, definition.hooks)
  checkSchema(`${what}: input`, definition.input)
  checkSchema(`${what}: output`, definition.output)
  checkEvents(`${what}: events`, definition.events)
  toRetention(definition.retention, `${what}: retention`)
  if (rescue !== undefined) toRescue(rescue, `${what}: rescue`)
  if (completeWithin !== undefined) positiveMilliseconds(completeWithin, `${what}: completeWithin`)
  if (priority !== undefined) checkPriority(`${what}: priority`, priority)
  if (exclusive !== undefined) checkExclusive(`${what}: exclusive`, exclusive)
  return Object.freeze({ name, version: checkVersion(`${what}: version`, version), definition })
}

/** Throws UNKNOWN_WORKFLOW for anything that workflow() did not make. */
export function checkWorkflow(given: unknown): void {
  const { name, version, definition } = (given ?? {}) as Partial<Workflow>
  const code = definition?.run ?? definition?.plan
  if (typeof name === 'string' && typeof version === 'string' && typeof code === 'function') return
  throw new TriarchError('UNKNOWN_WORKFLOW', 'this is no workflow: give what workflow() returned')
}

/** What happens to a task whose workflow threw: its rescue strategy, or compensate when that is none or a skip. */
export function ownRescue(workflow: Workflow): Exclude<RescueStrategy, 'skip'> {
  const { rescue } = workflow.definition
  return rescue === 'pause' || rescue === 'fail' ? rescue : 'compensate'
}
