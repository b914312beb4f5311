import { useEffect, useRef, useState } from 'preact/hooks'
import { text } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { getSteps } from '../api/steps.ts'
import type { Moment } from '../api/types.ts'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { instant } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { language, t } from '../shell/preference.ts'
import { changesOf, type TaskChange } from './change.ts'

type PastStep = Moment['steps'][number]

/** A slider that is moved asks once it rests (ms). */
const REST = 120

/** The task as it was at a record of its history, which is in the address; and what that record changed. */
export function Past({ path, stream }: { path: string; stream: string | null }) {
  const said = place.value.search.get('at') ?? ''
  const at = /^[1-9]\d{0,14}$/.test(said) ? Number(said) : null
  const found = useQuery<Moment>(`${path}/moment${at === null ? '' : `?at=${at}`}`, at === null ? stream : null, {
    once: at !== null || stream === null,
    read: getSteps,
  })
  // While another is asked for, the last one stays.
  const shown = useRef<Moment | null>(null)
  if (found.value) shown.current = found.value
  const moment = shown.current
  const hasBefore = moment !== null && moment.seq > moment.run
  const before = useQuery<Moment>(hasBefore ? `${path}/moment?at=${moment.seq - 1}` : null, null, {
    once: true,
    read: getSteps,
  })
  if (!moment)
    return found.error ? <Failure error={found.error} retry={() => ask('at', null)} /> : <p>{t().loading}…</p>
  const changes = before.value ? changesOf(before.value, moment) : []
  return (
    <div class="past" aria-busy={found.value === null}>
      <Slider moment={moment} at={at} />
      {found.error && <Failure error={found.error} retry={found.reload} />}
      <p class="moment">
        <State of={moment.status === 'stopped' ? moment.outcome : moment.status} />
        <span>{instant(moment.at)}</span>
        {moment.run > 1 && <span class="faint">{t().past.run(moment.run)}</span>}
        <Download of={moment} name={`record-${moment.seq}`} />
      </p>
      {moment.error && (
        <div class="failure">
          <strong>{moment.error.code ?? moment.error.name}</strong> {moment.error.message}
        </div>
      )}
      <h3>{t().past.changed}</h3>
      <Table label={t().past.events} rows={moment.events} columns={eventColumns()} keyOf={keyOfEvent(moment)} />
      {changes.length > 0 && (
        <Table label={t().past.changed} rows={changes} columns={changeColumns()} keyOf={keyOfChange} />
      )}
      <h3>{t().past.steps}</h3>
      <Table label={t().past.steps} rows={moment.steps} columns={stepColumns()} keyOf={({ id }) => String(id)} />
      {moment.next !== undefined && (
        <p class="note">{t().one.first(moment.steps.length.toLocaleString(language.value), t().steps)}</p>
      )}
    </div>
  )
}

/** Each record by arrow keys and by buttons, the ends by Home and End. */
function Slider({ moment, at }: { moment: Moment; at: number | null }) {
  const { last } = moment
  const [moved, move] = useState<number | null>(null)
  const position = moved ?? at ?? last
  useEffect(() => {
    if (moved === null) return
    const rest = setTimeout(() => {
      ask('at', moved >= last ? null : String(moved), { replace: true })
      move(null)
    }, REST)
    return () => clearTimeout(rest)
  }, [moved, last])
  const ways = [
    ['«', t().past.first, 1],
    ['‹', t().past.before, position - 1],
    ['›', t().past.next, position + 1],
    ['»', t().past.newest, last],
  ] as const
  const button = ([sign, name, to]: (typeof ways)[number]) => (
    <button
      key={sign}
      type="button"
      class="quiet"
      aria-label={name}
      title={name}
      disabled={to < 1 || to > last || to === position}
      onClick={() => move(to)}
    >
      {sign}
    </button>
  )
  return (
    <div class="slider">
      {ways.slice(0, 2).map(button)}
      <input
        type="range"
        min={1}
        max={last}
        value={position}
        aria-label={t().past.record}
        aria-valuetext={t().past.place(position, last)}
        onInput={({ currentTarget }) => move(Number(currentTarget.value))}
      />
      {ways.slice(2).map(button)}
      <output>{t().past.place(position, last)}</output>
    </div>
  )
}

function keyOfEvent({ events }: Moment) {
  return (event: Moment['events'][number]) => String(events.indexOf(event))
}

function keyOfChange({ step, what }: TaskChange): string {
  return `${step?.id ?? ''}.${what}`
}

function eventColumns(): Column<Moment['events'][number]>[] {
  return [
    { title: t().event, cell: ({ type }) => <code>{type}</code> },
    { title: t().data, cell: ({ type: _, ...rest }) => <code class="clip wide">{text(rest)}</code> },
  ]
}

function changeColumns(): Column<TaskChange>[] {
  return [
    { title: t().past.of, cell: ({ step }) => (step ? `${step.id} ${step.name}` : t().task) },
    { title: t().past.what, cell: ({ what }) => <code>{what}</code> },
    { title: t().past.was, cell: ({ before }) => <code class="clip">{said(before)}</code> },
    { title: t().past.became, cell: ({ after }) => <code class="clip">{said(after)}</code> },
  ]
}

function stepColumns(): Column<PastStep>[] {
  return [
    { title: '#', cell: ({ id }) => <span class="faint">{id}</span>, isNumber: true },
    { title: t().step, cell: ({ name }) => name },
    { title: t().status, cell: ({ status }) => <State of={status} /> },
    { title: t().attempts, cell: ({ attempts }) => attempts, isNumber: true },
    { title: t().input, cell: ({ input }) => <code class="clip">{said(input)}</code> },
    {
      title: t().output,
      cell: ({ output, error }) => (
        <code class="clip">{error && output === undefined ? error.message : said(output)}</code>
      ),
    },
  ]
}

function said(value: unknown): string {
  return value === undefined ? '–' : typeof value === 'string' ? value : text(value)
}
