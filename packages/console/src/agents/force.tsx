import { ApiError, post } from '../api/client.ts'
import type { Breaker } from '../api/types.ts'
import type { Deed } from '../part/asking.tsx'
import { Offer } from '../part/offer.tsx'
import { t } from '../shell/preference.ts'

type BreakerAct = 'open' | 'close' | 'reset'

const MINUTE = 60_000
/** Longest that one may be opened for at once (min). */
const MOST_MINUTES = 100_000

/** What an operator can do to a circuit breaker as it stands. */
export function Force({ breaker, may, reload }: { breaker: Breaker; may: boolean; reload: () => void }) {
  const acts: BreakerAct[] = breaker.state === 'closed' ? ['open', 'reset'] : ['close', 'reset']
  return (
    <span class="ways">
      {acts.map((act) => (
        <Offer key={act} may={may} of={() => forced(act, breaker, reload)}>
          {t().act[act]}
        </Offer>
      ))}
    </span>
  )
}

export function forced(act: BreakerAct, { name }: Pick<Breaker, 'name'>, done: () => void): Deed {
  return {
    title: t().act[act],
    will: t().will[act],
    isReasonNeeded: true,
    fields: act === 'open' ? [{ name: 'minutes', label: t().hosting.minutes, optional: true }] : [],
    act: async ({ minutes, reason }) => {
      const until = minutes === undefined ? {} : { until: inMinutes(Number(minutes)) }
      await post(`/breakers/${encodeURIComponent(name)}/${act}`, { reason, ...until })
      done()
    },
  }
}

/** Throws ApiError: that is no span. */
function inMinutes(minutes: number): string {
  if (!(minutes > 0 && minutes <= MOST_MINUTES)) throw new ApiError(0, 'INVALID_OPTION', t().hosting.minutesWrong)
  return new Date(Date.now() + minutes * MINUTE).toISOString()
}
