import type { Workflow } from '../definition/definition.ts'
import { TriarchError } from '../error/error.ts'
import { closureOf } from '../setting/followed.ts'
import type { Values } from '../setting/values.ts'
import type { StateStore } from '../store/port.ts'
import { pauseOf, saidBy } from '../view/pause.ts'
import { clock } from '../view/reason.ts'

/** Throws SUBMISSIONS_PAUSED, with who said so and since when where an operator has. */
export async function checkOpen(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  values: Values,
  workflows: readonly Workflow[],
  name: string,
): Promise<void> {
  const closure = closureOf(values, workflows, name)
  if (!closure) return
  const { setting, reason, all } = closure
  const what = all ? 'submissions' : `submissions of workflow "${name}"`
  const [row] = await store.settings({ names: [setting] })
  const pause = row ? await pauseOf(store, row, name, saidBy('closed')) : null
  if (!pause) throw new TriarchError('SUBMISSIONS_PAUSED', `${what} are paused: ${reason}`, { details: { reason } })
  const { actor, since } = pause
  const message = `${what} are paused since ${clock(since)} by ${actor}: ${reason}`
  throw new TriarchError('SUBMISSIONS_PAUSED', message, {
    details: { reason, actor, since: since.toISOString(), setting },
  })
}
