import { TriarchError } from '../error/error.ts'
import type { Closure } from '../setting/followed.ts'
import type { StateStore } from '../store/port.ts'
import { broughtBy, pausesIn, saidBy } from '../view/pause.ts'
import { clock } from '../view/reason.ts'

/**
 * The error SUBMISSIONS_PAUSED, with the actor and the time. If the pause applies everywhere, they are those of the first version that
 * has it; if it comes from a setting that the code follows or from a value being tried, those of the version that applies here. Actor
 * `code`: the code or the environment pauses, not an operator. Throws STORE_*.
 */
export async function refusedBy(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  { setting, version, reason, all }: Closure,
  name: string,
): Promise<TriarchError> {
  const what = all ? 'submissions' : `submissions of workflow "${name}"`
  const [row] = await store.settings({ names: [setting] })
  const pause = row && (await pausesIn(store, row)(name, saidBy('closed')))
  const brought = pause ? null : await broughtBy(store, { setting, version })
  const actor = pause?.actor ?? brought?.by ?? 'code'
  const since = pause?.since ?? (brought ? new Date(brought.at) : null)
  const message = `${what} are paused${since ? ` since ${clock(since)}` : ''} by ${actor}: ${reason}`
  return new TriarchError('SUBMISSIONS_PAUSED', message, {
    details: { reason, actor, setting, ...(since && { since: since.toISOString() }) },
  })
}
