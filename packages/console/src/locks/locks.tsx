import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Lock } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'
import { graphOf } from './graph.ts'
import { Picture } from './picture.tsx'

/** A picture of more tasks than these helps nobody. */
const MOST_DRAWN = 60

const snippet = `const sync = workflow('sync', { exclusive: { key: ({ host }) => \`host:\${host}\` }, run })`

/** Who has each lock, and who waits for it. */
export function Locks() {
  const locks = useQuery<Api['Locks']>('/locks')
  const columns: Column<Lock>[] = [
    { title: t().name, cell: ({ name }) => <strong>{name}</strong> },
    { title: t().holder, cell: ({ holder }) => <Link to={taskPath(holder)}>{holder}</Link> },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
    {
      title: t().waiting,
      cell: ({ waiting, truncated }) => `${waiting.toLocaleString(locale())}${truncated ? '+' : ''}`,
      isNumber: true,
    },
    { title: t().next, cell: (lock) => <Line of={lock} /> },
  ]
  const all = locks.value?.locks ?? []
  const graph = graphOf(all)
  return (
    <>
      <div class="heading">
        <h1>{t().locks}</h1>
        <Download of={locks.value?.locks ?? null} name="locks" />
      </div>
      {locks.error && <Failure error={locks.error} retry={locks.reload} />}
      {graph.cycles.map((cycle) => (
        <div key={cycle.join()} class="failure" role="alert">
          {t().holding.cycle}{' '}
          {cycle.map((task) => (
            <Link key={task} to={taskPath(task)} class="listed">
              {task}
            </Link>
          ))}
        </div>
      ))}
      {locks.value && all.length === 0 && <Empty text={t().holding.empty} snippet={snippet} />}
      {graph.waits.length > 0 && graph.spots.length <= MOST_DRAWN && <Picture of={graph} />}
      {all.length > 0 && <Table label={t().locks} rows={all} columns={columns} keyOf={({ name }) => name} />}
    </>
  )
}

/** The first of those who wait, and how many come after them. */
function Line({ of: { next, waiting, truncated } }: { of: Lock }) {
  const rest = waiting - next.length
  return (
    <>
      {next.map(({ task, since }) => (
        <span key={task} class="listed">
          <Link to={taskPath(task)}>{task}</Link>{' '}
          <span class="faint">
            <Time at={since} />
          </span>
        </span>
      ))}
      {rest > 0 && (
        <span class="faint">{t().holding.more(`${rest.toLocaleString(locale())}${truncated ? '+' : ''}`)}</span>
      )}
    </>
  )
}
