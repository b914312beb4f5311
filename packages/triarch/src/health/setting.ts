import { storedSetting } from '../store/version.ts'
import { settingNodes } from '../view/setting.ts'
import { type Finding, finding, shortenedNames } from './finding.ts'
import type { HealthReads } from './look.ts'

/** Largest number of settings that are examined. */
const MOST_SETTINGS = 1_000

/**
 * Check: nodes use the versions of settings that they should, once these have applied for a while. A node that reports no version of a
 * setting does not have it or still uses its defaults; this cannot be distinguished here.
 */
export async function settings(look: HealthReads): Promise<Finding> {
  const { engine } = look
  const store = await engine.store()
  const [now, rows, nodes] = await Promise.all([
    store.now(),
    store.settings({ after: '', limit: MOST_SETTINGS }),
    look.nodes(),
  ])
  const living = nodes.filter(({ leaseUntil }) => leaseUntil >= now)
  const drifting = rows.flatMap(({ name, state: text }) => {
    const state = storedSetting(text)?.state
    if (!state) return []
    const since = Math.max(state.live?.at ?? 0, state.trial?.since ?? 0)
    if (since === 0 || now - since < engine.settings.late) return []
    const others = settingNodes(name, state, living).filter(
      ({ version, expected }) => version !== 0 && version !== expected,
    )
    return others.map(({ id }) => `${name} (${id})`)
  })
  const observed = { drifting: drifting.length }
  if (drifting.length === 0) return { status: 'ok', observed }
  return finding('warning', 'settings-drift', shortenedNames(drifting), observed)
}
