import type { Environment } from '../environment/environment.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import type { TaskState } from '../kernel/state.ts'
import { drained } from './drained.ts'
import type { FunctionDriver } from './driver.ts'

/** Whether the code must be brought to where the history is. Of a stopped task it is only needed to undo local steps. */
export function wasRunning({ status, pause }: TaskState, undoes: boolean): boolean {
  const from = pause?.from ?? status
  return from !== 'pending' && from !== 'scheduled' && (status !== 'stopped' || undoes)
}

/** Feeds the code what it was told before, one outcome at a time, and compares what it decides. */
export async function replay(environment: Environment, driver: FunctionDriver, rebuilt: Rebuilt): Promise<void> {
  driver.start(rebuilt.startedAt)
  await drained(environment)
  for (const [index, delivery] of rebuilt.deliveries.entries()) {
    if (driver.failure) break
    driver.deliver(delivery, rebuilt.deliveredAt[index] ?? 0)
    await drained(environment)
  }
  driver.finishReplay()
  driver.activate(false)
}
