import { capabilities, finalizeKey } from '../definition/action.ts'
import type { PlannedStepOptions } from '../definition/call.ts'
import type { Action, ActionPlanContext, Workflow } from '../definition/definition.ts'
import { checkLockName } from '../definition/exclusive.ts'
import { around, inOrder, type Middleware } from '../definition/middleware.ts'
import { checkWeight, type RescueOption, toRecordedPolicy } from '../definition/policy.ts'
import type { Planned } from '../definition/reference.ts'
import { newReference } from '../definition/reference.ts'
import { TriarchError } from '../error/error.ts'
import { FINALIZE, type Plan, type PlannedGroup, type PlannedStep } from '../kernel/plan/plan.ts'
import type { SecretPaths } from '../kernel/secret.ts'
import type { RecordedPolicy } from '../kernel/step/policy.ts'
import { isPromise } from '../value/answer.ts'
import { invalid, validateSync } from '../value/schema.ts'
import type { PlanLimits } from './limits.ts'
import { PlanLocks } from './plan-locks.ts'
import { checkGroup, finalizePolicy } from './policy.ts'
import { handles, type TemplateContext, templateMisuse, toTemplate } from './template.ts'

/** The actions that are planned whenever the action of this key is. */
export type Subscribers = (key: string) => readonly Action[]

interface PlannerOptions {
  limits: PlanLimits
  /** Middleware around the workflow's planning; it is also the outer part of the middleware around the planning of actions. */
  chain: readonly Middleware[]
  subscribers?: Subscribers | undefined
  /** Names of the locks of the task's submission, which it holds until it has stopped. */
  held?: readonly string[]
}

/** The place where the next step goes: its order and the action that plans it. */
interface Scope {
  kind: 'sequence' | 'concurrence'
  /** Steps that the first member waits for. */
  incoming: readonly number[]
  /** The last member (sequence), or all members that have no successor yet (concurrence). */
  exits: number[]
  group: number | undefined
  /** Rescue strategies of the enclosing actions, outermost first. */
  rescues: readonly RescueOption[]
}

interface Handle extends Planned {
  exits: readonly number[]
}

/** Builds one plan. Ids are assigned in the order of planning, so a step can only wait for earlier ones. */
export class Planner {
  readonly #steps: PlannedStep[] = []
  readonly #policies: RecordedPolicy[] = []
  readonly #places = new Map<RecordedPolicy | string, number>()
  readonly #groups: PlannedGroup[] = []
  readonly #finalizers: PlannedStep[] = []
  /** The finalize phase is one transaction; the fields below collect its steps, policies and secrets. */
  readonly #together: boolean
  readonly #finalized: number[] = []
  readonly #bounds: RecordedPolicy[] = []
  readonly #hidden = new Set<string>()
  readonly #locks: PlanLocks
  readonly #first: number
  readonly #workflow: string
  readonly #rescue: RescueOption | undefined
  readonly #chain: readonly Middleware[]
  readonly #subscribers: Subscribers
  readonly #limits: PlanLimits
  #scope: Scope = { kind: 'concurrence', incoming: [], exits: [], group: undefined, rescues: [] }
  #open = true
  #bytes = 0

  constructor(
    first: number,
    { name, definition }: Workflow,
    { limits, chain, subscribers, held = [] }: PlannerOptions,
  ) {
    this.#first = first
    this.#workflow = name
    this.#rescue = definition.rescue
    this.#together = definition.finalizeAs === 'transaction'
    this.#limits = limits
    this.#chain = chain
    this.#subscribers = subscribers ?? (() => [])
    this.#locks = new PlanLocks(held, (id) => this.#steps[id - first] as PlannedStep)
  }

  /** The context that is passed to planning code. */
  context(transaction: unknown, own?: Action, subscribed?: Planned): ActionPlanContext<unknown, unknown> {
    return {
      transaction,
      subscribed,
      step: (action: Action, input: unknown, options?: PlannedStepOptions) =>
        this.#step(action, input, options ?? {}, transaction),
      self: (input: unknown, options?: PlannedStepOptions) => {
        if (!own?.definition.run) throw templateMisuse(`${own?.key ?? 'a workflow'} has no run to plan`)
        return this.#add(own, input, options ?? {})
      },
      sequence: <T>(block: () => T) => this.#block('sequence', block),
      concurrence: <T>(block: () => T) => this.#block('concurrence', block),
      lock: <T>(name: string, block: () => T) => this.#lock(checkLockName(name), block),
    } as ActionPlanContext<unknown, unknown>
  }

