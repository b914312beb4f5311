import './graph.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Api } from '../../api/client.ts'
import type { Growing } from '../../api/growing.ts'
import { useQuery } from '../../api/query.ts'
import type { Step } from '../../api/types.ts'
import { Empty } from '../../part/empty.tsx'
import { Failure } from '../../part/failure.tsx'
import { Download } from '../../part/json.tsx'
import { Link, taskPath } from '../../part/link.tsx'
import { State } from '../../part/state.tsx'
import { type Column, Table } from '../../part/table.tsx'
import { span } from '../../part/time.tsx'
import { ask, place } from '../../shell/place.ts'
import { language, t } from '../../shell/preference.ts'
import type { HistoryRecord } from '../history.tsx'
import { Detail } from '../step.tsx'
import type { Order, Picture, Placed } from './draw.ts'
import type { FlowEvent, FlowRecord } from './flow.ts'
import { Planned } from './planned.tsx'
import { countsIn, standingOf } from './standing.ts'
import { Surface } from './surface.tsx'

interface GraphProps {
  path: string
  task: Api['Task']
  steps: readonly Step[]
  records: Growing<HistoryRecord>
  /** It asks again when this is another. */
  since: number
  reload: () => void
}

/** What a task asked for, and what came after what: as a picture, and the same as a list. */
export function Graph({ path, task, steps, records, since, reload }: GraphProps) {
  const plan = useQuery<Api['Plan']>(`${path}/plan`, null, { once: true, since })
  const [closed, close] = useState<readonly string[] | null>(null)
  const planned = plan.value?.plan?.steps
  const told = plan.value !== null && (planned !== undefined || records.isWhole || records.rows.length > 0)
  const order = useMemo(
    () => (told ? { plan: planned ?? null, records: planned ? [] : records.rows.map(slim), closed } : null),
    // What has become of planned steps changes nothing of where they stand.
    [told, planned?.length, records.rows, closed],
  )
  const { picture, isLost } = useDrawn(order)
  const byId = useMemo(() => new Map(steps.map((step) => [step.id, step])), [steps])
  const known = useMemo(() => new Map(picture?.nodes.map(({ id, state }) => [id, state])), [picture])
  const standing = useMemo(() => standingOf(picture?.nodes ?? [], byId, known), [picture, byId, known])
  const detail = useRef<HTMLElement>(null)
  // The picture first: both at once would keep the window busy.
  const [isListed, list] = useState(false)
  useEffect(() => {
    if (!picture) return
    const frame = requestAnimationFrame(() => list(true))
    return () => cancelAnimationFrame(frame)
  }, [picture !== null])
  if (plan.error) return <Failure error={plan.error} retry={plan.reload} />
  if (records.error && records.rows.length === 0) return <Failure error={records.error} retry={records.reload} />
  if (isLost) return <p class="failure">{t().graph.lost}</p>
  if (!picture) return <p>{t().loading}…</p>
  if (picture.nodes.length === 0) return <Empty text={t().noSteps} />
  const chosen = Number(place.value.search.get('step') ?? Number.NaN)
  const selected =
    picture.nodes.find(({ id }) => id === chosen) ??
    picture.nodes.find(({ group }) => group?.members.includes(chosen)) ??
    null
  const shut = picture.groups.filter(({ isClosed }) => isClosed).map(({ key }) => key)
  const toggle = (key: string) => close(shut.includes(key) ? shut.filter((it) => it !== key) : [...shut, key])
  const select = ({ id, group }: Placed) => ask('step', String(group ? (group.members[0] ?? id) : id))
  const open = (node: Placed) => (node.group ? toggle(node.group.key) : detail.current?.focus())
  const noteOf = ({ id, group }: Placed) => {
    if (group) return `×${group.members.length}`
    const children = byId.get(id)?.children
    return children ? `${children.success + children.failed + children.cancelled}/${children.total ?? '?'}` : ''
  }
  const step = selected && !selected.group ? byId.get(selected.id) : undefined
  const isForeseen = selected && !selected.group && (!step || step.status === 'waiting')
  const foreseen = isForeseen ? planned?.find(({ id }) => id === selected.id) : undefined
  return (
    <>
      <p class="buttons">
        <span class="note" role="status">
          {t().graph.count(picture.nodes.length, steps.length)}
        </span>
        {picture.groups.length > 0 && (
          <>
            <button type="button" class="small" disabled={shut.length === 0} onClick={() => close([])}>
              {t().graph.openAll}
            </button>
            <button
              type="button"
              class="small"
              disabled={shut.length === picture.groups.length}
              onClick={() => close(picture.groups.map(({ key }) => key))}
            >
              {t().graph.closeAll}
            </button>
          </>
        )}
        <Download of={{ nodes: picture.nodes, lines: picture.lines }} name={`${task.id}-graph`} />
      </p>
      {!planned && !records.isWhole && records.rows.length > 0 && (
        <p class="note">
          {t().one.upTo(records.rows.length)}{' '}
          <button type="button" class="small" onClick={records.more}>
            {t().more}
          </button>
        </p>
      )}
      <Surface {...{ picture, standing, selected, noteOf }} onSelect={select} onOpen={open} />
      <p class="note" id="graph-keys">
        {t().graph.keys}
      </p>
      {selected && (
        <section class="chosen" ref={detail} tabIndex={-1} aria-label={t().graph.chosen}>
          <h3 aria-live="polite">
            {selected.id > 0 && <span class="faint">{selected.id}</span>} {selected.name} {noteOf(selected)}{' '}
            <State of={standing.get(selected.id) ?? selected.state} />
          </h3>
          {selected.group && (
            <>
              <p>
                {countsIn(selected.group.members, byId, known).map(([state, count]) => (
                  <span key={state} class="listed">
                    <State of={state} /> {count.toLocaleString(language.value)}
                  </span>
                ))}
              </p>
              <p class="buttons">
                <button type="button" onClick={() => toggle(selected.group?.key ?? '')}>
                  {t().graph.open}
                </button>
              </p>
            </>
          )}
          {selected.task !== undefined && <Link to={taskPath(selected.task)}>{selected.task}</Link>}
          {step && !foreseen && <Detail task={task} step={step} records={records} path={path} reload={reload} />}
          {foreseen && <Planned of={foreseen} />}
        </section>
      )}
      {picture.groups.length > 0 && (
        <details>
          <summary>{t().graph.groups(picture.groups.length)}</summary>
          <ul class="groups">
            {picture.groups.slice(0, MOST_GROUPS).map(({ key, name, count, isClosed }) => (
              <li key={key}>
                <label>
                  <input type="checkbox" checked={!isClosed} onChange={() => toggle(key)} /> {name} ×{count}
                </label>
              </li>
            ))}
          </ul>
        </details>
      )}
      <h3>{t().graph.list}</h3>
      {isListed && (
        <Table
          label={t().graph.list}
          rows={picture.nodes}
          columns={columnsOf({ standing, selected, noteOf, select, names: known, nodes: picture.nodes })}
          keyOf={({ id }) => String(id)}
        />
      )}
    </>
  )
}

