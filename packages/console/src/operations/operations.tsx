import { type Api, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { First } from '../part/first.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred, Offer } from '../part/offer.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type Operation = Api['OperationPage']['operations'][number]

const snippet = `const triarch = new Triarch({ store, workflows, operations: true })`

/** What was done to many tasks at once: by whom, why, and how far it is. */
export function Operations() {
  const page = useQuery<Api['OperationPage']>('/operations?limit=50')
  const may = useRight('control')
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
      cell: (operation) => <Done of={operation} />,
      isNumber: true,
    },
    {
      title: t().reason,
      cell: ({ reason, actor, error }) => [actor, reason, error?.message].filter(Boolean).join(': '),
    },
    { title: t().submitted, cell: ({ submittedAt }) => <Time at={submittedAt} /> },
    {
      title: t().actions,
      cell: ({ id, status }) => status !== 'stopped' && <Stop id={id} may={may} reload={page.reload} />,
    },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().operations}</h1>
        <Download of={page.value?.operations ?? null} name="operations" />
      </div>
      <Barred may={may} right="control" />
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {page.value?.operations.length === 0 && (
        <>
          <Empty text={t().noOperations} snippet={snippet} />
          <p class="buttons">
            <Link to="/tasks?filter=status:paused">{t().habits.askToFilter}</Link>
          </p>
        </>
      )}
      {page.value && page.value.operations.length > 0 && (
        <>
          <Table label={t().operations} rows={page.value.operations} columns={columns} keyOf={({ id }) => id} />
          <First of={page.value.operations} next={page.value.next} command="triarch operation list" />
        </>
      )}
    </>
  )
}

/** How many of those that were meant are done. */
function Done({ of: { matched, done = 0, failed = 0 } }: { of: Operation }) {
  if (matched === undefined) return <>–</>
  const said = t().share(done, matched, failed)
  return (
    <>
      <progress max={Math.max(1, matched)} value={done + failed} aria-label={said} /> {said}
    </>
  )
}

function Stop({ id, may, reload }: { id: string; may: boolean; reload: () => void }) {
  return (
    <Offer
      may={may}
      of={() => ({
        title: t().act.cancel,
        will: t().stopsThere,
        isReasonNeeded: true,
        act: async (given) => {
          await post(`/operations/${encodeURIComponent(id)}/cancel`, given)
          reload()
        },
      })}
    >
      {t().act.cancel}
    </Offer>
  )
}
