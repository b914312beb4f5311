import type { Api, ApiError } from '../api/client.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { type Column, Table } from '../part/table.tsx'
import { span, Time } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'

type Limit = Api['RateLimit']

const snippet = `const payments = agent('payments', { rateLimit: { limit: 100, per: '1s' } })`

/** How often attempts of an agent may start, and what waits for that. */
export function Limits({
  of,
  error,
  retry,
}: {
  of: readonly Limit[] | null
  error: ApiError | null
  retry: () => void
}) {
  const columns: Column<Limit>[] = [
    { title: t().name, cell: ({ name }) => <strong>{name}</strong> },
    { title: t().hosting.rate, cell: (it) => <Rate of={it} /> },
    {
      title: t().hosting.burst,
      cell: ({ burst, forced }) => (forced?.burst ?? burst).toLocaleString(locale()),
      isNumber: true,
    },
    { title: t().waiting, cell: ({ waiting }) => waiting.toLocaleString(locale()), isNumber: true },
    { title: t().next, cell: ({ rests }) => <Time at={rests} /> },
    { title: t().reason, cell: ({ changes }) => <span class="faint clip">{changes.at(-1)?.reason ?? ''}</span> },
  ]
  return (
    <>
      <h2>{t().hosting.limits}</h2>
      {error && <Failure error={error} retry={retry} />}
      {of?.length === 0 && <Empty text={t().hosting.noLimits} snippet={snippet} />}
      {of && of.length > 0 && (
        <Table label={t().hosting.limits} rows={of} columns={columns} keyOf={({ name }) => name} />
      )}
    </>
  )
}

function Rate({ of: { limit, per, forced } }: { of: Limit }) {
  const said = t().hosting.limit(limit, span(per))
  if (!forced) return <>{said}</>
  return (
    <>
      {forced.lifted
        ? t().hosting.lifted
        : `${t().hosting.limit(forced.limit, span(forced.per))}, ${t().hosting.forced}`}{' '}
      {forced.until !== undefined && <Time at={forced.until} />} <span class="faint">({said})</span>
    </>
  )
}
