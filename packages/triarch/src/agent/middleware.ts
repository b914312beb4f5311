import { around, type Hook, type Middleware, type StepCall } from '../definition/middleware.ts'
import type { StepContext } from '../definition/step.ts'
import type { StepRequest } from '../store/port.ts'
import type { Handler } from './attempt.ts'
import type { Context } from './context.ts'

export interface Wrapping {
  /** The agent's name; null: a local step. */
  agent: string | null
  request: StepRequest
}

/** Wraps the handler in its middleware; errors of the middleware are errors of the attempt. */
export function wrapped(handler: Handler, chain: readonly Middleware[], about: Wrapping): Handler {
  const { agent } = about
  const { action, name, workflow, run: began = 1 } = about.request
  const { undo, verify } = handler
  const call = (input: unknown, step: StepContext): StepCall => {
    return { agent, action, name, workflow, run: began, input, step, metadata: { ...step.metadata } }
  }
  const run = action.endsWith(':finalize') ? 'finalize' : 'run'
  /** What middleware adds to the metadata is visible to the code inside of it. */
  const inside = (hook: Hook, made: StepCall, core: (input: unknown) => unknown) =>
    around(chain, hook, made, (changed) => {
      const step: { metadata: Context['metadata'] } = made.step
      step.metadata = Object.freeze({ ...made.metadata })
      return core(changed)
    })
  return {
    ...handler,
    run: async (input, step, received) =>
      inside(run, called(call(input, step), run), (changed) => handler.run(changed, step, received)),
    undo:
      undo &&
      (async ({ input, output }, step) =>
        inside('undo', { ...call(input, step), output }, (changed) => undo({ input: changed, output }, step))),
    verify: verify && (async (input, step) => inside('verify', call(input, step), (changed) => verify(changed, step))),
  }
}

/** For `finalize`, the call's input is the input and output of the run. */
function called(call: StepCall, hook: 'run' | 'finalize'): StepCall {
  if (hook === 'run') return call
  const { output } = call.input as { output: unknown }
  return { ...call, output }
}
