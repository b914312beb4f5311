import { type Api, text } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

interface Row {
  key: string
  seq: number
  at: string
  type: string
  rest: string
}

/** All that happened to the task, in order. `stream`: what tells that there is more. */
export function History({ path, stream }: { path: string; stream: string | null }) {
  const history = useQuery<Api['History']>(`${path}/history`, stream)
  if (history.error && !history.value) return <Failure error={history.error} retry={history.reload} />
  const rows = (history.value?.records ?? []).flatMap(({ seq, at, events }) =>
    events.map(({ type, ...rest }, index): Row => {
      const said = Object.keys(rest).length > 0 ? text(rest) : ''
      return { key: `${seq}.${index}`, seq, at, type, rest: said }
    }),
  )
  const columns: Column<Row>[] = [
    { title: '#', cell: ({ seq }) => <span class="faint">{seq}</span>, isNumber: true },
    { title: t().at, cell: ({ at }) => <Time at={at} /> },
    { title: t().event, cell: ({ type }) => <code>{type}</code> },
    { title: t().data, cell: ({ rest }) => <code class="clip wide">{rest}</code> },
  ]
  return (
    <>
      <p class="buttons">
        <Download of={history.value} name="history" />
      </p>
      <Table label={t().history} rows={rows} columns={columns} keyOf={({ key }) => key} />
    </>
  )
}
