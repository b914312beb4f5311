import { delay, type Environment } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { StateStore } from '../store/port.ts'
import type { Owned } from './quarantine.ts'
import { UNCHANGED } from './transition.ts'

interface ReleaseOptions {
  environment: Environment
  store: StateStore
  node: string
  rest: number
  /** Called each time the store refuses the release. Resolves to true if the task was quarantined instead. */
  refused: (error: Error) => Promise<boolean>
}

/**
 * Gives a task back after an error that left open what was written; the next owner reads the truth from its history. Retries until the
 * store answers or the task is quarantined; the epoch fence keeps it from harming a later owner.
 */
export async function releaseAfterError(
  { environment, store, node, rest, refused }: ReleaseOptions,
  runner: Owned & { strikes?: number | null },
  orphaned = true,
): Promise<void> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
    await delay(environment, wait)
    try {
      const row = await store.task(runner.id)
      if (row?.lockedBy === node && row.epoch === runner.epoch) {
        // No node died, so the release does not count as a death.
        if (runner.strikes != null) await store.clearSuspicion({ key: row.key, node, epoch: row.epoch })
        await store.commit([
          {
            ...UNCHANGED,
            key: row.key,
            id: runner.id,
            node,
            epoch: runner.epoch,
            seq: 0,
            at: environment.now(),
            release: { wakeAt: rest > 0 ? environment.now() + rest : null, ready: rest === 0, orphaned },
          },
        ])
      }
      return
    } catch (error) {
      if (isTriarchError(error, 'STORE_CLOSED')) return
      if (isTriarchError(error, 'STORE_FAILED') && (await refused(error))) return
    }
  }
}
