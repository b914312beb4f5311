import type { Agent } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { AttemptCall } from '../../packages/triarch/src/testing/sabotage.ts'
import { keyOf } from './outage.ts'

/** An attempt that begins, by what policies know of it. */
export interface Begun {
  agent: string
  /** `agent.action`. */
  action: string
  operation: AttemptCall['operation']
  /** What its input gives by the one function of keys. */
  key: string
}

/** The agent, with whoever stands before the code of each attempt. */
export function laned(machine: Machine, agent: Agent, meet: (begun: Begun) => void): Agent {
  const actions = [...agent.actions].map(([name, action]) => {
    const { key: of, definition } = action
    const { run, verify, undo, finalize } = definition
    const begin = (operation: AttemptCall['operation'], input: unknown) => {
      if (machine.alive) meet({ agent: agent.name, action: of, operation, key: keyOf(input) })
    }
    const watched: typeof definition = {
      ...definition,
      ...(run && {
        run: (input, step, received) => {
          begin('run', input)
          return run.call(definition, input, step, received)
        },
      }),
      ...(verify && {
        verify: (input, step) => {
          begin('verify', input)
          return verify.call(definition, input, step)
        },
      }),
      ...(undo && {
        undo: (done, step) => {
          begin('undo', done.input)
          return undo.call(definition, done, step)
        },
      }),
      ...(finalize && {
        finalize: (done, step, tx) => {
          begin('finalize', done.input)
          return finalize.call(definition, done, step, tx)
        },
      }),
    }
    return [name, Object.freeze({ ...action, definition: watched })] as const
  })
  return Object.freeze({ ...agent, actions: new Map(actions) })
}