/** Named one by one. */
const MOST_GROUPS = 100
/** Of what something comes after, so many are named in a row. */
const MOST_BEFORE = 5

function columnsOf({
  standing,
  selected,
  noteOf,
  select,
  nodes,
}: {
  standing: ReadonlyMap<number, string>
  selected: Placed | null
  noteOf: (node: Placed) => string
  select: (node: Placed) => void
  names: ReadonlyMap<number, string>
  nodes: readonly Placed[]
}): Column<Placed>[] {
  const named = new Map(nodes.map((node) => [node.id, node]))
  const said = (id: number) => {
    const node = named.get(id)
    return node ? `${id > 0 ? `${id} ` : ''}${node.name}` : ''
  }
  return [
    { title: '#', cell: ({ id }) => <span class="faint">{id > 0 ? id : ''}</span>, isNumber: true },
    {
      title: t().name,
      cell: (node) => (
        <button
          type="button"
          class="quiet small"
          data-row
          aria-pressed={node.id === selected?.id}
          onClick={() => select(node)}
        >
          {node.name} {noteOf(node)}
        </button>
      ),
    },
    { title: t().kind, cell: ({ kind }) => t().graph.kinds[kind] },
    { title: t().status, cell: ({ id, state }) => <State of={standing.get(id) ?? state} /> },
    {
      title: t().graph.after,
      cell: ({ before }) =>
        before.slice(0, MOST_BEFORE).map(said).join(', ') +
        (before.length > MOST_BEFORE ? ` ${t().graph.andMore(before.length - MOST_BEFORE)}` : ''),
    },
  ]
}

/** The worker draws what was asked for last. `isLost`: there is no worker. */
function useDrawn(order: Omit<Order, 'number'> | null): { picture: Picture | null; isLost: boolean } {
  const [picture, set] = useState<Picture | null>(null)
  const [isLost, lose] = useState(false)
  const worker = useRef<Worker | null>(null)
  const asked = useRef(0)
  useEffect(() => {
    const it = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    it.onmessage = ({ data }: MessageEvent<Picture>) => {
      if (data.number === asked.current) set(data)
    }
    it.onerror = () => lose(true)
    worker.current = it
    return () => it.terminate()
  }, [])
  useEffect(() => {
    if (order) worker.current?.postMessage({ ...order, number: ++asked.current } satisfies Order)
  }, [order])
  return { picture, isLost }
}

/** What a picture needs of a record: no payloads are copied to the worker. */
function slim({ seq, at, events }: HistoryRecord): FlowRecord {
  return {
    seq,
    events: events.map((event): FlowEvent => {
      const { type, id, name, task, workflow, mode, outcome, step, signal, until } = event as Record<
        string,
        unknown
      > & {
        type: string
        signal?: { name: string }
        until?: string
      }
      const sleeps =
        type === 'timerStarted' && until !== undefined ? span(Date.parse(until) - Date.parse(at)) : undefined
      return {
        type,
        ...given({ id, name: name ?? workflow ?? sleeps, task, mode, outcome, step, returned: signal?.name }),
      }
    }),
  }
}

function given(fields: Record<string, unknown>): Omit<FlowEvent, 'type'> {
  return Object.fromEntries(Object.entries(fields).filter(([, it]) => it !== undefined))
}
