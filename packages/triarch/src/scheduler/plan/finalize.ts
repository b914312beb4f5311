import type { Action } from '../../definition/definition.ts'
import { TriarchError } from '../../error/error.ts'
import type { FinalizedStep } from '../../kernel/plan/plan.ts'
import type { Step } from '../../kernel/step/step.ts'
import type { LocalCode } from '../effect.ts'

/** The finalize phase of a plan as one transaction: all of it takes effect with the record of it, or nothing does. */
export function finalizeCode(step: Step, firstStep: number, known: (key: string) => Action | undefined): LocalCode {
  const run = async (tx: unknown, context: Parameters<NonNullable<Action['definition']['finalize']>>[1]) => {
    for (const { action, input, output } of step.input as unknown as FinalizedStep[]) {
      const finalize = known(action)?.definition.finalize
      if (!finalize)
        throw new TriarchError('UNKNOWN_ACTION', `this node does not know how to finalize ${action}: give it the agent`)
      await finalize({ input, output }, context, tx)
    }
  }
  return { effect: { run, isolation: 'read committed', firstStep } }
}
