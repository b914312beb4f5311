import type { Handler } from '../agent/attempt.ts'
import type { Isolation } from '../definition/call.ts'
import type { StepContext } from '../definition/step.ts'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { PermanentError, stepErrorKind } from '../error/step-error.ts'
import type { Json } from '../kernel/json.ts'
import type { Effect, StateStore } from '../store/port.ts'
import { encode } from '../value/payload.ts'

/** Code that a step runs inside a transaction of the store. */
export interface EffectCode {
  run: (tx: unknown, step: StepContext) => unknown
  undo?: ((tx: unknown, done: { output: never }, step: StepContext) => unknown) | undefined
  retryIf?: ((error: unknown) => boolean) | undefined
  undoRetryIf?: ((error: unknown) => boolean) | undefined
  isolation: Isolation
  /** Id of the first step of the task's present run. */
  firstStep: number
}

/** Code of a local step, or of a registered compensation. */
export type LocalCode = Handler | { effect: EffectCode }

/** Where the transaction runs, and the owner for which it is fenced. */
export interface EffectScope {
  environment: Environment
  store: StateStore
  /** Largest answer, in bytes of JSON. */
  payload: number
  key: number
  node: string
  epoch: number
}

/**
 * Handler for the attempts of a transactional step. The store knows whether a lost attempt took effect, so every attempt can be verified,
 * and the function runs again only if its writes were certainly rolled back.
 */
export function effectHandler(code: EffectCode, scope: EffectScope): Handler {
  const { run, undo, retryIf, undoRetryIf, isolation, firstStep } = code
  const { environment, store, payload, key, node, epoch } = scope
  const effectOf = (step: StepContext): Effect => {
    return { key, node, epoch, step: step.stepId, firstStep, name: step.idempotencyKey }
  }
  const transact = async (step: StepContext, body: (tx: unknown) => unknown): Promise<Json> => {
    const { signal } = step
    const bounds = { within: step.completeBy.getTime() - environment.now(), signal, isolation }
    try {
      const outcome = await store.transact(effectOf(step), bounds, async (tx) => encodeAnswer(await body(tx), payload))
      if (outcome.ok) return JSON.parse(outcome.answer) as Json
    } catch (error) {
      throw known(error, signal)
    }
    throw new TriarchError('NODE_FENCED', 'another node has the task')
  }
  return {
    run: (_, step) => transact(step, (tx) => run(tx, step)),
    undo:
      undo &&
      (({ output }, step) =>
        transact(step, async (tx) => {
          await undo(tx, { output: output as never }, step)
          return null // the result of an undo is not used, and need not be storable
        })),
    verify: async (_, step) => {
      const answer = await store.effect(effectOf(step), step.completeBy.getTime() - environment.now())
      return answer === null ? { done: false } : { done: true, output: JSON.parse(answer) as Json }
    },
    retryIf,
    undoRetryIf,
  }
}

/** An answer that cannot be recorded rolls the transaction back, so unlike with a remote service nothing is left in doubt. */
function encodeAnswer(answer: unknown, payload: number): string {
  try {
    return JSON.stringify(encode(answer, 'output', payload))
  } catch (error) {
    throw new PermanentError((error as Error).message, { cause: error })
  }
}

/** A withdrawn attempt whose transaction was certainly rolled back needs no verification, even though it was told to stop. */
function known(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted || !isTriarchError(signal.reason, 'STEP_CANCELLED')) return error
  return stepErrorKind(error) === 'unknown-outcome' ? error : new PermanentError('withdrawn', { cause: error })
}
