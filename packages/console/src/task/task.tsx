import { useEffect, useRef } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import { getSteps } from '../api/steps.ts'
import { TaskAudit } from '../audit/audit.tsx'
import { Copy } from '../part/copy.tsx'
import { Failure } from '../part/failure.tsx'
import { Download, Value } from '../part/json.tsx'
import { useLazy } from '../part/lazy.ts'
import { Link, taskPath } from '../part/link.tsx'
import { Time } from '../part/time.tsx'
import { ownKeys } from '../shell/own-keys.ts'
import { askAll, nameIn, place } from '../shell/place.ts'
import { language, t } from '../shell/preference.ts'
import { startPath } from '../start/path.ts'
import { useWorkflow } from '../workflows/known.ts'
import { Acts } from './acts.tsx'
import { Children } from './children.tsx'
import { possible } from './deeds.ts'
import { History, useHistory } from './history.tsx'
import { Logs } from './logs.tsx'
import { Past } from './past.tsx'
import { Report } from './report.tsx'
import { Fact, Wrong } from './step.tsx'
import { Steps } from './steps.tsx'
import { traceUrlOf } from './trace.ts'
import { Why } from './why.tsx'

const tabs = ['steps', 'graph', 'data', 'history', 'logs', 'children', 'audit', 'past', 'report'] as const
type Tab = (typeof tabs)[number]

/** What the address says of one part only. */
const own: Readonly<Record<string, Tab>> = {
  at: 'past',
  record: 'history',
  of: 'children',
  outcome: 'children',
  cursor: 'children',
}

function choose(tab: Tab): void {
  const others = Object.entries(own).filter(([, of]) => of !== tab)
  askAll({ ...Object.fromEntries(others.map(([name]) => [name, null])), tab: tab === 'steps' ? null : tab })
}

/** One task: why it waits, what it did, and what can be done about it. */
export function TaskPage() {
  const id = nameIn(place.value.path)
  const path = `/tasks/${encodeURIComponent(id)}`
  const { search } = place.value
  const said = search.get('tab') as Tab
  const tab = tabs.includes(said) ? said : (Object.entries(own).find(([name]) => search.has(name))?.[1] ?? 'steps')
  const task = useQuery<Api['Task']>(path, `${path}/events`)
  const stream = task.value?.status === 'stopped' ? null : `${path}/events`
  const explanation = useQuery<Api['Explanation']>(`${path}/explain`)
  // Each answer about the task tells that something may have happened.
  const answers = useRef({ last: task.value, count: 0 })
  if (answers.current.last !== task.value) answers.current = { last: task.value, count: answers.current.count + 1 }
  const since = answers.current.count
  const steps = useQuery<Api['Steps']>(`${path}/steps`, null, { once: true, since, read: getSteps })
  // What was tried again, and what was undone, has more to show than one bar.
  const wasTriedAgain =
    steps.value?.steps.some(({ attempts, status }) => attempts > 1 || status.startsWith('compensat')) ?? false
  const needsHistory =
    ['history', 'graph', 'report'].includes(tab) || (tab === 'steps' && (wasTriedAgain || search.has('step')))
  const records = useHistory(needsHistory ? path : null, since)
  const may = useRight('control')
  // What it may be told is asked for where it can be told anything.
  const isOpen = task.value !== null && task.value.status !== 'stopped'
  const known = useWorkflow(isOpen ? (task.value?.workflow ?? null) : null)
  const signals = known?.versions.find(({ version }) => version === task.value?.version)?.signals
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
  const held = new Set(explanation.value?.reasons.flatMap(keptBack))
  const trace = traceUrlOf(it.metadata)
  const titles: Record<Tab, string> = {
    steps: t().steps,
    graph: t().graph.title,
    data: t().one.values,
    history: t().history,
    logs: t().logs,
    children: t().children,
    audit: t().audit,
    past: t().past.title,
    report: t().one.report,
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
          <Acts acts={possible(it)} about={{ task: it, signals }} done={reload} />
          <Link to={startPath({ like: it.id })}>{t().start.likeThis}</Link>
        </p>
      </div>
      {!may && <p class="note">{t().one.mayNot('control')}</p>}
      {task.error && <Failure error={task.error} retry={task.reload} />}
      {explanation.value && (
        <Why
          task={it}
          explanation={explanation.value}
          steps={steps.value?.steps ?? []}
          signals={signals}
          reload={reload}
        />
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
        {trace !== null && (
          <Fact name={t().one.trace}>
            <a href={trace} target="_blank" rel="noreferrer">
              {t().one.openTrace}
            </a>
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
        {steps.value?.next !== undefined && ['steps', 'graph', 'report'].includes(tab) && (
          <p class="note">{t().one.first(steps.value.steps.length.toLocaleString(language.value), t().steps)}</p>
        )}
        {tab === 'steps' && steps.error && <Failure error={steps.error} retry={steps.reload} />}
        {tab === 'steps' && steps.value && (
          <Steps {...{ path, task: it, steps: steps.value.steps, held, records, reload }} />
        )}
        {tab === 'graph' && steps.value && (
          <Drawn {...{ path, task: it, steps: steps.value.steps, records, since, reload }} />
        )}
        {tab === 'data' && <Data task={it} />}
        {tab === 'history' && <History records={records} />}
        {tab === 'logs' && <Logs path={path} polls={it.status !== 'stopped'} />}
        {tab === 'children' && <Children path={path} stream={stream} />}
        {tab === 'audit' && <TaskAudit id={id} />}
        {tab === 'past' && <Past path={path} stream={stream} />}
        {tab === 'report' && steps.value && <Report {...{ task: it, steps: steps.value.steps, records, reload }} />}
      </div>
    </>
  )
}

/** Reasons that say no more than that a step is under way. */
const RUNS: ReadonlySet<string> = new Set(['step'])

/** The step that a reason is about, unless it runs. */
function keptBack({ code, step }: Api['Explanation']['reasons'][number]): number[] {
  return typeof step === 'number' && !RUNS.has(code) ? [step] : []
}

/** Drawing is loaded when somebody wants to see it. */
function Drawn(given: Parameters<typeof import('./graph/graph.tsx').Graph>[0]) {
  const { part, error, retry } = useLazy(() => import('./graph/graph.tsx'))
  if (part) return <part.Graph {...given} />
  return error ? <Failure error={error as Error} retry={retry} /> : <p>{t().loading}…</p>
}

function Data({ task }: { task: Api['Task'] }) {
  const history = useQuery<Api['History']>(`${taskPath(task.id)}/history?limit=1`, null, { once: true })
  const first = history.value?.records[0]?.events[0]
  return (
    <>
      <p class="buttons">
        <Download of={task} name={task.id} />
      </p>
      {task.error && (
        <>
          <h3>{t().error}</h3>
          <Wrong error={task.error} />
          <Value of={task.error} label={t().error} />
        </>
      )}
      <h3>{t().input}</h3>
      {history.error && <Failure error={history.error} retry={history.reload} />}
      {first?.type === 'submitted' && <Value of={first.input} label={t().input} />}
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
