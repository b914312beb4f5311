import type { Api } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import type { Node } from '../api/types.ts'
import { Copy } from '../part/copy.tsx'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { Barred } from '../part/offer.tsx'
import { PausedBy } from '../part/pause.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { settingPath } from '../settings/settings.tsx'
import { nameIn, place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { depthOf, Oldest, slotsOf } from './agents.tsx'
import { BreakerPart } from './breaker.tsx'
import { Limits } from './limits.tsx'

/** One agent: who hosts it, what waits for it and since when, what limits it, and its circuit breakers. */
export function AgentPage() {
  const name = nameIn(place.value.path)
  const agents = useQuery<Api['Agents']>('/agents')
  const demand = useQuery<Api['Demand']>('/demand')
  const nodes = useQuery<Api['Nodes']>('/nodes')
  const breakers = useQuery<Api['BreakerPage']>('/breakers?limit=200')
  const limits = useQuery<Api['RateLimitPage']>('/rate-limits?limit=200')
  const may = useRight('breakers')
  const agent = agents.value?.agents.find((it) => it.name === name)
  const guards = breakers.value?.breakers.filter((it) => it.agent === name && !it.keyed) ?? []
  const own = limits.value?.rateLimits.filter((it) => it.agent === name) ?? []
  const runs = demand.value?.agents.find((it) => it.agent === name)
  const steps = encodeURIComponent(`agent:${JSON.stringify(name)}`)
  const nodeOf = (id: string) => nodes.value?.nodes.find((it) => it.id === id)
  const hosts: Column<{ id: string; slots?: number; node: Node | undefined }>[] = [
    { title: t().id, cell: ({ id }) => <code>{id}</code> },
    { title: t().slots, cell: ({ slots }) => slots?.toLocaleString(locale()) ?? '–', isNumber: true },
    { title: t().where, cell: ({ node }) => (node?.place ? `${node.place.host} · ${node.place.pid}` : '–') },
    { title: t().started, cell: ({ node }) => <Time at={node?.startedAt} /> },
    { title: t().lease, cell: ({ node }) => <Time at={node?.leaseUntil} /> },
  ]
  const facts = agent && [
    { name: t().slots, value: slotsOf(agent.nodes).toLocaleString(locale()) },
    ...(agent.shared === undefined ? [] : [{ name: t().hosting.shared, value: agent.shared.toLocaleString(locale()) }]),
    { name: t().hosting.running, value: runs?.running.toLocaleString(locale()) ?? '0' },
    { name: t().depth, value: depthOf(agent.queue) },
    { name: t().oldest, value: <Oldest of={agent.queue} /> },
  ]
  return (
    <>
      <div class="heading">
        <div>
          <p class="crumbs">
            <Link to="/agents">{t().agents}</Link>
          </p>
          <h1>{name}</h1>
        </div>
        <span class="ways">
          <Link to={`/tasks?filter=${steps}`}>{t().hosting.steps}</Link>
          <Link to={settingPath(`triarch.agent.${name}`)}>{t().hosting.setting}</Link>
          <Copy text={name} />
          <Download of={agent ? { agent, breakers: guards, limits: own } : null} name={`agent ${name}`} />
        </span>
      </div>
      {agents.error && <Failure error={agents.error} retry={agents.reload} />}
      {agents.value && !agent && <Empty text={t().noAgents} />}
      <PausedBy of={agent?.pausedBy} />
      {facts && (
        <section class="figures" aria-label={t().counts}>
          {facts.map((it) => (
            <div key={it.name}>
              <strong>{it.value}</strong>
              <span>{it.name}</span>
            </div>
          ))}
        </section>
      )}
      {agent && agent.nodes.length > 0 && (
        <>
          <h2>{t().nodes}</h2>
          <Table
            label={t().nodes}
            rows={agent.nodes.map((it) => ({ ...it, node: nodeOf(it.id) }))}
            columns={hosts}
            keyOf={({ id }) => id}
          />
        </>
      )}
      {breakers.error && <Failure error={breakers.error} retry={breakers.reload} />}
      {guards.length > 0 && <Barred may={may} right="breakers" />}
      {guards.map((it) => (
        <BreakerPart key={it.name} of={it} may={may} reload={breakers.reload} />
      ))}
      {breakers.value && guards.length === 0 && (
        <>
          <h2>{t().breaker}</h2>
          <p class="note">{t().hosting.noBreaker}</p>
        </>
      )}
      <Limits of={limits.value && own} error={limits.error} retry={limits.reload} />
    </>
  )
}
