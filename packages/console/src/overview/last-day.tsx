import { useFigures } from '../api/figures.ts'
import { Link } from '../part/link.tsx'
import { locale, t } from '../shell/preference.ts'
import { failing, linesOf, sumOf } from '../statistics/lines.ts'
import { Standing } from '../statistics/standing.tsx'
import { Lines, percent, took } from '../statistics/table.tsx'
import { workflowPath } from '../workflows/path.ts'

/** Workflows that are shown. */
const MOST = 5

/** How much went through, how long that took, and what fails. Nothing where nobody counts. */
export function LastDay() {
  const tasks = useFigures(['workflow', 'outcome'], 24, { kind: 'task' })
  const whole = useFigures(['outcome'], 24, { kind: 'task', outcome: 'success' })
  if (!tasks.value || tasks.value.asOf === null) return null
  const lines = linesOf(tasks.value.rows, 'workflow')
  const { begun, done, failed } = sumOf(lines)
  const share = failing({ done, failed })
  const worst = lines.filter((it) => it.failed > 0).slice(0, MOST)
  const [all] = whole.value?.rows ?? []
  const figures = [
    { name: t().submitted, value: begun.toLocaleString(locale()) },
    { name: t().figures.done, value: done.toLocaleString(locale()) },
    { name: t().figures.share, value: share === null ? '–' : percent(share) },
    { name: t().figures.half, value: took(all?.p50 ?? null) },
    { name: t().figures.most, value: took(all?.p95 ?? null) },
  ]
  return (
    <>
      <h2>
        <Link to="/statistics">{t().figures.lastDay}</Link>
      </h2>
      <Standing of={tasks.value} />
      <section class="figures" aria-label={t().figures.lastDay}>
        {figures.map(({ name, value }) => (
          <div key={name}>
            <strong>{value}</strong>
            <span>{name}</span>
          </div>
        ))}
      </section>
      {worst.length > 0 && (
        <>
          <h2>{t().figures.failing}</h2>
          <Lines
            {...{ label: t().figures.failing, title: t().workflow, begins: true, lines: worst }}
            name={({ name }) => <Link to={workflowPath(name)}>{name}</Link>}
          />
        </>
      )}
    </>
  )
}
