import type { Figures } from '../api/figures.ts'
import { Empty } from '../part/empty.tsx'
import { span, Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

const SNIPPET = `const triarch = new Triarch({ store, workflows, statistics: { tag: 'tenant' } })`

/** How far what is shown is behind what was written; where nobody counts, how somebody would. */
export function Standing({ of }: { of: Figures }) {
  if (of.recount)
    return (
      <p class="note" role="status">
        {t().figures.recounting(Math.floor(of.recount.share * 100))} <Time at={of.recount.since} />
      </p>
    )
  if (of.asOf === null || of.behind === null) return <Empty text={t().figures.nobodyCounts} snippet={SNIPPET} />
  return (
    <p class="note" role="status">
      {t().figures.counted} <Time at={of.asOf} /> ({t().figures.behind(span(of.behind))}){' '}
      {of.truncated && <strong>{t().figures.truncated}</strong>}
    </p>
  )
}