  /** Closes the plan and returns it. */
  finish(output: unknown): Plan {
    const template = toTemplate(output, this.#reading('output of the plan'))
    this.#open = false
    const steps = [...this.#steps, ...this.#finalizers, ...this.#phase()]
    this.#checkSize(steps.length)
    return { first: this.#first, steps, policies: this.#policies, groups: this.#groups, output: template }
  }

  #step(action: Action, input: unknown, options: PlannedStepOptions, transaction: unknown): Planned {
    const before = this.#before(options.after ?? [])
    const planned = this.#alone(action, input, options, transaction)
    for (const subscriber of this.#subscribers(action.key)) {
      if (this.#subscribing.has(subscriber.key)) throw templateMisuse(`${subscriber.key} subscribes to itself`)
      this.#subscribing.add(subscriber.key)
      this.#beside(before, () => this.#alone(subscriber, input, {}, transaction, planned))
      this.#subscribing.delete(subscriber.key)
    }
    return planned
  }

  readonly #subscribing = new Set<string>()

  /** Runs a body that waits for the same steps as the other action; nothing of an enclosing sequence waits for it. */
  #beside(incoming: readonly number[], body: () => unknown): void {
    const { group, rescues } = this.#scope
    const outer = this.#scope
    this.#scope = { kind: 'concurrence', incoming, exits: [], group, rescues }
    try {
      body()
    } finally {
      this.#scope = outer
    }
  }

  #alone(action: Action, input: unknown, options: PlannedStepOptions, transaction: unknown, beside?: Planned): Planned {
    this.#check()
    const { plan } = action?.definition ?? {}
    if (plan === undefined) return this.#add(action, input, options)
    checkGroup(action.key, options)
    const { exits, output } = this.#within(action, options, () => {
      const chain = inOrder(this.#chain, action.definition.middleware)
      const call = { workflow: this.#workflow, action: action.key, input, transaction }
      const context = this.context(transaction, action, beside)
      const planned = around(chain, 'plan', call, (changed) => plan(changed, context))
      if (isPromise(planned)) throw templateMisuse(`the plan of ${action.key} must answer at once`)
      return planned
    })
    return this.#handle(exits, () => output)
  }

  /** Runs an action's own planning as one block, under a group of its own. */
  #within(action: Action, options: PlannedStepOptions, body: () => unknown): { exits: number[]; output: unknown } {
    const { after = [], weight: _, ...rest } = options
    const outer = this.#scope
    const before = this.#before(after)
    const group: PlannedGroup = { action: action.key, name: rest.name ?? action.name }
    if (outer.group !== undefined) group.group = outer.group
    this.#groups.push(group)
    const rescues = rest.rescue === undefined ? outer.rescues : [...outer.rescues, rest.rescue]
    const scope: Scope = {
      kind: 'concurrence',
      incoming: this.#joined(before),
      exits: [],
      group: this.#groups.length - 1,
      rescues,
    }
    const own: { last: Handle | null } = { last: null }
    const kept = this.#selves
    this.#selves = own
    const returned = this.#enter(scope, body)
    this.#selves = kept
    return { exits: scope.exits, output: returned ?? own.last?.output }
  }

  #selves: { last: Handle | null } = { last: null }

