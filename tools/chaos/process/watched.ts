// What an agent does, written down the moment it begins.
import { type Agent, agent, type StepContext } from 'triarch'
import type { Ledger, Place } from '../../../packages/triarch/test/crash/ledger.ts'
import { placeOf } from '../../../packages/triarch/test/crash/workload.ts'

/** The same agent; each of its attempts is in the ledger before it does anything. */
export function watched(own: Agent, ledger: Ledger): Agent {
  const twin = agent(own.name, { concurrency: own.concurrency })
  for (const { name, key, definition } of own.actions.values()) {
    const note = (operation: Place['operation'], step: StepContext) =>
      ledger.write('call', placeOf(operation, key, step))
    const { plan, run, undo, verify, input: _, output: __, ...policy } = definition
    if (plan || !run) continue
    twin.action(name, {
      ...policy,
      run(input: unknown, step: StepContext) {
        note('run', step)
        return run(input, step)
      },
      ...(undo && {
        undo(done: { input: unknown; output: unknown }, step: StepContext) {
          note('undo', step)
          return undo(done, step)
        },
      }),
      ...(verify && {
        verify(input: unknown, step: StepContext) {
          note('verify', step)
          return verify(input, step)
        },
      }),
    })
  }
  return twin
}
