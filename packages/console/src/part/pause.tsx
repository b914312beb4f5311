import type { Api } from '../api/client.ts'
import { settingPath } from '../settings/settings.tsx'
import { t } from '../shell/preference.ts'
import { Link } from './link.tsx'
import { State } from './state.tsx'
import { Time } from './time.tsx'

/** That an operator has paused it by a setting: who, why, since when, and where that is ended. Nothing, where nobody has. */
export function PausedBy({ of }: { of: Api['SettingPause'] | undefined }) {
  if (!of) return null
  return (
    <p class="note" role="status">
      <State of="paused" /> {of.reason} · {of.actor} · {t().why.since} <Time at={of.since} /> ·{' '}
      <Link to={settingPath(of.setting)}>{t().hosting.setting}</Link>
    </p>
  )
}
