import type { Api } from '../api/client.ts'
import { useFigures } from '../api/figures.ts'
import { useQuery } from '../api/query.ts'
import { Chart } from '../part/chart.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { span } from '../part/time.tsx'
import { nameIn, place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { startPath } from '../start/path.ts'
import { hoursOf, linesOf } from '../statistics/lines.ts'
import { Standing } from '../statistics/standing.tsx'
import { Lines } from '../statistics/table.tsx'
import { Grid } from './grid.tsx'
import { Versions } from './versions.tsx'

const HOURS = 24

/** One workflow: who runs it, how it does, and its last runs step by step. */
export function WorkflowPage() {
  const name = nameIn(place.value.path)
  const workflows = useQuery<Api['Workflows']>('/workflows')
  const time = useFigures(['hour', 'outcome'], HOURS, { kind: 'task', workflow: name })
  const steps = useFigures(['action', 'outcome'], HOURS, { kind: 'step', workflow: name })
  const found = workflows.value?.workflows.find((it) => it.name === name)
  const all = hoursOf(time.value?.rows ?? [], HOURS)
  const at = all.map(({ name }) => name)
  return (
    <>
      <p class="crumbs">
        <Link to="/workflows">{t().workflows}</Link>
      </p>
      <div class="heading">
        <h1>{name}</h1>
        <Download
          of={found ? { workflow: found, time: time.value, steps: steps.value } : null}
          name={`workflow ${name}`}
        />
      </div>
      <p class="buttons">
        <Link to={startPath({ workflow: name })}>{t().startTask}</Link>
        <Link to={`/tasks?filter=${encodeURIComponent(`workflow:${JSON.stringify(name)}`)}`}>{t().tasks}</Link>
        <Link to={`/statistics?workflow=${encodeURIComponent(name)}`}>{t().statistics}</Link>
      </p>
      {workflows.value && <Versions of={found ? [found] : []} />}
      {time.value && time.value.asOf !== null && (
        <>
          <h2>{t().figures.lastDay}</h2>
          <Standing of={time.value} />
          <div class="columns">
            <Chart
              {...{ title: t().figures.throughput, at, as: 'bars', told: (it) => it.toLocaleString(locale()) }}
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
          <h2>{t().steps}</h2>
          <Lines
            {...{ label: t().steps, title: t().action }}
            lines={linesOf(steps.value?.rows ?? [], 'action')}
            name={({ name }) => (name === '(local)' ? t().figures.local : name)}
          />
        </>
      )}
      <Grid workflow={name} />
    </>
  )
}
