import type { Action } from '../../definition/definition.ts'
import { TriarchError } from '../../error/error.ts'
import type { FinalizedStep } from '../../kernel/plan/plan.ts'
import type { Step } from '../../kernel/step/step.ts'
import type { LocalCode } from '../effect.ts'

/** The finalize phase of a plan as one transaction: all of it takes effect with the record of it, or nothing does. */
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
  // Of what failed; without a predicate of its own it has no opinion.
  const retryIf = (error: unknown) => failed?.definition.retry?.retryIf?.(error) as boolean
  return { effect: { run, retryIf, isolation: 'read committed', firstStep } }
}
