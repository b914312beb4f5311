import { useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import type { Task } from '../api/types.ts'
import { Copy } from '../part/copy.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download, Value } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred } from '../part/offer.tsx'
import { PausedBy } from '../part/pause.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { instant, Time } from '../part/time.tsx'
import { nameIn, place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { workflowPath } from '../workflows/path.ts'
import { schedulePath } from './path.ts'
import { Recurs } from './recurrence.tsx'
import { Standing, Started } from './schedules.tsx'
import { Ways } from './ways.tsx'

const NEXT = 10
const RUNS = 20

/** One schedule: when it runs next, what it started, and what became of that. */
export function SchedulePage() {
  const name = nameIn(place.value.path)
  const schedule = useQuery<Api['Schedule']>(schedulePath(name))
  const next = useQuery<Api['Occurrences']>(`${schedulePath(name)}/next?count=${NEXT}`)
  const filter = encodeURIComponent(`tag.schedule:${JSON.stringify(name)}`)
  const runs = useQuery<Api['TaskPage']>(`/tasks?filter=${filter}&limit=${RUNS}`, `/tasks/events?filter=${filter}`)
  const may = useRight('schedules')
  const [started, tell] = useState<readonly string[]>([])
  const it = schedule.value
  if (!it) return schedule.error ? <Failure error={schedule.error} retry={schedule.reload} /> : <p>{t().loading}…</p>
  const columns: Column<Task>[] = [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().status, cell: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} /> },
    { title: t().submitted, cell: ({ submittedAt }) => <Time at={submittedAt} /> },
    { title: t().updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ]
  const facts = [
    { name: t().rule, value: <Recurs of={it.recurrence} /> },
    { name: t().workflow, value: <Link to={workflowPath(it.workflow)}>{it.workflow}</Link> },
    { name: t().version, value: it.version },
    { name: t().timing.overlap, value: t().timing.overlaps[it.overlap] },
    { name: t().last, value: <Time at={it.last} /> },
    { name: t().timing.started, value: it.started.toLocaleString(locale()) },
    { name: t().timing.skipped, value: it.skipped.toLocaleString(locale()) },
    { name: t().timing.missed, value: it.missed.toLocaleString(locale()) },
  ]
  return (
    <>
      <div class="heading">
        <div>
          <p class="crumbs">
            <Link to="/schedules">{t().schedules}</Link>
          </p>
          <h1>
            {name} <Standing of={it} />
          </h1>
        </div>
        <span class="ways">
          <Copy text={name} />
          <Download of={{ schedule: it, next: next.value?.occurrences, runs: runs.value?.tasks }} name={name} />
        </span>
      </div>
      <Ways schedule={it} may={may} reload={schedule.reload} started={tell} />
      <Barred may={may} right="schedules" />
      <Started tasks={started} />
      {schedule.error && <Failure error={schedule.error} retry={schedule.reload} />}
      {it.paused?.reason !== undefined && <p class="note">{it.paused.reason}</p>}
      <PausedBy of={it.pausedBy} />
      {it.failing && (
        <div class="failure" role="alert">
          {t().timing.failing(it.failing.times)} <strong>{it.failing.error.code}</strong> {it.failing.error.message}
        </div>
      )}
      <dl class="facts">
        {facts.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <div>
          <h2>{t().timing.nextRuns}</h2>
          {next.error && <Failure error={next.error} retry={next.reload} />}
          {it.paused || next.value?.occurrences.length === 0 ? (
            <p class="note">{t().timing.noNext}</p>
          ) : (
            <ol class="plain">
              {next.value?.occurrences.map((at) => (
                <li key={at}>
                  {instant(at)}{' '}
                  <span class="faint">
                    <Time at={at} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </div>
        <div>
          <h2>{t().input}</h2>
          <Value of={it.input} label={t().input} />
        </div>
      </div>
      <h2>{t().timing.recent}</h2>
      {runs.error && <Failure error={runs.error} retry={runs.reload} />}
      {runs.value?.tasks.length === 0 && <Empty text={t().timing.noRuns} />}
      {runs.value && runs.value.tasks.length > 0 && (
        <Table
          label={t().timing.recent}
          rows={runs.value.tasks}
          columns={columns}
          keyOf={({ id }) => id}
          to={({ id }) => taskPath(id)}
        />
      )}
    </>
  )
}
