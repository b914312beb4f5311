import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Node = Api['Nodes']['nodes'][number]

const snippet = `const triarch = new Triarch({ store, workflows, agents })
await triarch.start()`

/** The nodes that live. */
export function Nodes() {
  const nodes = useQuery<Api['Nodes']>('/nodes')
  const columns: Column<Node>[] = [
    { title: t().id, cell: ({ id }) => <code>{id}</code> },
    { title: t().roles, cell: ({ roles }) => roles.join(', ') },
    { title: t().where, cell: ({ host, pid }) => (host === undefined ? '–' : `${host} · ${pid}`) },
    { title: t().workflows, cell: ({ workflows }) => <span class="faint clip">{workflows?.join(', ') ?? ''}</span> },
    { title: t().started, cell: ({ startedAt }) => <Time at={startedAt} /> },
    { title: t().lease, cell: ({ leaseUntil }) => <Time at={leaseUntil} /> },
  ]
  return (
    <>
      <h1>{t().nodes}</h1>
      {nodes.error && <Failure error={nodes.error} retry={nodes.reload} />}
      {nodes.value?.nodes.length === 0 && <Empty text={t().noNodes} snippet={snippet} />}
      {nodes.value && nodes.value.nodes.length > 0 && (
        <Table label={t().nodes} rows={nodes.value.nodes} columns={columns} keyOf={({ id }) => id} />
      )}
    </>
  )
}
