import { TriarchError } from '../error/error.ts'
import { checkName } from '../value/name.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import type { StepContext } from './step.ts'

/** Continues with the wrapped code, with another input if one is given. Must be called at most once. */
export type Next = (input?: unknown) => unknown

/** A step that is about to be attempted. */
export interface StepCall {
  /** The agent that has the action; null: a local step. */
  readonly agent: string | null
  /** `agent.action`; the name of a local step. */
  readonly action: string
  /** The name of the step. */
  readonly name: string
  /** The input of the action's code. */
  readonly input: unknown
  /** For undo and finalize: the step's output. */
  readonly output?: unknown
  /** The workflow of the step's task. */
  readonly workflow: string
  /** The number of the run's first step, which identifies the run of the task: 1, until the task continues as new. */
  readonly run: number
  /** The context of the attempt. */
  readonly step: StepContext
  /** Entries added before `next()` are visible to the attempt's code as `step.metadata`; they are not recorded. */
  readonly metadata: Record<string, string>
}

/** A plan that is about to be made: that of a workflow, or the part of it that an action plans. */
export interface PlanCall {
  /** The name of the workflow that the plan belongs to. */
  readonly workflow: string
  /** The action that plans, as `agent.action`; undefined: the workflow itself plans. */
  readonly action: string | undefined
  /** The input of the planning code. */
  readonly input: unknown
  /** The transaction given to submit(). */
  readonly transaction: unknown
}

/** A submission, as its middleware sees it. */
export interface SubmitCall {
  /** The name of the workflow. */
  readonly workflow: string
  /** The input of the submission. */
  readonly input: unknown
  /** The id that was given; undefined: one will be generated. */
  readonly id: string | undefined
  /** The tags that were given. */
  readonly tags: Readonly<Record<string, string>>
  /** Entries added before `next()` are recorded with the submission. */
  readonly metadata: Record<string, string>
  /** The caller's own transaction, if it was given. */
  readonly transaction: unknown
}

/** A step that is about to be shown. */
export interface PresentCall {
  /** The action of the step, as `agent.action`, or the name of a local step. */
  readonly action: string
  /** The input of the step, without what is marked as secret. */
  readonly input: unknown
}

/**
 * Code around the code of others. Each hook gets the call it wraps and `next`, which continues with it and returns its result; the hook's
 * return value takes the place of that result. If `next` is not called, the wrapped code does not run. An error of a hook counts as an
 * error of the wrapped code.
 * @example
 * const traced: MiddlewareHooks = {
 *   submit: ({ workflow }, next) => {
 *     console.log(`submits ${workflow}`)
 *     return next()
 *   },
 * }
 */
export interface MiddlewareHooks {
  /** Names of middleware that this one wraps, if present. */
  before?: readonly string[]
  /** Names of middleware that wrap this one. */
  after?: readonly string[]
  /** Name of the middleware that this one replaces. */
  replace?: string
  /** Around the planning code of a workflow, or of an action (which is synchronous). */
  plan?(call: PlanCall, next: Next): unknown
  /** Around each attempt. If the step suspends, the result of `next` must be returned unchanged. */
  run?(call: StepCall, next: Next): unknown
  /** Around an attempt to finalize a step of a plan. */
  finalize?(call: StepCall, next: Next): unknown
  /** Around an attempt to undo a step. */
  undo?(call: StepCall, next: Next): unknown
  /** Around the verification of an attempt. */
  verify?(call: StepCall, next: Next): unknown
  /** Around submit(): before the task exists, and after. */
  submit?(call: SubmitCall, next: Next): unknown
  /** Around an action's `present`. */
  present?(call: PresentCall, next: Next): unknown
}

/** A middleware, created by middleware(). */
export interface Middleware extends Readonly<MiddlewareHooks> {
  /** Its name, to which `before`, `after` and `replace` of others refer. */
  readonly name: string
}

export type Hook = 'plan' | 'run' | 'finalize' | 'undo' | 'verify' | 'submit' | 'present'

const hooks: readonly Hook[] = ['plan', 'run', 'finalize', 'undo', 'verify', 'submit', 'present']

/**
 * Defines a middleware. Throws INVALID_NAME, UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const timed = middleware('timed', {
 *   async run({ action }, next) {
 *     console.time(action)
 *     try {
 *       return await next()
 *     } finally {
 *       console.timeEnd(action)
 *     }
 *   },
 * })
 */
export function middleware(name: string, definition: MiddlewareHooks): Middleware {
  const what = `middleware "${checkName('middleware', name)}"`
  checkOptions(what, definition ?? null, ['before', 'after', 'replace', ...hooks])
  for (const hook of hooks) if (definition[hook] !== undefined) checkFunction(`${what}: ${hook}`, definition[hook])
  return Object.freeze({ ...definition, name })
}

/**
 * The order of wrapping, outermost first: as listed, unless `before` and `after` say otherwise. Throws DUPLICATE_DEFINITION, INVALID_OPTION
 * (for a circle).
 */
export function inOrder(...lists: (readonly Middleware[] | undefined)[]): readonly Middleware[] {
  const listed: Middleware[] = []
  for (const one of lists.flatMap((list) => list ?? [])) {
    if (typeof one?.name !== 'string') throw invalid('give what middleware() returned')
    const known = listed.find(({ name }) => name === one.name)
    if (known && known !== one)
      throw new TriarchError('DUPLICATE_DEFINITION', `two middlewares are named "${one.name}"`)
    if (!known) listed.push(one)
  }
  return sorted(substituted(listed))
}

/** Calls `core` inside of all middleware that has this hook. */
export function around<C extends { readonly input: unknown }>(
  chain: readonly Middleware[],
  hook: Hook,
  call: C,
  core: (input: unknown) => unknown,
): unknown {
  const from = (index: number, input: unknown): unknown => {
    const wrapping = chain[index]
    if (!wrapping) return core(input)
    const wrap = wrapping[hook] as ((call: C, next: Next) => unknown) | undefined
    if (!wrap) return from(index + 1, input)
    let gone = false
    return wrap.call(wrapping, { ...call, input }, (changed = input) => {
      if (gone) throw new TriarchError('MIDDLEWARE_MISUSE', `middleware "${wrapping.name}" called next() twice`)
      gone = true
      return from(index + 1, changed)
    })
  }
  return from(0, call.input)
}

export function has(chain: readonly Middleware[], hook: Hook): boolean {
  return chain.some((one) => one[hook] !== undefined)
}

function substituted(listed: readonly Middleware[]): Middleware[] {
  const places = [...listed]
  for (const one of listed) {
    if (one.replace === undefined) continue
    const place = places.findIndex(({ name }) => name === one.replace)
    if (place < 0) continue
    places.splice(places.indexOf(one), 1)
    places.splice(
      places.findIndex(({ name }) => name === one.replace),
      1,
      one,
    )
  }
  return places
}

/** Kahn's algorithm, which takes the first in list order among those that may come next. */
function sorted(listed: readonly Middleware[]): Middleware[] {
  const precedes = (a: Middleware, b: Middleware) => a.before?.includes(b.name) || b.after?.includes(a.name)
  const left = [...listed]
  const order: Middleware[] = []
  while (left.length > 0) {
    const next = left.findIndex((one) => !left.some((other) => other !== one && precedes(other, one)))
    if (next < 0) throw invalid(`${left.map(({ name }) => name).join(', ')} want to be around each other`)
    order.push(...left.splice(next, 1))
  }
  return order
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `middleware: ${problem}`)
}
