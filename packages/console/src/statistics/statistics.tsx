import { useFigures } from '../api/figures.ts'
import { Chart } from '../part/chart.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { span } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { workflowPath } from '../workflows/path.ts'
import { Failures } from './failures.tsx'
import { hoursOf, linesOf } from './lines.ts'
import { Recount } from './recount.tsx'
import { Standing } from './standing.tsx'
import { Lines } from './table.tsx'

/** Hours that can be looked at: each has a row for each outcome, and an answer has a bound. */
const RANGES = [24, 72, 168] as const

/** How often, how long, and what fails, by the hour. */
export function Statistics() {
  const { search } = place.value
  const hours = RANGES.find((it) => String(it) === search.get('hours')) ?? 24
  const chosen = { workflow: search.get('workflow'), tag: search.get('tag') }
  const time = useFigures(['hour', 'outcome'], hours, { ...chosen, kind: 'task' })
  const tasks = useFigures(['workflow', 'outcome'], hours, { ...chosen, kind: 'task' })
  const steps = useFigures(['action', 'outcome'], hours, { ...chosen, kind: 'step' })
  const tenants = useFigures(['outcome', 'tag'], hours, { ...chosen, kind: 'task' })
  const known = linesOf(tenants.value?.rows ?? [], 'tag').filter(({ name }) => name !== '')
  const all = hoursOf(time.value?.rows ?? [], hours)
  const at = all.map(({ name }) => name)
  const isCounted = time.value !== null && time.value.asOf !== null
  const number = (it: number) => it.toLocaleString(locale())
  return (
    <>
      <h1>{t().statistics}</h1>
      <p class="buttons">
        {(['workflow', 'tag'] as const).map(
          (name) =>
            chosen[name] !== null && (
              <button key={name} type="button" class="chip on" onClick={() => ask(name, null)}>
                {name === 'tag' ? t().figures.tenant : t().workflow}: {chosen[name]} <span aria-hidden="true">✕</span>{' '}
                <span class="sr">{t().figures.forget}</span>
              </button>
            ),
        )}
        <label>
          {t().figures.range}{' '}
          <select value={String(hours)} onChange={({ currentTarget }) => ask('hours', currentTarget.value)}>
            {RANGES.map((it) => (
              <option key={it} value={String(it)}>
                {span(it * 3_600_000)}
              </option>
            ))}
          </select>
        </label>
        {isCounted && (
          <Download
            of={{ time: time.value, tasks: tasks.value, steps: steps.value, tenants: tenants.value }}
            name="statistics"
          />
        )}
        {time.value && (isCounted || time.value.recount) && <Recount reload={time.reload} />}
      </p>
      {time.error && <Failure error={time.error} retry={time.reload} />}
      {time.value && <Standing of={time.value} />}
      {isCounted && (
        <>
          <div class="columns">
            <Chart
              {...{ title: t().figures.throughput, at, as: 'bars', told: number }}
              series={[
                { name: t().figures.done, tone: 'good', values: all.map(({ done }) => done) },
                { name: t().figures.failed, tone: 'bad', values: all.map(({ failed }) => failed) },
              ]}
            />
            <Chart
              {...{ title: t().figures.durations, at, as: 'lines', told: span }}
              series={[
                { name: 'p50', tone: 'run', values: all.map(({ p50 }) => p50) },
                { name: 'p95', tone: 'wait', values: all.map(({ p95 }) => p95) },
              ]}
            />
          </div>
          <h2>{t().workflows}</h2>
          {tasks.value?.rows.length === 0 ? (
            <Empty text={t().figures.none} />
          ) : (
            <Lines
              {...{ label: t().workflows, title: t().workflow, begins: true }}
              lines={linesOf(tasks.value?.rows ?? [], 'workflow')}
              name={({ name }) => <Link to={workflowPath(name)}>{name}</Link>}
            />
          )}
          <h2>{t().steps}</h2>
          <Lines
            {...{ label: t().steps, title: t().action }}
            lines={linesOf(steps.value?.rows ?? [], 'action')}
            name={({ name }) => (name === '(local)' ? t().figures.local : name)}
          />
          <Failures hours={hours} chosen={chosen} />
          {known.length > 0 && (
            <>
              <h2>{t().figures.tenants}</h2>
              <Lines
                {...{ label: t().figures.tenants, title: t().figures.tenant, begins: true, lines: known }}
                name={({ name }) => (
                  <button type="button" class="quiet small" onClick={() => ask('tag', name)}>
                    {name}
                  </button>
                )}
              />
            </>
          )}
        </>
      )}
    </>
  )
}
