import type { Workflow } from '../../definition/definition.ts'
import type { Message } from '../../kernel/message.ts'
import { FINALIZE } from '../../kernel/plan/plan.ts'
import type { Rebuilt } from '../../kernel/rebuild.ts'
import type { TaskState } from '../../kernel/state.ts'
import type { Step } from '../../kernel/step/step.ts'
import { absent } from '../absent.ts'
import type { Driver } from '../driver.ts'
import type { LocalCode } from '../effect.ts'
import type { RunnerHost } from '../host.ts'
import { finalizeCode } from './finalize.ts'
import { planInTime } from './planning.ts'

/** Plans the task once; after that, the kernel alone knows what follows. */
export function planDriver(workflow: Workflow, { state: run }: Rebuilt, host: RunnerHost): Driver {
  return {
    ...absent,
    begins: 'plan',
    code: (step: Step): LocalCode | undefined =>
      step.action === FINALIZE ? finalizeCode(step, run.firstId, (key) => host.action(key)) : undefined,
    isStranded: () => false,
    work: (state: TaskState): Promise<Message> | null =>
      state.status === 'planning' ? planInTime(host, workflow, state) : null,
  }
}
