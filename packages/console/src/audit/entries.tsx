import { type Api, text } from '../api/client.ts'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

export type AuditEntry = Api['AuditPage']['entries'][number]

/** Acts, the last first. */
export function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const columns: Column<AuditEntry>[] = [
    { title: t().at, cell: ({ at }) => <Time at={at} /> },
    {
      title: t().who,
      cell: ({ actor }) => (actor === undefined ? '–' : <Link to={asked('actor', actor)}>{actor}</Link>),
    },
    {
      title: t().what,
      cell: ({ action, outcome }) => (
        <>
          <Link to={asked('action', action)}>{action}</Link> {outcome === 'refused' && <State of="refused" />}
        </>
      ),
    },
    { title: t().on, cell: ({ subject }) => <Subject of={subject} /> },
    { title: t().reason, cell: ({ reason }) => reason ?? '' },
    { title: t().request, cell: ({ request }) => <span class="faint">{request ?? ''}</span> },
    { title: t().data, cell: ({ details }) => (details ? <span class="faint">{text(details)}</span> : '') },
  ]
  return <Table label={t().audit} rows={entries} columns={columns} keyOf={(it) => JSON.stringify(it)} />
}

function Subject({ of }: { of: string }) {
  const at = of.indexOf(':')
  const [kind, name] = [of.slice(0, at), of.slice(at + 1)]
  const to =
    kind === 'task' || kind === 'operation'
      ? taskPath(name)
      : kind === 'setting'
        ? `/settings/${encodeURIComponent(name)}`
        : asked('subject', of)
  return <Link to={to}>{of}</Link>
}

function asked(name: string, value: string): string {
  return `/audit?${new URLSearchParams({ [name]: value })}`
}
