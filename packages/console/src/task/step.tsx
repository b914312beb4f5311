import { useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Growing } from '../api/growing.ts'
import type { Step } from '../api/types.ts'
import { Value } from '../part/json.tsx'
import { More } from '../part/more.tsx'
import { Said } from '../part/said.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { instant, span, Time } from '../part/time.tsx'
import { askAll } from '../shell/place.ts'
import { language, t } from '../shell/preference.ts'
import { Acts } from './acts.tsx'
import { type Attempt, attemptsOf } from './attempt.ts'
import { isStuck } from './compensation.tsx'
import type { HistoryRecord } from './history.tsx'
import { Logs } from './logs.tsx'

interface StepProps {
  path: string
  task: Api['Task']
  step: Step
  records: Growing<HistoryRecord>
  reload: () => void
}

/** All that is known of a step, and what can be done about it. */
export function Detail({ path, task, step, records, reload }: StepProps) {
  const { id, action, input, output, error, attempts, requestedAt, endedAt, hints, summary, cached, children } = step
  const tried = attemptsOf(records.rows, id)
  return (
    <div class="detail">
      {summary !== undefined && <p>{summary}</p>}
      <dl class="facts">
        <Fact name={t().action}>{action ?? t().figures.local}</Fact>
        {step.fallbackOf !== undefined && <Fact name={t().one.inPlaceOf}>{step.fallbackOf}</Fact>}
        <Fact name={t().attempts}>{attempts}</Fact>
        <Fact name={t().one.asked}>
          <Time at={requestedAt} />
        </Fact>
        <Fact name={t().one.ended}>
          <Time at={endedAt} />
        </Fact>
        {cached && (
          <Fact name={t().one.kept(cached.from, cached.stale === true)}>
            <Time at={cached.at} />
          </Fact>
        )}
        {step.progress > 0 && step.progress < 1 && (
          <Fact name={t().progress}>
            <progress value={step.progress} aria-label={t().progress} /> {Math.round(step.progress * 100)} %
          </Fact>
        )}
      </dl>
      {error && <Wrong error={error} />}
      {hints.length > 0 && (
        <ul class="hints" aria-label={t().hints}>
          {hints.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
      {children && <Batch step={id} children={children} />}
      <p class="buttons">
        <Acts acts={actsOf(task, step)} about={{ task, step: id, input }} done={reload} />
      </p>
      <div class="columns">
        <div>
          <h3>{t().input}</h3>
          <Value of={input} label={`${t().input} ${id}`} />
        </div>
        <div>
          <h3>{t().output}</h3>
          <Value of={output} label={`${t().output} ${id}`} />
        </div>
      </div>
      {tried.length > 0 && (
        <>
          <h3>{t().attempts}</h3>
          <Table label={t().attempts} rows={tried} columns={columns()} keyOf={({ key }) => key} />
        </>
      )}
      {!records.isWhole && records.rows.length > 0 && <More of={records} name={t().one.records} />}
      <Loggings path={path} step={id} polls={task.status !== 'stopped'} />
    </div>
  )
}

/** What an operator may do about a step as it stands. */
function actsOf(task: Api['Task'], step: Step) {
  if (isStuck(task, step)) return ['retryUndo', 'skipUndo'] as const
  if (step.status !== 'error') return []
  return task.status !== 'stopped' || task.outcome === 'error' ? (['retry', 'skip'] as const) : []
}

/** An error with what caused it. */
export function Wrong({ error }: { error: Api['Error'] }) {
  const { code, name, message, stack } = error
  return (
    <div class="failure">
      <strong>{code ?? name}</strong> <Said code={code} message={message} />
      {stack !== undefined && (
        <details>
          <summary>{t().one.stack}</summary>
          <pre tabIndex={0}>{stack}</pre>
        </details>
      )}
    </div>
  )
}

/** How far a batch is, and where its children are. */
export function Batch({ step, children: it }: { step: number; children: NonNullable<Step['children']> }) {
  const over = it.success + it.failed + it.cancelled
  const kinds = [
    ['success', it.success],
    ['error', it.failed],
    ['cancelled', it.cancelled],
    ['running', it.started - over],
    ['waiting', it.pending],
  ] as const
  return (
    <section class="batch" aria-label={t().one.batch}>
      <progress
        aria-label={t().one.batch}
        {...(it.total === null ? {} : { value: over, max: Math.max(it.total, 1) })}
      />
      <p>
        {t().one.of(over.toLocaleString(language.value), it.total?.toLocaleString(language.value) ?? '…')}{' '}
        {kinds
          .filter(([, count]) => count > 0)
          .map(([state, count]) => (
            <span key={state} class="listed">
              <State of={state} /> {count.toLocaleString(language.value)}
            </span>
          ))}
        <button
          type="button"
          class="small"
          onClick={() => {
            askAll({ of: String(step), tab: 'children' })
          }}
        >
          {t().children}
        </button>
      </p>
    </section>
  )
}

function columns(): Column<Attempt>[] {
  return [
    { title: '#', cell: ({ attempt }) => attempt || '', isNumber: true },
    { title: t().what, cell: ({ operation }) => t().one.operations[operation] },
    { title: t().status, cell: ({ state }) => <State of={state} /> },
    {
      title: t().started,
      cell: ({ startedAt }) => (startedAt === undefined ? t().one.unseen : <Time at={startedAt} />),
    },
    {
      title: t().one.took,
      cell: ({ startedAt, endedAt }) =>
        startedAt === undefined ? '–' : span(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt))),
      isNumber: true,
    },
    { title: t().one.node, cell: ({ node }) => <span class="faint clip">{node ?? ''}</span> },
    {
      title: t().error,
      cell: ({ error, next }) => (
        <>
          {error && `${error.code ?? error.name}: ${error.message}`}
          {next !== undefined && <span class="faint"> {t().one.again(instant(next))}</span>}
        </>
      ),
    },
  ]
}

/** Asked for when they are wanted. */
function Loggings({ path, step, polls }: { path: string; step: number; polls: boolean }) {
  const [isOpen, set] = useState(false)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => set(currentTarget.open)}>
      <summary>{t().logs}</summary>
      {isOpen && <Logs path={path} step={step} polls={polls} />}
    </details>
  )
}

export function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
