import { useState } from 'preact/hooks'
import { type Api, type ApiError, post } from '../api/client.ts'
import { useRight } from '../api/right.ts'
import { deed } from '../part/asking.tsx'
import { Failure } from '../part/failure.tsx'
import { Barred } from '../part/offer.tsx'
import { go } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

const acts = ['retry', 'resume', 'pause', 'cancel'] as const

/**
 * One thing for all tasks that fit a filter. They are counted first, and it is done to no more than were counted: what comes to fit
 * meanwhile was not meant.
 */
export function Bulk({ filter }: { filter: string }) {
  const [error, setError] = useState<ApiError | null>(null)
  const may = useRight('control')
  const begin = async (act: (typeof acts)[number]) => {
    setError(null)
    try {
      const found = await post<Api['Matching']>('/operations', { filter, action: act, dryRun: true })
      const count = found?.count ?? 0
      deed.value = {
        title: t().act[act],
        will: `${t().fit(count, found?.truncated === true)} ${t().will[act]}`,
        isReasonNeeded: true,
        isRisky: act === 'cancel',
        isImpossible: count === 0,
        act: async (given) => {
          await post('/operations', { filter, action: act, confirm: count, ...given })
          go('/operations')
        },
      }
    } catch (failed) {
      setError(failed as ApiError)
    }
  }
  return (
    <>
      <p class="shortcuts">
        <span class="faint">{t().toAll}</span>
        {acts.map((act) => (
          <button key={act} type="button" class="small" disabled={!may} onClick={() => void begin(act)}>
            {t().act[act]}
          </button>
        ))}
      </p>
      <Barred may={may} right="control" />
      {error && <Failure error={error} />}
    </>
  )
}
