import type { Api } from '../api/client.ts'
import { instant, span } from '../part/time.tsx'
import { language, t } from '../shell/preference.ts'
import { inWords } from './words.ts'

type Recurrence = Api['Schedule']['recurrence']

/** When it runs: in plain words, and as it was written. */
export function Recurs({ of }: { of: Recurrence }) {
  if (!('cron' in of))
    return (
      <>
        {t().every(span(of.every))}{' '}
        {of.offset > 0 && <span class="faint">{t().timing.offset(instant(new Date(of.offset).toISOString()))}</span>}
      </>
    )
  const said = inWords(of.cron, language.value)
  return (
    <>
      {said !== null && <>{said} </>}
      <code>{of.cron}</code> <span class="faint">{of.timeZone}</span>
    </>
  )
}
