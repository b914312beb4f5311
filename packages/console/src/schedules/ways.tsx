import { type Api, ApiError, newKey, post } from '../api/client.ts'
import type { Schedule } from '../api/types.ts'
import { Offer } from '../part/offer.tsx'
import { t } from '../shell/preference.ts'
import { schedulePath } from './path.ts'

/** What an operator can do to a schedule. `started`: the tasks that came of it. */
export function Ways({
  schedule: { name, paused },
  may,
  reload,
  started,
}: {
  schedule: Schedule
  may: boolean
  reload: () => void
  started: (tasks: readonly string[]) => void
}) {
  const act = paused ? 'resume' : 'pause'
  const path = schedulePath(name)
  return (
    <span class="ways">
      <Offer
        may={may}
        of={() => {
          // Pressed again after no answer came, it is the same run.
          const id = `${name}@${newKey()}`
          return {
            title: t().timing.runNow,
            will: t().timing.runNowWill,
            act: async (given) => {
              const it = await post<Api['ScheduleStarted']>(`${path}/run`, { id, ...given })
              if (it) started([it.task])
            },
          }
        }}
      >
        {t().timing.runNow}
      </Offer>
      <Offer
        may={may}
        of={() => ({
          title: t().timing.backfill,
          will: t().timing.backfillWill,
          fields: [
            { name: 'from', label: t().timing.from },
            { name: 'to', label: t().timing.to },
          ],
          act: async ({ from, to, ...given }) => {
            const span = { from: instantOf(from), to: instantOf(to) }
            started((await post<Api['Backfilled']>(`${path}/backfill`, { ...span, ...given }))?.tasks ?? [])
            reload()
          },
        })}
      >
        {t().timing.backfill}
      </Offer>
      <Offer
        may={may}
        of={() => ({
          title: t().act[act],
          will: act === 'pause' ? t().timing.pauseWill : t().timing.resumeWill,
          act: async (given) => {
            await post(`${path}/${act}`, given)
            reload()
          },
        })}
      >
        {t().act[act]}
      </Offer>
    </span>
  )
}

/** Throws ApiError: that is no instant. */
function instantOf(said: unknown): string {
  const at = new Date(String(said))
  if (Number.isNaN(at.getTime())) throw new ApiError(0, 'INVALID_OPTION', t().timing.instantWrong)
  return at.toISOString()
}
