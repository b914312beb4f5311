import { useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import type { Schedule } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { First } from '../part/first.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred } from '../part/offer.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'
import { schedulePath } from './path.ts'
import { Recurs } from './recurrence.tsx'
import { Ways } from './ways.tsx'

const snippet = `await triarch.schedules.get('nightly').register({ workflow: report, input: {}, cron: '0 3 * * *' })`

/** What is submitted again and again, and when. */
export function Schedules() {
  const schedules = useQuery<Api['SchedulePage']>('/schedules?limit=100')
  const may = useRight('schedules')
  const [started, tell] = useState<readonly string[]>([])
  const columns: Column<Schedule>[] = [
    { title: t().name, cell: ({ name }) => <Link to={schedulePath(name)}>{name}</Link> },
    { title: t().workflow, cell: ({ workflow }) => <Link to={`/tasks?filter=workflow:${workflow}`}>{workflow}</Link> },
    { title: t().rule, cell: ({ recurrence }) => <Recurs of={recurrence} /> },
    { title: t().status, cell: (schedule) => <Standing of={schedule} /> },
    { title: t().next, cell: ({ next }) => <Time at={next} /> },
    { title: t().last, cell: ({ last }) => <Time at={last} /> },
    { title: t().runs, cell: ({ started, skipped, missed }) => `${started} · ${skipped} · ${missed}`, isNumber: true },
    {
      title: t().actions,
      cell: (schedule) => <Ways schedule={schedule} may={may} reload={schedules.reload} started={tell} />,
    },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().schedules}</h1>
        <Download of={schedules.value?.schedules ?? null} name="schedules" />
      </div>
      <Started tasks={started} />
      {schedules.error && <Failure error={schedules.error} retry={schedules.reload} />}
      {schedules.value?.schedules.length === 0 && <Empty text={t().noSchedules} snippet={snippet} />}
      {schedules.value && schedules.value.schedules.length > 0 && (
        <>
          <Barred may={may} right="schedules" />
          <Table
            label={t().schedules}
            rows={schedules.value.schedules}
            columns={columns}
            keyOf={({ name }) => name}
            to={({ name }) => schedulePath(name)}
          />
          <First of={schedules.value.schedules} next={schedules.value.next} command="triarch schedule list" />
        </>
      )}
    </>
  )
}

export function Standing({ of: { paused, pausedBy, failing } }: { of: Schedule }) {
  return <State of={paused || pausedBy ? 'paused' : failing ? 'error' : 'ok'} />
}

/** What came of what was pressed. */
export function Started({ tasks }: { tasks: readonly string[] }) {
  const [only] = tasks
  if (only === undefined) return null
  return (
    <p role="status">
      {tasks.length === 1 ? (
        <>
          {t().timing.startedTask} <Link to={taskPath(only)}>{only}</Link>
        </>
      ) : (
        t().timing.startedTasks(tasks.length)
      )}
    </p>
  )
}
