import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Node } from '../api/types.ts'
import { Copy } from '../part/copy.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

const snippet = `const triarch = new Triarch({ store, workflows, agents })
await triarch.start()`

/** The nodes that live: what each is for, where it runs, and until when it need not be heard of. */
export function Nodes() {
  const nodes = useQuery<Api['Nodes']>('/nodes')
  const leaders = useQuery<Api['Leaders']>('/leaders')
  const isElected = (leaders.value?.leaders.length ?? 0) > 0
  const leads = (id: string) => leaders.value?.leaders.filter(({ node }) => node === id).map(({ name }) => name) ?? []
  const columns: Column<Node>[] = [
    {
      title: t().id,
      cell: ({ id }) => (
        <>
          <Link to={`/tasks?filter=${encodeURIComponent(`node:${JSON.stringify(id)}`)}`}>
            <code>{id}</code>
          </Link>
          <Copy text={id} />
        </>
      ),
    },
    { title: t().roles, cell: ({ roles }) => roles.join(', ') },
    ...(isElected ? [{ title: t().hosting.leads, cell: ({ id }: Node) => leads(id).join(', ') }] : []),
    { title: t().where, cell: ({ place }) => (place ? `${place.host} · ${place.pid}` : '–') },
    {
      title: t().hosting.labels,
      cell: ({ labels }) => (
        <span class="faint">
          {Object.entries(labels)
            .map(([name, value]) => `${name}: ${value}`)
            .join(', ')}
        </span>
      ),
    },
    { title: t().workflows, cell: ({ runs }) => <Listed names={runs?.workflows} /> },
    { title: t().actions, cell: ({ runs }) => <Listed names={runs?.actions} /> },
    { title: t().started, cell: ({ startedAt }) => <Time at={startedAt} /> },
    { title: t().lease, cell: ({ leaseUntil }) => <Time at={leaseUntil} /> },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().nodes}</h1>
        <Download of={nodes.value?.nodes ?? null} name="nodes" />
      </div>
      {nodes.error && <Failure error={nodes.error} retry={nodes.reload} />}
      {nodes.value?.nodes.length === 0 && <Empty text={t().noNodes} snippet={snippet} />}
      {nodes.value && nodes.value.nodes.length > 0 && (
        <Table label={t().nodes} rows={nodes.value.nodes} columns={columns} keyOf={({ id }) => id} />
      )}
    </>
  )
}

/** In one line; all of them where one points at it. */
function Listed({ names = [] }: { names: string[] | undefined }) {
  const said = names.join(', ')
  return (
    <span class="faint clip brief" title={said}>
      {said}
    </span>
  )
}
