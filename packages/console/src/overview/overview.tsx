import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'
import { LastDay } from './last-day.tsx'

type Task = Api['TaskInfo']
type Check = Api['Health']['checks'][number]

/** How the whole is, and what does not go on without somebody. */
export function Overview() {
  const counts = useQuery<Api['Statistics']>('/stats', '/stats/events')
  const held = useQuery<Api['TaskPage']>('/tasks?filter=status:paused&limit=20', '/tasks/events?filter=status:paused')
  const health = useQuery<Api['Health']>('/health')
  const figures = counts.value && [
    { name: t().tasks, value: counts.value.tasks },
    { name: t().ready, value: counts.value.ready },
    { name: t().queued, value: counts.value.work },
    { name: t().inbox, value: counts.value.inbox },
  ]
  const checks: Column<Check>[] = [
    { title: t().name, cell: ({ name }) => name },
    { title: t().status, cell: ({ status }) => <State of={status} /> },
    { title: t().data, cell: ({ message }) => message ?? '' },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
  ]
  const waiting: Column<Task>[] = [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().workflow, cell: ({ workflow }) => workflow },
    { title: t().reason, cell: ({ pause }) => pause?.error?.message ?? pause?.reason ?? pause?.cause ?? '' },
    { title: t().since, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ]
  return (
    <>
      <h1>{t().overview}</h1>
      {counts.error && <Failure error={counts.error} retry={counts.reload} />}
      <section class="figures" aria-label={t().counts}>
        {figures?.map(({ name, value }) => (
          <div key={name}>
            <strong>{value.toLocaleString()}</strong>
            <span>{name}</span>
          </div>
        ))}
      </section>
      <LastDay />
      <h2>{t().needsPerson}</h2>
      {held.value?.tasks.length === 0 ? (
        <Empty text={t().allFine} />
      ) : (
        held.value && (
          <Table
            label={t().needsPerson}
            rows={held.value.tasks}
            columns={waiting}
            keyOf={({ id }) => id}
            to={({ id }) => taskPath(id)}
          />
        )
      )}
      <h2>
        {t().health} {health.value && <State of={health.value.status} />}
      </h2>
      {health.error && !health.value && <Failure error={health.error} retry={health.reload} />}
      {health.value && (
        <Table label={t().checks} rows={health.value.checks} columns={checks} keyOf={({ name }) => name} />
      )}
    </>
  )
}
