import { useState } from 'preact/hooks'
import { type Api, ApiError, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import { type Deed, deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred, Offer } from '../part/offer.tsx'
import { Alarm } from '../part/said.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

type Alert = Api['Alert']
type SinkTest = Api['AlertTrials']['sinks'][number]
type AlertAct = 'acknowledge' | 'silence' | 'end'

const HOUR = 3_600_000
/** Longest that anybody may be kept from hearing of it (h). */
const MOST_HOURS = 10_000

/** What is wrong now, or was: since when, who has it in hand, and what can be done about it. */
export function Alerts() {
  const { search } = place.value
  const ended = search.get('ended') === 'true'
  const cursor = search.get('cursor')
  const asked = new URLSearchParams({ limit: '100', ...(ended && { ended: 'true' }), ...(cursor && { cursor }) })
  const page = useQuery<Api['AlertPage']>(`/alerts?${asked}`)
  const alerts = page.value?.alerts
  const [trials, tell] = useState<SinkTest[] | null>(null)
  const may = useRight('alerts')
  const columns: Column<Alert>[] = [
    { title: t().status, cell: ({ phase, severity }) => <State of={phase === 'firing' ? severity : phase} /> },
    { title: t().alert, cell: (alert) => <Subject of={alert} /> },
    { title: t().what, cell: (alert) => <Alarm of={alert} /> },
    { title: t().since, cell: ({ since, endedAt }) => <Time at={endedAt ?? since} /> },
    { title: t().owner, cell: ({ owner, endedBy }) => <Word of={endedBy ?? owner} /> },
    {
      title: t().silentUntil,
      cell: ({ silence }) => (silence ? <Time at={silence.until} /> : '–'),
    },
    {
      title: t().actions,
      cell: (alert) => alert.phase !== 'ended' && <Acts alert={alert} may={may} reload={page.reload} />,
    },
  ]
  return (
    <>
      <h1>{t().alerts}</h1>
      <p class="buttons">
        <label>
          <input
            type="checkbox"
            checked={ended}
            onChange={({ currentTarget }) => ask('ended', currentTarget.checked ? 'true' : null)}
          />{' '}
          {t().endedAlerts}
        </label>
        {alerts && <Download of={alerts} name="alerts" />}
        <button type="button" disabled={!may} onClick={() => tryThem(tell)}>
          {t().sinks.test}
        </button>
      </p>
      <Barred may={may} right="alerts" />
      {trials && <Trials of={trials} />}
      {page.error && <Failure error={page.error} retry={page.reload} />}
      {alerts?.length === 0 && <Empty text={ended ? t().noEndedAlerts : t().noAlerts} />}
      {alerts && alerts.length > 0 && (
        <Table label={t().alerts} rows={alerts} columns={columns} keyOf={({ name }) => name} />
      )}
      {page.value?.next !== undefined && (
        <p class="buttons">
          <button type="button" onClick={() => ask('cursor', page.value?.next ?? null)}>
            {t().more}
          </button>
        </p>
      )}
    </>
  )
}

function tryThem(tell: (trials: SinkTest[]) => void): void {
  const act = async (given: object) => tell((await post<Api['AlertTrials']>('/alerts/test', given))?.sinks ?? [])
  deed.value = { title: t().sinks.test, will: t().sinks.will, act }
}

/** What each sink answered. */
function Trials({ of }: { of: SinkTest[] }) {
  if (of.length === 0) return <Empty text={t().sinks.none} />
  const columns: Column<SinkTest>[] = [
    { title: t().status, cell: ({ ok }) => <State of={ok ? 'ok' : 'critical'} /> },
    { title: t().sinks.sink, cell: ({ sink }) => sink },
    { title: t().sinks.said, cell: ({ ms, problem }) => problem ?? t().sinks.told(ms) },
  ]
  return <Table label={t().sinks.test} rows={of} columns={columns} keyOf={({ sink }) => sink} />
}

/** What it is about, with a way to it. */
function Subject({ of: { name, rule, subject } }: { of: Alert }) {
  const isTask = rule === 'stuck' || rule === 'undo-failed' || rule === 'quarantine'
  return isTask && subject !== '*' ? <Link to={taskPath(subject)}>{name}</Link> : <strong>{name}</strong>
}

function Word({ of }: { of: Alert['owner'] }) {
  return of ? (
    <span title={of.reason}>
      {of.actor} <span class="faint clip">{of.reason}</span>
    </span>
  ) : (
    <>–</>
  )
}

function Acts({ alert, may, reload }: { alert: Alert; may: boolean; reload: () => void }) {
  const acts: AlertAct[] = alert.owner ? ['silence', 'end'] : ['acknowledge', 'silence', 'end']
  return (
    <span class="ways">
      {acts.map((act) => (
        <Offer key={act} may={may} of={() => deedOf(act, alert, reload)}>
          {t().act[act]}
        </Offer>
      ))}
    </span>
  )
}

function deedOf(act: AlertAct, { name }: Alert, reload: () => void): Deed {
  return {
    title: t().act[act],
    will: t().will[act],
    ...(act === 'silence' && { fields: [{ name: 'hours', label: t().hours }] }),
    isReasonNeeded: true,
    act: async ({ hours, ...given }) => {
      const body = act === 'silence' ? { ...given, until: inHours(hours) } : given
      await post(`/alerts/${encodeURIComponent(name)}/${act}`, body)
      reload()
    },
  }
}

/** Throws ApiError. */
function inHours(said: unknown): string {
  const hours = Number(said)
  if (!(hours > 0 && hours <= MOST_HOURS)) throw new ApiError(0, 'INVALID_OPTION', t().hoursWrong)
  return new Date(Date.now() + hours * HOUR).toISOString()
}
