import { around, type Middleware, type StepCall } from '../definition/middleware.ts'
import type { StepContext } from '../definition/step.ts'
import type { StepRequest } from '../store/port.ts'
import type { Handler } from './attempt.ts'

/** The handler inside of its middlewares: their errors are its own. */
export function wrapped(handler: Handler, chain: readonly Middleware[], request: StepRequest): Handler {
  const { action, name, workflow } = request
  const { undo, verify } = handler
  const call = (input: unknown, step: StepContext): StepCall => ({ action, name, workflow, input, step })
  const run = action.endsWith(':finalize') ? 'finalize' : 'run'
  return {
    ...handler,
    run: async (input, step, received) =>
      around(chain, run, called(call(input, step), run), (changed) => handler.run(changed, step, received)),
    undo:
      undo &&
      (async ({ input, output }, step) =>
        around(chain, 'undo', { ...call(input, step), output }, (changed) => undo({ input: changed, output }, step))),
    verify:
      verify && (async (input, step) => around(chain, 'verify', call(input, step), (changed) => verify(changed, step))),
  }
}

/** What is finalized is the input and the output of its run. */
function called(call: StepCall, hook: 'run' | 'finalize'): StepCall {
  if (hook === 'run') return call
  const { output } = call.input as { output: unknown }
  return { ...call, output }
}
