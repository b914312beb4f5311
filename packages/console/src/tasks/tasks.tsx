import { useEffect, useState } from 'preact/hooks'
import { type Api, type ApiError, get } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Bulk } from './bulk.tsx'

type Task = Api['TaskInfo']

const LIMIT = 50
const statuses = ['running', 'paused', 'compensating', 'scheduled', 'pending', 'stopped'] as const
const outcomes = ['success', 'warning', 'error', 'cancelled', 'compensated'] as const
/** What a filter may speak of. */
const fields = [
  ...['status:', 'outcome:', 'workflow:', 'version:', 'id:', 'age:>', 'submitted:>', 'updated:>', 'step:', 'error:'],
  ...['cause:', 'priority:', 'parent:', 'agent:', 'tag.'],
]

const snippet = `await triarch.submit(order, { id: 'o-1', amount: 10 }, { id: 'o-1' })`

/** Tasks by a filter, newest first; more by the cursor. */
export function Tasks() {
  const filter = place.value.search.get('filter') ?? ''
  const said = new URLSearchParams({ ...(filter !== '' && { filter }), limit: String(LIMIT) })
  const live = new URLSearchParams({ ...(filter !== '' && { filter }), limit: String(LIMIT) })
  const first = useQuery<Api['TaskPage']>(`/tasks?${said}`, `/tasks/events?${live}`)
  const [later, setLater] = useState<{ tasks: Task[]; next: string | undefined } | null>(null)
  const [failed, setFailed] = useState<ApiError | null>(null)
  // Another filter has other pages.
  useEffect(() => setLater(null), [filter])
  const next = later ? later.next : first.value?.next
  const more = async () => {
    setFailed(null)
    try {
      const page = await get<Api['TaskPage']>(`/tasks?${said}&cursor=${next}`)
      setLater({ tasks: [...(later?.tasks ?? []), ...page.tasks], next: page.next })
    } catch (error) {
      setFailed(error as ApiError)
    }
  }
  const seen = new Set(first.value?.tasks.map(({ id }) => id))
  const tasks = [...(first.value?.tasks ?? []), ...(later?.tasks.filter(({ id }) => !seen.has(id)) ?? [])]
  const columns: Column<Task>[] = [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().workflow, cell: ({ workflow }) => workflow },
    {
      title: t().status,
      cell: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} />,
    },
    {
      title: t().reason,
      cell: ({ pause, error }) => <span class="faint clip">{pause?.error?.message ?? error?.message ?? ''}</span>,
    },
    { title: t().submitted, cell: ({ submittedAt }) => <Time at={submittedAt} /> },
    { title: t().updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().tasks}</h1>
        <Download of={tasks.length > 0 ? tasks : null} name="tasks" />
      </div>
      <Filter key={filter} value={filter} />
      <Shortcuts filter={filter} />
      {filter !== '' && <Bulk filter={filter} />}
      {first.error && <Failure error={first.error} retry={first.reload} />}
      {first.value && tasks.length === 0 ? (
        filter === '' ? (
          <Empty text={t().noTasks} snippet={snippet} />
        ) : (
          <Empty text={t().nothing} />
        )
      ) : (
        <Table label={t().tasks} rows={tasks} columns={columns} keyOf={({ id }) => id} to={({ id }) => taskPath(id)} />
      )}
      {failed && <Failure error={failed} />}
      {next !== undefined && (
        <p class="buttons">
          <button type="button" onClick={() => void more()}>
            {t().more}
          </button>
        </p>
      )}
    </>
  )
}

function Filter({ value }: { value: string }) {
  const [typed, set] = useState(value)
  const words = typed.split(' ')
  const last = words.pop() ?? ''
  // What may be meant by the last word.
  const known = [...fields, ...statuses.map((it) => `status:${it}`), ...outcomes.map((it) => `outcome:${it}`)]
  const meant = known.filter((it) => last !== '' && it.startsWith(last) && it !== last)
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        ask('filter', typed.trim())
      }}
    >
      <label class="sr" for="filter">
        {t().filter}
      </label>
      <input
        id="filter"
        data-filter
        list="meant"
        spellcheck={false}
        autoComplete="off"
        placeholder={t().filterHint}
        value={typed}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <datalist id="meant">
        {meant.map((it) => (
          <option key={it} value={[...words, it].join(' ')} />
        ))}
      </datalist>
      <button type="submit">{t().filter}</button>
    </form>
  )
}

function Shortcuts({ filter }: { filter: string }) {
  const known = ['', ...statuses.map((it) => `status:${it}`), ...outcomes.slice(1).map((it) => `outcome:${it}`)]
  return (
    <p class="shortcuts">
      {known.map((it) => (
        <button
          key={it}
          type="button"
          class={it === filter ? 'chip on' : 'chip'}
          aria-pressed={it === filter}
          onClick={() => ask('filter', it)}
        >
          {it === '' ? t().allOf : (t().states[it.split(':')[1] ?? ''] ?? it)}
        </button>
      ))}
    </p>
  )
}
