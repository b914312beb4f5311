import { type Api, post } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { deed } from '../part/asking.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { settingPath } from '../settings/settings.tsx'
import { t } from '../shell/preference.ts'

type Agent = Api['Agents']['agents'][number]
type Breaker = Api['Breaker']

/** Agents with what waits for them, and the circuit breakers before their services. */
export function Agents() {
  const agents = useQuery<Api['Agents']>('/agents')
  const breakers = useQuery<Api['BreakerPage']>('/breakers?limit=200')
  const hosts: Column<Agent>[] = [
    { title: t().name, cell: ({ name }) => <Link to={settingPath(`triarch.agent.${name}`)}>{name}</Link> },
    { title: t().actions, cell: ({ actions }) => <span class="faint">{actions.join(', ')}</span> },
    { title: t().nodes, cell: ({ nodes }) => nodes.length || <State of="critical" />, isNumber: true },
    { title: t().slots, cell: ({ nodes }) => nodes.reduce((sum, { slots = 0 }) => sum + slots, 0), isNumber: true },
    {
      title: t().depth,
      cell: ({ queue }) => `${queue.depth.toLocaleString()}${queue.truncated ? '+' : ''}`,
      isNumber: true,
    },
    {
      title: t().oldest,
      cell: ({ queue: { oldest } }) =>
        oldest ? (
          <Link to={taskPath(oldest.task)}>
            <Time at={oldest.since} />
          </Link>
        ) : (
          '–'
        ),
    },
  ]
  const guards: Column<Breaker>[] = [
    { title: t().name, cell: ({ name }) => <strong>{name}</strong> },
    { title: t().status, cell: ({ state }) => <State of={state} /> },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
    { title: t().error, cell: ({ seen }) => t().seen(seen.answers, seen.ill) },
    { title: t().waiting, cell: ({ waiting }) => waiting.toLocaleString(), isNumber: true },
    { title: t().nextProbe, cell: ({ nextProbe }) => <Time at={nextProbe} /> },
    { title: t().reason, cell: ({ changes }) => <span class="faint clip">{changes.at(-1)?.reason ?? ''}</span> },
    { title: t().actions, cell: (breaker) => <Force breaker={breaker} reload={breakers.reload} /> },
  ]
  return (
    <>
      <h1>{t().agents}</h1>
      {agents.error && <Failure error={agents.error} retry={agents.reload} />}
      {agents.value?.agents.length === 0 && <Empty text={t().noAgents} />}
      {agents.value && agents.value.agents.length > 0 && (
        <Table label={t().agents} rows={agents.value.agents} columns={hosts} keyOf={({ name }) => name} />
      )}
      {breakers.error && <Failure error={breakers.error} retry={breakers.reload} />}
      {breakers.value && breakers.value.breakers.length > 0 && (
        <>
          <h2>{t().breakers}</h2>
          <Table label={t().breakers} rows={breakers.value.breakers} columns={guards} keyOf={({ name }) => name} />
        </>
      )}
    </>
  )
}

function Force({ breaker: { name, state }, reload }: { breaker: Breaker; reload: () => void }) {
  const acts = state === 'closed' ? (['open'] as const) : (['close', 'reset'] as const)
  return (
    <span class="ways">
      {acts.map((act) => (
        <button
          key={act}
          type="button"
          class="small"
          onClick={() => {
            deed.value = {
              title: t().act[act],
              will: t().will[act],
              isReasonNeeded: true,
              act: async (given) => {
                await post(`/breakers/${encodeURIComponent(name)}/${act}`, given)
                reload()
              },
            }
          }}
        >
          {t().act[act]}
        </button>
      ))}
    </span>
  )
}
