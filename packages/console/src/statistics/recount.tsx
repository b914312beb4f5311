import { post } from '../api/client.ts'
import { useRight } from '../api/right.ts'
import { Barred, Offer } from '../part/offer.tsx'
import { t } from '../shell/preference.ts'

/** Drops what was counted, and has it counted anew. */
export function Recount({ reload }: { reload: () => void }) {
  const may = useRight('statistics')
  return (
    <>
      <Offer
        may={may}
        of={() => ({
          title: t().habits.recount,
          will: t().habits.recountWill,
          isReasonNeeded: true,
          isRisky: true,
          act: async (given) => {
            await post('/statistics/recount', given)
            reload()
          },
        })}
      >
        {t().habits.recount}
      </Offer>
      <Barred may={may} right="statistics" />
    </>
  )
}
