import { depthOf, Oldest } from '../agents/agents.tsx'
import { agentPath } from '../agents/path.ts'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { t } from '../shell/preference.ts'

type BacklogAgent = Api['Agents']['agents'][number]

/** Agents that are shown. */
const MOST = 5

/** Which agents most waits for, where any does. */
export function Backlog() {
  const agents = useQuery<Api['Agents']>('/agents')
  const waited = (agents.value?.agents ?? []).filter(({ queue }) => queue.depth > 0)
  if (waited.length === 0) return null
  const columns: Column<BacklogAgent>[] = [
    { title: t().name, cell: ({ name }) => <Link to={agentPath(name)}>{name}</Link> },
    { title: t().nodes, cell: ({ nodes }) => nodes.length || <State of="critical" />, isNumber: true },
    { title: t().depth, cell: ({ queue }) => depthOf(queue), isNumber: true },
    { title: t().oldest, cell: ({ queue }) => <Oldest of={queue} /> },
  ]
  return (
    <>
      <h2>{t().hosting.backlog}</h2>
      <Table
        label={t().hosting.backlog}
        rows={waited.toSorted((a, b) => b.queue.depth - a.queue.depth).slice(0, MOST)}
        columns={columns}
        keyOf={({ name }) => name}
      />
    </>
  )
}