  #block<T>(kind: Scope['kind'], block: () => T): T {
    this.#check()
    const { group, rescues } = this.#scope
    const incoming = this.#joined(this.#before([]))
    const result = this.#enter({ kind, incoming, exits: [], group, rescues }, block)
    if (isPromise(result)) throw templateMisuse(`a ${kind} must answer at once`)
    return result
  }

  #lock<T>(name: string, block: () => T): T {
    return this.#block('sequence', () => {
      const before = this.#before([])
      this.#locks.take(name, before)
      const taken = this.#push({ action: null, lock: name, ...this.#after(before) })
      this.#leave([taken], true)
      const result = this.#block('concurrence', block)
      const released = this.#push({ action: null, unlock: taken, ...this.#after(this.#before([])) })
      this.#locks.release(name, released)
      this.#leave([released], true)
      return result
    })
  }

  #after(before: number[]): Pick<PlannedStep, 'after'> {
    return before.length > 0 ? { after: before } : {}
  }

  #enter<T>(scope: Scope, body: () => T): T {
    const outer = this.#scope
    this.#scope = scope
    try {
      return body()
    } finally {
      this.#scope = outer
      this.#leave(scope.exits.length > 0 ? scope.exits : scope.incoming, scope.exits.length > 0)
    }
  }

  /** The steps that the scope's next member waits for. */
  #before(after: readonly object[]): number[] {
    const { kind, incoming, exits } = this.#scope
    const before = new Set(kind === 'sequence' && exits.length > 0 ? exits : incoming)
    for (const planned of after) {
      if (!handles.has(planned)) throw templateMisuse('`after` takes what plan.step returned')
      for (const id of (planned as unknown as Handle).exits) before.add(id)
    }
    return [...before]
  }

  /** Records the exits of a member. */
  #leave(exits: readonly number[], grew: boolean): void {
    const scope = this.#scope
    if (!grew) return
    if (scope.kind === 'sequence') scope.exits = [...exits]
    else scope.exits.push(...exits)
  }

  /** Replaces several predecessors by a join: n steps that wait for m others then need n + m edges instead of n × m. */
  #joined(before: number[]): number[] {
    return before.length > 1 ? [this.#push({ action: null, after: before })] : before
  }

  #add(action: Action, input: unknown, options: PlannedStepOptions): Handle {
    this.#check()
    const { definition, key } = action ?? {}
    if (typeof definition?.run !== 'function')
      throw new TriarchError('UNKNOWN_ACTION', 'this is not an action: give what agent.action() returned')
    const { after = [], weight, ...rest } = options
    const share = weight ?? definition.weight
    if (share !== undefined) checkWeight(`options of ${key}`, share)
    const reading = this.#reading(`input of ${key}`, definition.secrets)
    const template = toTemplate(input, reading)
    if (definition.input && reading.found.size === 0) {
      const checked = validateSync(definition.input, input)
      if (checked !== 'async' && 'issues' in checked) throw invalid(checked, 'INVALID_INPUT', `input of ${key}`)
    }
    const before = this.#before(after).filter((id) => !reading.found.has(id))
    const [rescue = rest.rescue] = this.#scope.rescues
    const stepOptions = rescue === undefined ? rest : { ...rest, rescue }
    const step: PlannedStep = { action: key }
    if (template !== null) step.input = template
    if (typeof template === 'object' || typeof template === 'string') this.#bytes += JSON.stringify(template).length
    if (rest.name !== undefined && rest.name !== action.name) step.name = rest.name
    if (before.length > 0) step.after = before
    const policy = this.#place(toRecordedPolicy(action, this.#rescue, stepOptions, capabilities(definition)))
    if (policy > 0) step.policy = policy
    if (share !== undefined) step.weight = share
    const { group } = this.#scope
    if (group !== undefined) step.group = group
    const id = this.#push(step)
    if (definition.finalize) this.#finalize(action, stepOptions, step, id)
    this.#leave([id], true)
    const output = newReference({ operation: 'output', of: [id], path: [], plan: this })
    const handle = this.#handle([id], () => output)
    if (action.plans) this.#selves.last = handle
    return handle
  }

  #finalize(action: Action, options: PlannedStepOptions, { name, group }: PlannedStep, id: number): void {
    // The input of a finalizer contains the input and the output of its run step.
    const secrets = action.definition.secrets?.flatMap((path) => [`input.${path}`, `output.${path}`])
    // The policy is that of the run step, except that a finalizer may always be repeated and is never undone.
    const repeatable = { ...options, semantics: 'at-least-once' as const, ...(secrets && { secrets }) }
    if (this.#together) {
      this.#finalized.push(id)
      this.#bounds.push(toRecordedPolicy(action, this.#rescue, repeatable, { undo: false, verify: true }))
      for (const path of secrets ?? []) this.#hidden.add(`*.${path}`)
      return
    }
    const caps = { undo: false, verify: false }
    const step: PlannedStep = {
      action: finalizeKey(action.key),
      name: `${name ?? action.name} finalize`,
      finalizes: id,
    }
    const policy = this.#place(toRecordedPolicy(action, this.#rescue, repeatable, caps))
    if (policy > 0) step.policy = policy
    if (group !== undefined) step.group = group
    this.#finalizers.push(step)
  }

  /** The finalize phase as one step. It can always be verified, because the store knows whether the transaction was committed. */
  #phase(): PlannedStep[] {
    if (this.#finalized.length === 0) return []
    const policy = finalizePolicy(this.#bounds, this.#rescue, [...this.#hidden])
    return [{ action: FINALIZE, name: 'finalize', finalizes: this.#finalized, policy: this.#place(policy) }]
  }

  #place(policy: RecordedPolicy): number {
    const known = this.#places.get(policy)
    if (known !== undefined) return known
    const text = JSON.stringify(policy)
    const place = this.#places.get(text) ?? this.#policies.push(policy) - 1
    this.#places.set(text, place)
    this.#places.set(policy, place)
    return place
  }

  #push(step: PlannedStep): number {
    this.#checkSize(this.#steps.length + this.#finalizers.length + 1)
    return this.#first + this.#steps.push(step) - 1
  }

  #handle(exits: readonly number[], output: () => unknown): Handle {
    const handle = {
      exits,
      get output() {
        const found = output()
        if (found === undefined) throw templateMisuse('what this action planned has no output')
        return found
      },
    } as Handle
    handles.add(handle)
    return handle
  }

  #reading(what: string, secrets?: SecretPaths): TemplateContext {
    return { what, plan: this, limit: this.#limits.payload, found: new Set(), secrets }
  }

  #check(): void {
    if (!this.#open) throw templateMisuse('the plan was used after it was finished')
  }

  #checkSize(steps: number): void {
    const { steps: most, bytes } = this.#limits
    const over = steps > most ? `${most} steps` : this.#bytes > bytes ? `${bytes} bytes` : null
    if (over !== null) throw new TriarchError('PLAN_TOO_LARGE', `the plan has more than ${over}: use child tasks`)
  }
}
