import { TriarchError } from '../error/error.ts'
import type { Jsonified } from '../value/jsonified.ts'
import type { ActionDefinition, StepContext, StepEvent, Verification } from './action.ts'
import type { PolicyOptions } from './policy.ts'

/**
 * What the module of an action that runs in threads exports.
 * @example
 * export const run = (input: { width: number }) => ({ pixels: input.width ** 2 })
 * const code = { run } satisfies ThreadModule
 */
export interface ThreadModule {
  /** Does the work. */
  run(input: never, step: StepContext, event?: StepEvent): unknown
  /** Takes back what `run` did; called if the action says `undo: true`. */
  undo?(done: never, step: StepContext): unknown
  /** Whether a lost attempt took effect; called if the action says `verify: true`. */
  verify?(input: never, step: StepContext): Verification<unknown> | Promise<Verification<unknown>>
}

/** What a module's `run` is given, and what a workflow gets back. */
export type ThreadInput<M> = M extends { run(input: infer I, ...rest: never[]): unknown } ? I : never
/** What a workflow gets back of a module's `run`. */
export type ThreadOutput<M> = M extends { run(...args: never[]): infer R } ? Jsonified<Awaited<R>> : never

/**
 * An action whose code runs in a pool of threads of the process, for what computes rather than waits.
 * @example
 * const resize = payments.action('resize', {
 *   thread: new URL('./resize.ts', import.meta.url),
 *   completeWithin: '1m',
 * })
 */
export type ThreadActionDefinition = PolicyOptions &
  Pick<ActionDefinition, 'present' | 'hints' | 'middleware' | 'subscribe' | 'concurrency' | 'input' | 'output'> & {
    /**
     * The module with the code, as `new URL('./resize.ts', import.meta.url)`. It exports `run`, which is given copies of its
     * input and step (without `suspend`), one attempt a thread; an attempt that is not done by its complete-by is ended with it.
     */
    thread: URL | string
    /** The module exports `undo`, which runs there as well; false. */
    undo?: boolean
    /** The module exports `verify`, which runs there as well; false. */
    verify?: boolean
    /** The module has it. */
    run?: never
    /** A thread plans nothing. */
    plan?: never
    /** A thread finalizes nothing. */
    finalize?: never
  }

/** The same as any definition: what runs it looks at `thread`. Throws INVALID_OPTION. */
export function threadDefinition(what: string, definition: ThreadActionDefinition): ActionDefinition {
  const { thread, undo, verify, ...rest } = definition
  for (const [name, value] of Object.entries({ undo, verify })) {
    if (value === undefined || typeof value === 'boolean') continue
    throw new TriarchError('INVALID_OPTION', `${what}: with thread, ${name} says whether the module exports it`)
  }
  for (const name of ['run', 'plan', 'finalize'] as const) {
    if (rest[name] !== undefined)
      throw new TriarchError('INVALID_OPTION', `${what}: thread and ${name} exclude each other`)
  }
  const elsewhere = () => {
    throw new TriarchError('INVALID_OPTION', `${what} runs in a thread`)
  }
  return {
    ...rest,
    thread: { module: moduleOf(what, thread), undo: undo === true, verify: verify === true },
    run: elsewhere,
    ...(undo && { undo: elsewhere }),
    ...(verify && { verify: elsewhere }),
  }
}

function moduleOf(what: string, thread: unknown): string {
  const href = thread instanceof URL ? thread.href : thread
  if (typeof href === 'string' && /^(?:file|data):/.test(href)) return href
  const message = `${what}: thread must be a module of yours, as new URL('./code.ts', import.meta.url)`
  throw new TriarchError('INVALID_OPTION', message)
}
