import type { Workflow } from '../../definition/definition.ts'
import { owned } from '../../environment/owner.ts'
import { TriarchError } from '../../error/error.ts'
import { toRecord } from '../../error/record.ts'
import { unhandled } from '../../error/unhandled.ts'
import { keysOf } from '../../kernel/lock/gate.ts'
import type { Message } from '../../kernel/message.ts'
import type { TaskState } from '../../kernel/state.ts'
import { defaultPolicy } from '../../kernel/step/policy.ts'
import { makePlan } from '../../planning/planning.ts'
import type { RunnerHost } from '../host.ts'

/** Makes the plan of a task. The result is a message, so messages that arrived meanwhile are received first. */
export function planInTime(host: RunnerHost, workflow: Workflow, state: TaskState): Promise<Message> {
  const { input, nextId } = state
  const { payload, planSteps, planBytes } = host.limits
  const limits = { payload, steps: planSteps, bytes: planBytes }
  const within = defaultPolicy.completeWithin
  return new Promise((resolve) => {
    const failed = (error: unknown) => {
      timer.cancel()
      resolve({ type: 'unplanned', error: toRecord(error) })
    }
    const timer = host.environment.timer(within, () =>
      failed(new TriarchError('PLAN_FAILED', `the plan of ${workflow.name} was not made within ${within} ms`)),
    )
    const left = (error: unknown) => failed(unhandled(`the plan of ${workflow.name}`, error))
    const exclusive = keysOf(state).map(({ name }) => name)
    const options = { first: nextId, limits, transaction: undefined, exclusive, ...host.planning }
    owned({ left }, () => makePlan(workflow, input, options)).then((plan) => {
      timer.cancel()
      resolve({ type: 'planned', plan })
    }, failed)
  })
}
