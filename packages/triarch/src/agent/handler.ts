import type { Action } from '../definition/definition.ts'
import { validate } from '../value/schema.ts'
import type { Handler } from './attempt.ts'
import { waits } from './suspension.ts'

/** The handler of an action, which validates inputs and outputs. */
export function actionHandler(action: Pick<Action<unknown, unknown>, 'key' | 'definition'>): Handler {
  const { definition } = action
  return {
    run:
      definition.input || definition.output
        ? validated(action)
        : (input, step, received) => definition.run?.(input, step, received),
    undo: definition.undo && ((done, step) => definition.undo?.(done, step)),
    verify: definition.verify && ((input, step) => definition.verify?.(input, step)),
    retryIf: definition.retry?.retryIf,
    undoRetryIf: definition.undoRetry?.retryIf,
    secrets: definition.secrets,
  }
}

/** The handler of the action's finalize step, which has a key of its own. */
export function finalizeHandler({ definition }: Action<unknown, unknown>): Handler | undefined {
  if (!definition.finalize) return undefined
  return {
    run: (done, step) => definition.finalize?.(done as { input: unknown; output: unknown }, step, undefined),
    retryIf: definition.retry?.retryIf,
    secrets: definition.secrets,
  }
}

function validated({ definition, key }: Pick<Action<unknown, unknown>, 'key' | 'definition'>): Handler['run'] {
  const { input: inputs, output: outputs } = definition
  return async (input, step, received) => {
    const given = inputs ? await validate(inputs, input, 'INVALID_INPUT', `input of ${key}`) : input
    const output = await definition.run?.(given, step, received)
    return outputs && !waits(output, step) ? validate(outputs, output, 'INVALID_OUTPUT', `output of ${key}`) : output
  }
}
