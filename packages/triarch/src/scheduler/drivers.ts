import type { Workflow } from '../definition/definition.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import { absent } from './absent.ts'
import type { Driver } from './driver.ts'
import { FunctionDriver } from './function/driver.ts'
import type { RunnerHost } from './host.ts'
import { planDriver } from './plan/driver.ts'

/** `wake` asks for a turn of the task. */
type MakeDriver = (workflow: Workflow, rebuilt: Rebuilt, host: RunnerHost, wake: () => void) => Driver

/** The driver for each way to define a workflow. A new way is a folder beside these and an entry here. */
const drivers: Readonly<Record<'run' | 'plan', MakeDriver>> = {
  run: (...given) => new FunctionDriver(...given),
  plan: planDriver,
}

/** Makes the driver of a rebuilt task. `workflow`: its code, if this node has it. */
export function driverOf(
  workflow: Workflow | undefined,
  ...given: [rebuilt: Rebuilt, host: RunnerHost, wake: () => void]
): Driver {
  if (!workflow) return absent
  const make = drivers[workflow.definition.run ? 'run' : 'plan']
  return make(workflow, ...given)
}
