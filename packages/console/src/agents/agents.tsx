import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import type { Breaker } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { First } from '../part/first.tsx'
import { Download } from '../part/json.tsx'
import { Link, taskPath } from '../part/link.tsx'
import { Barred } from '../part/offer.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'
import { Force } from './force.tsx'
import { agentPath } from './path.ts'

type AgentRow = Api['Agents']['agents'][number]
type Demand = Api['Demand']['agents'][number]

const snippet = `const payments = agent('payments', { concurrency: 20 })
const triarch = new Triarch({ store, workflows, agents: [payments] })
await triarch.start()`

/** Agents with what waits for them, and the circuit breakers before their services. */
export function Agents() {
  const agents = useQuery<Api['Agents']>('/agents')
  const demand = useQuery<Api['Demand']>('/demand')
  const breakers = useQuery<Api['BreakerPage']>('/breakers?limit=200')
  const may = useRight('breakers')
  const runs = new Map(demand.value?.agents.map((it): [string, Demand] => [it.agent, it]))
  const hosts: Column<AgentRow>[] = [
    {
      title: t().name,
      cell: ({ name, pausedBy }) => (
        <>
          <Link to={agentPath(name)}>{name}</Link> {pausedBy && <State of="paused" />}{' '}
          <Keeper of={name} breakers={breakers.value?.breakers ?? []} />
        </>
      ),
    },
    { title: t().actions, cell: ({ actions }) => <span class="faint">{actions.join(', ')}</span> },
    { title: t().nodes, cell: ({ nodes }) => nodes.length || <State of="critical" />, isNumber: true },
    { title: t().slots, cell: (agent) => roomOf(agent).toLocaleString(locale()), isNumber: true },
    {
      title: t().hosting.running,
      cell: ({ name }) => runs.get(name)?.running.toLocaleString(locale()) ?? '0',
      isNumber: true,
    },
    { title: t().depth, cell: ({ queue }) => depthOf(queue), isNumber: true },
    { title: t().oldest, cell: ({ queue }) => <Oldest of={queue} /> },
  ]
  const guards: Column<Breaker>[] = [
    { title: t().name, cell: ({ name, agent }) => <Link to={agentPath(agent)}>{name}</Link> },
    { title: t().status, cell: ({ state }) => <State of={state} /> },
    { title: t().since, cell: ({ since }) => <Time at={since} /> },
    {
      title: t().hosting.window,
      cell: ({ seen, wave, keyed }) =>
        keyed ? (
          <span class="faint">{t().hosting.keyed}</span>
        ) : wave ? (
          `${t().hosting.wave(wave.number)}: ${t().seen(wave.seen.answers, wave.seen.ill)}`
        ) : (
          t().seen(seen.answers, seen.ill)
        ),
    },
    { title: t().waiting, cell: ({ waiting }) => waiting.toLocaleString(locale()), isNumber: true },
    {
      title: t().nextProbe,
      cell: ({ nextProbe, idle }) =>
        idle ? <span class="faint">{t().hosting.nextStep}</span> : <Time at={nextProbe} />,
    },
    { title: t().reason, cell: ({ changes }) => <span class="faint clip">{changes.at(-1)?.reason ?? ''}</span> },
    {
      title: t().actions,
      cell: (breaker) => !breaker.keyed && <Force breaker={breaker} may={may} reload={breakers.reload} />,
    },
  ]
  return (
    <>
      <div class="heading">
        <h1>{t().agents}</h1>
        <Download
          of={agents.value && { agents: agents.value.agents, breakers: breakers.value?.breakers }}
          name="agents"
        />
      </div>
      {agents.error && <Failure error={agents.error} retry={agents.reload} />}
      {agents.value?.agents.length === 0 && <Empty text={`${t().noAgents} ${t().hosting.snippet}`} snippet={snippet} />}
      {agents.value && agents.value.agents.length > 0 && (
        <Table
          label={t().agents}
          rows={agents.value.agents}
          columns={hosts}
          keyOf={({ name }) => name}
          to={({ name }) => agentPath(name)}
        />
      )}
      {breakers.error && <Failure error={breakers.error} retry={breakers.reload} />}
      {breakers.value && breakers.value.breakers.length > 0 && (
        <>
          <h2>{t().breakers}</h2>
          <Barred may={may} right="breakers" />
          <Table label={t().breakers} rows={breakers.value.breakers} columns={guards} keyOf={({ name }) => name} />
          <First of={breakers.value.breakers} next={breakers.value.next} command="triarch breaker list" />
        </>
      )}
    </>
  )
}

/** A breaker of the agent that keeps attempts back. */
function Keeper({ of, breakers }: { of: string; breakers: readonly Breaker[] }) {
  const keeper = breakers.find(({ agent, state }) => agent === of && state !== 'closed')
  return keeper ? <State of={keeper.state} /> : null
}

/** How many attempts can run at a time: where all nodes share a bound, no more than that. */
function roomOf({ nodes, shared = Number.POSITIVE_INFINITY }: AgentRow): number {
  return Math.min(slotsOf(nodes), shared)
}

export function slotsOf(nodes: AgentRow['nodes']): number {
  return nodes.reduce((sum, { slots = 0 }) => sum + slots, 0)
}

export function depthOf({ depth, truncated }: AgentRow['queue']): string {
  return `${depth.toLocaleString(locale())}${truncated ? '+' : ''}`
}

/** Which step waits longest, and since when. */
export function Oldest({ of: { oldest } }: { of: AgentRow['queue'] }) {
  return oldest ? (
    <Link to={taskPath(oldest.task)}>
      <Time at={oldest.since} />
    </Link>
  ) : (
    <>–</>
  )
}
