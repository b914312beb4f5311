import { TriarchError } from '../error/error.ts'
import { isProgrammingError, stepErrorKind } from '../error/step-error.ts'
import type { Json } from '../kernel/json.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import type { StepContext, StepSignal, SuspendOptions } from './step.ts'

/**
 * How to start work elsewhere and poll its state. `T` identifies the work, `S` is the answer of a poll; both JSON.
 * @example
 * const run = polling({
 *   invoke: (page: string, step) => api.render(page, step.idempotencyKey),
 *   poll: (job: string) => api.job(job),
 *   done: ({ state }) => state === 'done',
 *   timeout: '1h',
 * })
 */
export interface PollingOptions<I, T, S, O> {
  /** Starts the work (with `step.idempotencyKey`, so that it is started once) and returns its identifier. */
  invoke(input: I, step: StepContext): T | Promise<T>
  /** Polls the state of the work. */
  poll(task: T, step: StepContext, input: I): S | Promise<S>
  /** Whether the work has ended. */
  done(state: S): boolean | Promise<boolean>
  /** The step's output; may throw if the work has failed; the state itself when not given. */
  result?(state: S, input: I): O
  /** How far the work is, computed from a poll's answer: 0 to 1. */
  progress?(state: S): number
  /** Cancels the work when the task stops. */
  cancel?(task: T, step: StepContext): unknown
  /** Intervals between polls, each used for `pollsEach` polls, the last one from then on; 500 ms doubling to 16 s. */
  intervals?: readonly Duration[]
  /** Polls at each interval; 5. */
  pollsEach?: number
  /** Polls in a row that may fail; 2. A PermanentError or a programming error ends the step at once. */
  failures?: number
  /** Gives up after this long; never. */
  timeout?: Duration
}

interface Progress {
  task: Json
  polls: number
  failures: number
}

const keys = [
  'invoke',
  'poll',
  'done',
  'result',
  'progress',
  'cancel',
  'intervals',
  'pollsEach',
  'failures',
  'timeout',
] as const
const standard = ['500ms', '1s', '2s', '4s', '8s', '16s'] as const

/**
 * A `run` that waits for work done elsewhere and holds nothing between two polls. The work's identifier is recorded once it is known, so
 * any process that resumes the step polls the same work. Only if a poll is refused permanently can an operator's retry start new work.
 * @example
 * const render = payments.action('render', {
 *   run: polling({
 *     invoke: (input: { page: string }, step) => api.render(input.page, step.idempotencyKey),
 *     poll: (job: string) => api.job(job),
 *     done: ({ state }) => state === 'done',
 *   }),
 * })
 */
export function polling<I, T, S, O = S>(
  options: PollingOptions<I, T, S, O>,
): (input: I, step: StepContext, received?: StepSignal) => Promise<O> {
  checkOptions('polling', options, keys)
  for (const name of ['invoke', 'poll', 'done'] as const) checkFunction(`polling: ${name}`, options[name])
  const { intervals = standard, timeout } = options
  const spans = intervals.map((interval) => positiveMilliseconds(interval, 'polling: intervals'))
  if (spans.length === 0) throw new TriarchError('INVALID_OPTION', 'polling: intervals must not be empty')
  const each = checkInteger('polling: pollsEach', options.pollsEach ?? 5, 1, 1_000_000)
  const tolerated = checkInteger('polling: failures', options.failures ?? 2, 0, 1_000_000)
  const within = timeout === undefined ? undefined : positiveMilliseconds(timeout, 'polling: timeout')

  function wait(step: StepContext, to: Progress, progress?: number, late?: number): never {
    const span = spans[Math.min(Math.floor(to.polls / each), spans.length - 1)] as number
    const rest: SuspendOptions = { checkpoint: to, onCancel: options.cancel !== undefined }
    const signals = [{ name: 'poll', in: span }, ...(late === undefined ? [] : [{ name: 'late', in: late }])]
    return step.suspend({ ...rest, signals, ...(progress !== undefined && { progress }) })
  }

  async function begin(input: I, step: StepContext): Promise<O> {
    const task = (await options.invoke(input, step)) as Json
    return wait(step, { task, polls: 0, failures: 0 }, undefined, within)
  }

  return async (input, step, received) => {
    const so = step.checkpoint as Progress | undefined
    if (!so) return begin(input, step)
    if (received?.name === 'cancel') {
      await options.cancel?.(so.task as T, step)
      throw new TriarchError('STEP_CANCELLED', 'the task stops, and what the step waited for was called off')
    }
    let state: S
    try {
      state = await options.poll(so.task as T, step, input)
    } catch (error) {
      if (received === undefined && stepErrorKind(error) === 'permanent') return begin(input, step)
      const final = stepErrorKind(error) === 'permanent' || isProgrammingError(error)
      if (final || so.failures >= tolerated || received?.name === 'late') throw error
      return wait(step, { ...so, polls: so.polls + 1, failures: so.failures + 1 })
    }
    if (await options.done(state)) return options.result ? options.result(state, input) : (state as unknown as O)
    if (received?.name === 'late')
      throw new TriarchError('STEP_TIMEOUT', `the polled work was not done within ${within} ms`)
    return wait(step, { ...so, polls: so.polls + 1, failures: 0 }, options.progress?.(state))
  }
}
