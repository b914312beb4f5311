import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Lock = Api['Locks']['locks'][number]

/** Who has each lock, and who waits for it. */
export function Locks() {
  const locks = useQuery<Api['Locks']>('/locks')
  const columns: Column<Lock>[] = [
    { title: t().name, cell: ({ name }) => <strong>{name}</strong> },
    { title: t().holder, cell: ({ holder }) => <Link to={taskPath(holder)}>{holder}</Link> },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
    {
      title: t().waiting,
      cell: ({ waiting, truncated }) => `${waiting.toLocaleString()}${truncated ? '+' : ''}`,
      isNumber: true,
    },
    {
      title: t().next,
      cell: ({ next }) =>
        next.slice(0, 3).map(({ task }) => (
          <Link key={task} to={taskPath(task)} class="listed">
            {task}
          </Link>
        )),
    },
  ]
  return (
    <>
      <h1>{t().locks}</h1>
      {locks.error && <Failure error={locks.error} retry={locks.reload} />}
      {locks.value?.locks.length === 0 && <Empty text={t().noLocks} />}
      {locks.value && locks.value.locks.length > 0 && (
        <Table label={t().locks} rows={locks.value.locks} columns={columns} keyOf={({ name }) => name} />
      )}
    </>
  )
}
