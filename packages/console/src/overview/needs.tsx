import type { ComponentChildren } from 'preact'
import { forced } from '../agents/force.tsx'
import { agentPath } from '../agents/path.ts'
import { type Api, post } from '../api/client.ts'
import { type Query, useQuery } from '../api/query.ts'
import { type Right, useRights } from '../api/right.ts'
import type { Deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred, Offer } from '../part/offer.tsx'
import { Alarm } from '../part/said.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { schedulePath } from '../schedules/path.ts'
import { t } from '../shell/preference.ts'

/** Of each kind that is shown. */
const MOST = 20
/** Tasks that were submitted frozen, and have not begun. */
const FROZEN = 'tag.start:frozen status:scheduled,planned ready:false'

interface Need {
  key: string
  state: string
  what: ComponentChildren
  why: ComponentChildren
  since: string | undefined
  /** What is most likely to be done about it; none: it must be looked at first. */
  way?: { right: Right; deed: () => Deed }
  to: string
  /** Where there is something to be read before that. */
  read?: { to: string; name: string }
}

/** What does not go on without somebody: paused tasks, those to be approved, alerts that nobody has in hand, breakers and schedules; a button for each. */
export function Needs() {
  const rights = useRights()
  const tasks = useQuery<Api['TaskPage']>(
    `/tasks?filter=status:paused&limit=${MOST}`,
    '/tasks/events?filter=status:paused',
  )
  const frozen = useQuery<Api['TaskPage']>(`/tasks?filter=${encodeURIComponent(FROZEN)}&limit=${MOST}`)
  const alerts = useQuery<Api['AlertPage']>(`/alerts?limit=${MOST}`)
  const breakers = useQuery<Api['BreakerPage']>('/breakers?limit=200')
  const schedules = useQuery<Api['SchedulePage']>('/schedules?limit=100')
  const asked: Query<unknown>[] = [tasks, frozen, alerts, breakers, schedules]
  const needs: Need[] = [
    ...(alerts.value?.alerts ?? []).filter(isLoose).map((it) => ofAlert(it, alerts.reload)),
    ...(tasks.value?.tasks ?? []).map((it) => ofTask(it, tasks.reload)),
    ...(frozen.value?.tasks ?? []).filter(isFrozen).map((it) => ofFrozen(it, frozen.reload)),
    ...(breakers.value?.breakers ?? [])
      .filter(({ state, nextProbe }) => state === 'open' && nextProbe === undefined)
      .map((it) => ofBreaker(it, breakers.reload)),
    ...(schedules.value?.schedules ?? []).flatMap((it) => ofSchedule(it)),
  ]
  const columns: Column<Need>[] = [
    { title: t().status, cell: ({ state }) => <State of={state} /> },
    { title: t().what, cell: ({ what }) => what },
    { title: t().reason, cell: ({ why }) => why },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
    {
      title: t().actions,
      cell: ({ way, to, read }) =>
        way ? (
          <>
            <Offer may={rights === null || rights.includes(way.right)} of={way.deed}>
              {way.deed().title}
            </Offer>{' '}
            {read && <Link to={read.to}>{read.name}</Link>}
          </>
        ) : (
          <Link to={to} class="button small">
            {t().needs.look}
          </Link>
        ),
    },
  ]
  const lacking = [...new Set(needs.flatMap(({ way }) => (way ? [way.right] : [])))].filter(
    (right) => rights !== null && !rights.includes(right),
  )
  const failed = asked.find(({ error, value }) => error && !value)
  const isKnown = asked.every(({ value, error }) => value || error)
  return (
    <>
      <h2>{t().needsPerson}</h2>
      {failed?.error && <Failure error={failed.error} retry={failed.reload} />}
      {isKnown && !failed && needs.length === 0 && <Empty text={t().allFine} />}
      {needs.length > 0 && (
        <Table label={t().needsPerson} rows={needs} columns={columns} keyOf={({ key }) => key} to={({ to }) => to} />
      )}
      {lacking.map((right) => (
        <Barred key={right} may={false} right={right} />
      ))}
      {(tasks.value?.next ?? frozen.value?.next ?? alerts.value?.next) !== undefined && (
        <p class="note">{t().needs.more}</p>
      )}
    </>
  )
}

function isLoose({ phase, owner, silence }: Api['Alert']): boolean {
  return phase === 'firing' && !owner && !silence
}

function ofAlert(alert: Api['Alert'], done: () => void): Need {
  const { name, severity, since } = alert
  const deed = (): Deed => ({
    title: t().act.acknowledge,
    will: t().will.acknowledge,
    isReasonNeeded: true,
    act: async (given) => {
      await post(`/alerts/${encodeURIComponent(name)}/acknowledge`, given)
      done()
    },
  })
  const what = <Link to="/alerts">{name}</Link>
  return {
    ...{ key: `alert ${name}`, state: severity, what, why: <Alarm of={alert} />, since, to: '/alerts' },
    way: { right: 'alerts', deed },
  }
}

/** Only what would not do a thing twice is offered here: where it is not known whether a step took effect, somebody must look. */
function ofTask({ id, pause, updatedAt }: Api['TaskInfo'], done: () => void): Need {
  const why = pause?.error?.message ?? pause?.reason ?? pause?.cause ?? ''
  const to = taskPath(id)
  const need = { key: `task ${id}`, state: 'paused', what: <Link to={to}>{id}</Link>, why, since: updatedAt, to }
  if (pause?.cause === 'unknown-outcome' || pause?.cause === 'mismatch') return need
  const deed = () => commanded('resume', to, done)
  return { ...need, way: { right: 'control', deed } }
}

/** A word to the task at this path. */
function commanded(word: 'resume' | 'thaw', to: string, done: () => void): Deed {
  return {
    title: t().act[word],
    will: t().will[word],
    act: async (given) => {
      await post(`${to}/${word}`, given)
      done()
    },
  }
}

/** Thawed ones that wait for something else are found by the same tag. */
function isFrozen({ waits = [] }: Api['TaskInfo']): boolean {
  return waits.some(({ code }) => code === 'frozen')
}

function ofFrozen({ id, workflow, status, submittedAt }: Api['TaskInfo'], done: () => void): Need {
  const to = taskPath(id)
  const deed = () => commanded('thaw', to, done)
  return {
    ...{ key: `frozen ${id}`, state: status, what: <Link to={to}>{id}</Link>, why: t().needs.frozen(workflow) },
    ...{ since: submittedAt, to, way: { right: 'control', deed } },
    ...(status === 'planned' && { read: { to: `${to}?tab=graph`, name: t().why.readPlan } }),
  }
}

function ofBreaker(it: Api['Breaker'], done: () => void): Need {
  const to = agentPath(it.agent)
  const what = <Link to={to}>{t().needs.breaker(it.name)}</Link>
  return {
    ...{ key: `breaker ${it.name}`, state: it.state, what, why: it.changes.at(-1)?.reason ?? '', since: it.since, to },
    way: { right: 'breakers', deed: () => forced('close', it, done) },
  }
}

function ofSchedule({ name, failing }: Api['Schedule']): Need[] {
  if (!failing) return []
  const to = schedulePath(name)
  const what = <Link to={to}>{t().needs.schedule(name)}</Link>
  return [{ key: `schedule ${name}`, state: 'error', what, why: failing.error.message, since: failing.since, to }]
}
