import { useEffect } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { TaskAudit } from '../audit/audit.tsx'
import { deed } from '../part/asking.tsx'
import { Copy } from '../part/copy.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download, Value } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ownKeys } from '../shell/own-keys.ts'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { deedOf, possible } from './deeds.ts'
import { History } from './history.tsx'
import { Logs } from './logs.tsx'
import { Past } from './past.tsx'
import { Fact, Steps } from './steps.tsx'
import { Why } from './why.tsx'

const tabs = ['steps', 'data', 'history', 'logs', 'children', 'audit', 'past'] as const
type Tab = (typeof tabs)[number]

/** Only a look back has a record in its address. */
function choose(tab: Tab): void {
  if (tab !== 'past') ask('at', null)
  ask('tab', tab === 'steps' ? null : tab)
}

/** One task: why it waits, what it did, and what can be done about it. */
export function TaskPage() {
  const id = decodeURIComponent(place.value.path.slice('/tasks/'.length))
  const path = `/tasks/${encodeURIComponent(id)}`
  const said = place.value.search.get('tab') as Tab
  const tab = tabs.includes(said) ? said : place.value.search.has('at') ? 'past' : 'steps'
  const task = useQuery<Api['Task']>(path, `${path}/events`)
  const stream = task.value?.status === 'stopped' ? null : `${path}/events`
  const explanation = useQuery<Api['Explanation']>(`${path}/explain`)
  const steps = useQuery<Api['Steps']>(`${path}/steps`)
  const reload = () => {
    for (const query of [task, explanation, steps]) query.reload()
  }
  useEffect(() => {
    ownKeys.value = (key) => {
      const chosen = tabs[Number(key) - 1]
      if (chosen) choose(chosen)
      return chosen !== undefined
    }
    return () => {
      ownKeys.value = null
    }
  }, [])
  if (!task.value) return task.error ? <Failure error={task.error} retry={task.reload} /> : <p>{t().loading}…</p>
  const it = task.value
  const titles: Record<Tab, string> = {
    steps: t().steps,
    data: t().data,
    history: t().history,
    logs: t().logs,
    children: t().children,
    audit: t().audit,
    past: t().past.title,
  }
  return (
    <>
      <div class="heading">
        <div>
          <p class="crumbs">
            <Link to="/tasks">{t().tasks}</Link> /{' '}
            <Link to={`/tasks?filter=workflow:${it.workflow}`}>{it.workflow}</Link>
          </p>
          <h1>
            {it.id} <Copy text={it.id} />
          </h1>
        </div>
        <p class="buttons">
          {possible(it).map((act) => (
            <button
              key={act}
              type="button"
              onClick={() => {
                deed.value = deedOf(act, { task: it }, reload)
              }}
            >
              {t().act[act]}
            </button>
          ))}
        </p>
      </div>
      {task.error && <Failure error={task.error} retry={task.reload} />}
      {explanation.value && (
        <Why task={it} explanation={explanation.value} steps={steps.value?.steps ?? []} reload={reload} />
      )}
      <dl class="facts">
        <Fact name={t().workflow}>
          {it.workflow} {it.version}
        </Fact>
        <Fact name={t().submitted}>
          <Time at={it.submittedAt} />
        </Fact>
        <Fact name={t().updated}>
          <Time at={it.updatedAt} />
        </Fact>
        <Fact name={t().priority}>{it.priority}</Fact>
        {it.parent !== undefined && (
          <Fact name={t().parent}>
            <Link to={taskPath(it.parent)}>{it.parent}</Link>
          </Fact>
        )}
        {Object.entries(it.tags).map(([name, value]) => (
          <Fact key={name} name={name}>
            <Link to={`/tasks?filter=${encodeURIComponent(`tag.${name}:"${value}"`)}`}>{value}</Link>
          </Fact>
        ))}
      </dl>
      <div class="tabs" role="tablist">
        {tabs.map((one, index) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === tab}
            aria-controls="part"
            title={String(index + 1)}
            onClick={() => choose(one)}
          >
            {titles[one]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="part" aria-labelledby={`tab-${tab}`}>
        {tab === 'steps' && steps.error && <Failure error={steps.error} retry={steps.reload} />}
        {tab === 'steps' && steps.value && <Steps task={it} steps={steps.value.steps} reload={reload} />}
        {tab === 'data' && <Data task={it} />}
        {tab === 'history' && <History path={path} stream={stream} />}
        {tab === 'logs' && <Logs path={path} />}
        {tab === 'children' && <Children path={path} stream={stream} />}
        {tab === 'audit' && <TaskAudit id={id} />}
        {tab === 'past' && <Past path={path} stream={stream} />}
      </div>
    </>
  )
}

function Data({ task }: { task: Api['Task'] }) {
  return (
    <>
      <p class="buttons">
        <Download of={task} name={task.id} />
      </p>
      {task.error && (
        <>
          <h3>{t().error}</h3>
          <Value of={task.error} label={t().error} />
        </>
      )}
      <h3>{t().output}</h3>
      <Value of={task.output} label={t().output} />
      {task.progress !== undefined && (
        <>
          <h3>{t().progress}</h3>
          <Value of={task.progress} label={t().progress} />
        </>
      )}
    </>
  )
}

function Children({ path, stream }: { path: string; stream: string | null }) {
  const page = useQuery<Api['TaskPage']>(`${path}/children?limit=100`, stream)
  if (page.error && !page.value) return <Failure error={page.error} retry={page.reload} />
  if (page.value?.tasks.length === 0) return <Empty text={t().noChildren} />
  const columns: Column<Api['TaskInfo']>[] = [
    { title: t().task, cell: ({ id }) => <Link to={taskPath(id)}>{id}</Link> },
    { title: t().workflow, cell: ({ workflow }) => workflow },
    { title: t().status, cell: ({ status, outcome }) => <State of={status === 'stopped' ? outcome : status} /> },
    { title: t().updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ]
  return (
    <Table
      label={t().children}
      rows={page.value?.tasks ?? []}
      columns={columns}
      keyOf={({ id }) => id}
      to={({ id }) => taskPath(id)}
    />
  )
}
