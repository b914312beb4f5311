import { useMemo } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Table } from '../part/table.tsx'
import { place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { Bulk } from './bulk.tsx'
import { ColumnChoice, chosenOf, columnsOf } from './columns.tsx'
import { Counts } from './counts.tsx'
import { Filter } from './filter.tsx'
import { useLater } from './later.ts'
import { shownOf } from './own.ts'
import { Standby } from './standby.tsx'
import { Views } from './views.tsx'

/** Of what is watched. */
const LIMIT = 50

const snippet = `await triarch.submit(order, { id: 'o-1', amount: 10 }, { id: 'o-1' })`

/** Tasks by a filter, newest first; more by the cursor, by themselves once one reads on. */
export function Tasks() {
  const filter = place.value.search.get('filter') ?? ''
  const chosen = chosenOf(place.value.search.get('columns'))
  const asked = shownOf(filter)
  const said = new URLSearchParams({ filter: asked, limit: String(LIMIT) })
  // What a task waits for becomes another without a word of its own: a breaker opens, an agent is paused.
  const first = useQuery<Api['TaskPage']>(`/tasks?${said}`, `/tasks/events?${said}`, { often: true })
  const later = useLater(asked, first.value)
  const tasks = useMemo(() => {
    const watched = first.value?.tasks ?? []
    const seen = new Set(watched.map(({ id }) => id))
    return [...watched, ...later.tasks.filter(({ id }) => !seen.has(id) && seen.add(id))]
  }, [first.value, later.tasks])
  return (
    <>
      <div class="heading">
        <h1>{t().tasks}</h1>
        <span class="ways">
          <Link to="/start">{t().startTask}</Link>
          <ColumnChoice chosen={chosen} />
          <Download of={tasks.length > 0 ? tasks : null} name="tasks" />
        </span>
      </div>
      <Filter key={filter} value={filter} tasks={tasks} />
      <Views />
      <Counts filter={filter} />
      <Standby />
      {filter !== '' && <Bulk filter={filter} />}
      {first.error && <Failure error={first.error} retry={first.reload} />}
      {first.value && tasks.length === 0 ? (
        filter === '' ? (
          <Empty text={t().noTasks} snippet={snippet} />
        ) : (
          <Empty text={t().nothing} />
        )
      ) : (
        <Table
          label={t().tasks}
          rows={tasks}
          columns={columnsOf(chosen)}
          keyOf={({ id }) => id}
          to={({ id }) => taskPath(id)}
          onEnd={later.more}
          isDense
        />
      )}
      {later.error && <Failure error={later.error} />}
      {later.next !== undefined && (
        <p class="buttons">
          <span class="note">{tasks.length.toLocaleString(locale())}</span>
          <button type="button" onClick={later.more}>
            {t().more}
          </button>
        </p>
      )}
    </>
  )
}
