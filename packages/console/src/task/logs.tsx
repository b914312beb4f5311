import { type Api, text } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { type Column, Table } from '../part/table.tsx'
import { instant } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Line = Api['LogPage']['lines'][number]

/** What its steps and its workflow logged. */
export function Logs({ path }: { path: string }) {
  const page = useQuery<Api['LogPage']>(`${path}/logs?limit=500`)
  if (page.error && !page.value) return <Failure error={page.error} retry={page.reload} />
  if (page.value?.lines.length === 0) return <Empty text={t().noLogs} />
  const columns: Column<Line>[] = [
    { title: t().at, cell: ({ at }) => instant(at) },
    { title: t().status, cell: ({ level }) => <span class={`level ${level}`}>{level}</span> },
    { title: t().step, cell: ({ step }) => step ?? '' },
    {
      title: t().data,
      cell: ({ message, fields }) => `${message} ${Object.keys(fields).length > 0 ? text(fields) : ''}`,
    },
  ]
  return <Table label={t().logs} rows={page.value?.lines ?? []} columns={columns} keyOf={({ seq }) => String(seq)} />
}
