import { TriarchError } from '../error/error.ts'
import type { Closure } from '../setting/followed.ts'
import type { StateStore } from '../store/port.ts'
import { pausesIn, saidBy } from '../view/pause.ts'
import { clock } from '../view/reason.ts'

/** SUBMISSIONS_PAUSED, with who said so and since when where an operator has. Throws STORE_*. */
export async function refusedBy(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  { setting, reason, all }: Closure,
  name: string,
): Promise<TriarchError> {
  const what = all ? 'submissions' : `submissions of workflow "${name}"`
  const [row] = await store.settings({ names: [setting] })
  const pause = row && (await pausesIn(store, row)(name, saidBy('closed')))
  if (!pause) return new TriarchError('SUBMISSIONS_PAUSED', `${what} are paused: ${reason}`, { details: { reason } })
  const { actor, since } = pause
  const message = `${what} are paused since ${clock(since)} by ${actor}: ${reason}`
  return new TriarchError('SUBMISSIONS_PAUSED', message, {
    details: { reason, actor, since: since.toISOString(), setting },
  })
}
