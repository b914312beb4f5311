import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { t } from '../shell/preference.ts'

type Version = Api['Workflows']['workflows'][number]['versions'][number] & { name: string }

/** Workflows, their versions, and which living nodes run them. */
export function Workflows() {
  const workflows = useQuery<Api['Workflows']>('/workflows')
  const rows = workflows.value?.workflows.flatMap(({ name, versions }) => versions.map((it) => ({ ...it, name })))
  const columns: Column<Version>[] = [
    { title: t().name, cell: ({ name }) => <Link to={`/tasks?filter=workflow:${name}`}>{name}</Link> },
    { title: t().version, cell: ({ version }) => version },
    { title: t().kind, cell: ({ kind }) => kind ?? '' },
    {
      title: t().liveOn,
      cell: ({ nodes }) =>
        nodes.length > 0 ? (
          <code class="clip">{nodes.join(', ')}</code>
        ) : (
          <>
            <State of="warning" /> {t().nobody}
          </>
        ),
    },
  ]
  return (
    <>
      <h1>{t().workflows}</h1>
      {workflows.error && <Failure error={workflows.error} retry={workflows.reload} />}
      {rows?.length === 0 && <Empty text={t().noWorkflows} />}
      {rows && rows.length > 0 && (
        <Table
          label={t().workflows}
          rows={rows}
          columns={columns}
          keyOf={({ name, version }) => `${name} ${version}`}
        />
      )}
    </>
  )
}
