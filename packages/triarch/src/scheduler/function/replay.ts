import type { Environment } from '../../environment/environment.ts'
import type { EventLoopYield } from '../../environment/event-loop-yield.ts'
import { TriarchError } from '../../error/error.ts'
import type { Rebuilt } from '../../kernel/rebuild.ts'
import type { TaskState } from '../../kernel/state.ts'
import { microtasksDrained } from '../microtasks.ts'
import type { FunctionRun } from './run.ts'

/** The longest wait for the replay of one task's code (ms). */
const LONGEST = 600_000

/** Whether the code must be replayed. For a stopped task it is needed only to undo local steps. */
export function wasRunning({ status, pause }: TaskState, undoes: boolean): boolean {
  const from = pause?.from ?? status
  return from !== 'pending' && from !== 'scheduled' && (status !== 'stopped' || undoes)
}

/** Delivers the recorded outcomes to the code, one at a time, and compares its decisions with the history. Throws REPLAY_TOO_LONG. */
export async function replay(
  { environment, eventLoopYield }: { environment: Environment; eventLoopYield: EventLoopYield },
  driver: FunctionRun,
  rebuilt: Rebuilt,
): Promise<void> {
  const began = environment.monotonic()
  driver.start(rebuilt.startedAt)
  await microtasksDrained(environment)
  driver.rest()
  for (const [index, delivery] of rebuilt.deliveries.entries()) {
    if (driver.failure) break
    driver.deliver(delivery, rebuilt.deliveredAt[index] ?? 0)
    await microtasksDrained(environment)
    driver.rest()
    const pause = eventLoopYield.show()
    if (pause === null) continue
    await pause
    if (environment.monotonic() - began > LONGEST)
      throw new TriarchError('REPLAY_TOO_LONG', `the replay took more than ${LONGEST} ms`)
  }
  driver.finishReplay()
  driver.activate(false)
}
