import { type Api, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Operation = Api['OperationPage']['operations'][number]

/** What was done to many tasks at once: by whom, why, and how far it is. */
export function Operations() {
  const page = useQuery<Api['OperationPage']>('/operations?limit=50')
  const columns: Column<Operation>[] = [
    { title: t().id, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().action, cell: ({ action }) => (action ? t().act[action] : '') },
    {
      title: t().filter,
      cell: ({ filter = '' }) => (
        <Link to={`/tasks?filter=${encodeURIComponent(filter)}`}>
          <code class="clip">{filter}</code>
        </Link>
      ),
    },
    { title: t().status, cell: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} /> },
    {
      title: t().doneOf,
      cell: ({ matched, done = 0, failed = 0 }) => (matched === undefined ? '–' : t().share(done, matched, failed)),
      isNumber: true,
    },
    { title: t().reason, cell: ({ reason, actor }) => [actor, reason].filter(Boolean).join(': ') },
    { title: t().submitted, cell: ({ submittedAt }) => <Time at={submittedAt} /> },
    {
      title: t().actions,
      cell: ({ id, status }) => status !== 'stopped' && <Stop id={id} reload={page.reload} />,
    },
  ]
  return (
    <>
      <h1>{t().operations}</h1>
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {page.value?.operations.length === 0 && <Empty text={t().noOperations} />}
      {page.value && page.value.operations.length > 0 && (
        <Table label={t().operations} rows={page.value.operations} columns={columns} keyOf={({ id }) => id} />
      )}
    </>
  )
}

function Stop({ id, reload }: { id: string; reload: () => void }) {
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        deed.value = {
          title: t().act.cancel,
          will: t().stopsThere,
          isReasonNeeded: true,
          act: async (given) => {
            await post(`/operations/${encodeURIComponent(id)}/cancel`, given)
            reload()
          },
        }
      }}
    >
      {t().act.cancel}
    </button>
  )
}
