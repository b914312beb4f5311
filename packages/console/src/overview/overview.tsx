import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { isNarrow } from '../part/narrow.ts'
import { Found } from '../part/said.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'
import { Backlog } from './backlog.tsx'
import { LastDay } from './last-day.tsx'
import { Needs } from './needs.tsx'

type Check = Api['Health']['checks'][number]

/** What is wrong is said first. */
function rank({ status }: Check): number {
  return status === 'ok' ? 1 : 0
}

/** How the whole is, and what does not go on without somebody. */
export function Overview() {
  const counts = useQuery<Api['Statistics']>('/stats', '/stats/events')
  const health = useQuery<Api['Health']>('/health?report=true')
  const figures = counts.value && [
    { name: t().tasks, value: counts.value.tasks },
    { name: t().ready, value: counts.value.ready },
    { name: t().queued, value: counts.value.work },
    { name: t().inbox, value: counts.value.inbox },
  ]
  const checks: Column<Check>[] = [
    { title: t().name, cell: ({ name }) => name },
    { title: t().status, cell: ({ status }) => <State of={status} /> },
    { title: t().data, cell: (check) => <Found of={check} /> },
    ...(isNarrow.value ? [] : [{ title: t().since, cell: ({ since }: Check) => <Time at={since} /> }]),
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().overview}</h1>
        <Download of={counts.value && { counts: counts.value, health: health.value }} name="overview" />
      </div>
      {counts.error && <Failure error={counts.error} retry={counts.reload} />}
      <section class="figures" aria-label={t().counts}>
        {figures?.map(({ name, value }) => (
          <div key={name}>
            <strong>{value.toLocaleString(locale())}</strong>
            <span>{name}</span>
          </div>
        ))}
      </section>
      <Needs />
      <LastDay />
      <Backlog />
      <h2>
        {t().health} {health.value && <State of={health.value.status} />}
      </h2>
      {health.error && !health.value && <Failure error={health.error} retry={health.reload} />}
      {health.value && (
        <Table
          label={t().checks}
          isDense
          rows={health.value.checks.toSorted((a, b) => rank(a) - rank(b))}
          columns={checks}
          keyOf={({ name }) => name}
        />
      )}
    </>
  )
}
