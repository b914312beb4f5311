import type { Workflow } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { t } from '../shell/preference.ts'
import type { StatisticsLine } from '../statistics/lines.ts'
import { failing } from '../statistics/lines.ts'
import { Share, took } from '../statistics/table.tsx'
import { workflowPath } from './path.ts'

type NamedVersion = Workflow['versions'][number] & { name: string }

const snippet = `const order = workflow('order', { run: async (input, task) => task.run(charge, input) })
const triarch = new Triarch({ store, workflows: [order] })
await triarch.start()`

/** Each version, and which living nodes have its code; with how the workflow did, where that is counted. */
export function Versions({ of, lines }: { of: readonly Workflow[]; lines?: readonly StatisticsLine[] | undefined }) {
  const rows = of.flatMap(({ name, versions }) => versions.map((it) => ({ ...it, name })))
  const lineOf = ({ name }: NamedVersion) => lines?.find((line) => line.name === name)
  const figures: Column<NamedVersion>[] = [
    { title: t().figures.done, cell: (it) => lineOf(it)?.done ?? '–', isNumber: true },
    {
      title: t().figures.share,
      cell: (it) => {
        const line = lineOf(it)
        return <Share of={line ? failing(line) : null} />
      },
      isNumber: true,
    },
    { title: 'p95', cell: (it) => took(lineOf(it)?.p95 ?? null), isNumber: true },
  ]
  const columns: Column<NamedVersion>[] = [
    { title: t().name, cell: ({ name }) => <Link to={workflowPath(name)}>{name}</Link> },
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
    ...(lines ? figures : []),
  ]
  if (rows.length === 0) return <Empty text={t().noWorkflows} snippet={snippet} />
  return (
    <Table label={t().workflows} rows={rows} columns={columns} keyOf={({ name, version }) => `${name} ${version}`} />
  )
}
