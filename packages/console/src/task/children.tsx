import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, askAll, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

const LIMIT = 100
const outcomes = ['error', 'warning', 'success', 'cancelled', 'compensated'] as const

/** Tasks that the task began, a page at a time; which page, of which step and with which outcome is in the address. */
export function Children({ path, stream }: { path: string; stream: string | null }) {
  const { search } = place.value
  const said = new URLSearchParams({ limit: String(LIMIT) })
  for (const [name, as] of [
    ['of', 'step'],
    ['outcome', 'outcome'],
    ['cursor', 'cursor'],
  ] as const) {
    const value = search.get(name)
    if (value !== null) said.set(as, value)
  }
  const page = useQuery<Api['TaskPage']>(`${path}/children?${said}`, stream)
  const [of, outcome, cursor] = ['of', 'outcome', 'cursor'].map((name) => search.get(name))
  const choose = (name: string, value: string | null) => {
    askAll({ cursor: null, [name]: value })
  }
  const columns: Column<Api['TaskInfo']>[] = [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().workflow, cell: ({ workflow }) => workflow },
    { title: t().status, cell: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} /> },
    { title: t().error, cell: ({ error }) => <span class="faint clip">{error?.message ?? ''}</span> },
    { title: t().updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ]
  return (
    <>
      <div class="shortcuts">
        {of && (
          <button type="button" class="chip on" onClick={() => choose('of', null)}>
            {t().step} {of} ×
          </button>
        )}
        {outcomes.map((it) => (
          <button
            key={it}
            type="button"
            class={it === outcome ? 'chip on' : 'chip'}
            aria-pressed={it === outcome}
            onClick={() => choose('outcome', it === outcome ? null : it)}
          >
            {t().states[it]}
          </button>
        ))}
        <Download of={page.value?.tasks ?? null} name="children" />
      </div>
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {page.value?.tasks.length === 0 && <Empty text={of || outcome || cursor ? t().nothing : t().noChildren} />}
      {page.value && page.value.tasks.length > 0 && (
        <Table
          label={t().children}
          rows={page.value.tasks}
          columns={columns}
          keyOf={({ id }) => id}
          to={({ id }) => taskPath(id)}
        />
      )}
      <p class="buttons">
        {cursor && (
          <button type="button" onClick={() => ask('cursor', null)}>
            {t().one.firstPage}
          </button>
        )}
        {page.value?.next !== undefined && (
          <button type="button" onClick={() => ask('cursor', page.value?.next ?? null)}>
            {t().one.nextPage}
          </button>
        )}
      </p>
    </>
  )
}
