import type { Action } from '../../definition/definition.ts'
import { TriarchError } from '../../error/error.ts'
import type { FinalizedStep } from '../../kernel/plan/plan.ts'
import type { Step } from '../../kernel/step/step.ts'
import type { LocalCode } from '../effect.ts'

/** Runs the finalize phase of a plan in one transaction: all of it takes effect together with its record, or none of it does. */
export function finalizeCode(step: Step, firstStep: number, known: (key: string) => Action | undefined): LocalCode {
  let failed: Action | undefined
  const run = async (tx: unknown, context: Parameters<NonNullable<Action['definition']['finalize']>>[1]) => {
    for (const { action, input, output } of step.input as unknown as FinalizedStep[]) {
      failed = known(action)
      const finalize = failed?.definition.finalize
      if (!finalize)
        throw new TriarchError('UNKNOWN_ACTION', `this node does not know how to finalize ${action}: give it the agent`)
      await finalize({ input, output }, context, tx)
    }
  }
  // The predicate of the action that failed; without a predicate this returns undefined.
  const retryIf = (error: unknown) => failed?.definition.retry?.retryIf?.(error) as boolean
  return { effect: { run, retryIf, isolation: 'read committed', firstStep } }
}
