import type { Action } from './action.ts'
import type { StepOptions } from './context.ts'
import type { Reference, Templated } from './reference.ts'

/**
 * Policies of one planned step and its place in the plan.
 * @example
 * const first = plan.step(charge, { id: 'o-1', amount: 10 })
 * plan.step(ship, { id: 'o-1', charge: 'on invoice' }, { after: [first], rescue: 'skip' })
 */
export interface PlannedStepOptions extends StepOptions {
  /** Waits for these besides the steps its input refers to. */
  after?: readonly { readonly output: unknown }[]
}

/**
 * A step that was planned, or everything that an action planned.
 * @example const { output }: Planned<{ id: string }> = plan.step(charge, { id: 'o-1', amount: 10 })
 */
export interface Planned<O = unknown> {
  /** What it will give: may stand in the input of any later step, or in what `plan` returns. */
  readonly output: Reference<O>
}

/** An action that plans others. It is given what `plan.step` is given, references and all. */
export interface PlanningAction<I = unknown, O = unknown> extends Action<I, O> {
  /** It plans others, and so needs its input when it is planned. */
  readonly plans: true
}

/**
 * Builds a plan. Steps run as soon as what they refer to is done; `sequence`, `concurrence` and `after` add order where no
 * data does. Used after `plan` has returned, or with what belongs to another plan, it throws PLAN_MISUSE.
 * @example
 * const flow = workflow('flow', {
 *   plan({ id }: { id: string }, plan) {
 *     const { output } = plan.step(charge, { id, amount: 10 })
 *     plan.step(ship, { id, charge: output.id })
 *     return { charge: output.id }
 *   },
 * })
 */
export interface PlanContext {
  /** The transaction given to submit(); undefined when a scheduler plans, and in a preview. */
  readonly via: unknown
  /** For an action that subscribes: the step it is planned beside. */
  readonly subscribed: Planned | undefined

  /**
   * Plans a step, or all that an action plans. Its `rescue` has the last word over those of what the action plans.
   * Throws PLAN_MISUSE, PLAN_TOO_LARGE, UNKNOWN_ACTION, INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example
   * const { output } = plan.step(charge, { id: 'o-1', amount: 10 })
   * plan.step(ship, { id: 'o-1', charge: output.id })
   */
  step<I, O, A extends Action<I, O>>(
    action: A & Action<I, O>,
    input: A extends { readonly plans: true } ? NoInfer<I> : Templated<NoInfer<I>>,
    options?: PlannedStepOptions,
  ): Planned<O>

  /**
   * What is planned in it runs one after the other.
   * @example
   * plan.sequence(() => {
   *   plan.step(charge, { id: 'o-1', amount: 10 })
   *   plan.step(charge, { id: 'o-2', amount: 20 })
   * })
   */
  sequence<T>(block: () => T): T

  /**
   * What is planned in it runs while the task has the lock of this name, which one task at a time can have. It is given
   * back when all of it is done; when some of it failed or was skipped, with the end of the task.
   * @example plan.lock('stock', () => plan.step(ship, { id: 'o-1', charge: 'c-1' }))
   */
  lock<T>(name: string, block: () => T): T

  /**
   * What is planned in it runs side by side, but for what refers to each other. So does the body of every plan.
   * @example
   * plan.sequence(() => {
   *   plan.concurrence(() => ['o-1', 'o-2'].map((id) => plan.step(charge, { id, amount: 10 })))
   *   plan.step(ship, { id: 'o-1', charge: 'c-1' })
   * })
   */
  concurrence<T>(block: () => T): T
}

/** The same for an action that plans: it may plan its own `run`, too. */
export interface ActionPlanContext<I, O> extends PlanContext {
  /**
   * Plans the action's own `run` (and `finalize`) with this input.
   * @example
   * const install = payments.action('install', {
   *   plan(input: { id: string; amount: number }, plan) {
   *     plan.self({ charge: plan.step(charge, input).output.id })
   *   },
   *   run: (input: { charge: string }) => ({ installed: input.charge }),
   * })
   */
  self(input: Templated<NoInfer<I>>, options?: PlannedStepOptions): Planned<O>
}
