import { type Finding, finding, shortenedNames } from './finding.ts'
import type { HealthReads } from './look.ts'

/** Largest number of schedules that are examined. */
const MOST_SCHEDULES = 100

/** Check: this process plays its roles and holds its lease. */
export async function self(look: HealthReads): Promise<Finding> {
  const { node, stopping, store } = look.engine
  if (stopping()) return finding('critical', 'stopping', null)
  const id = node()
  if (id === undefined) return finding('ok', 'no-role', null)
  const [now, nodes] = await Promise.all([store().then((it) => it.now()), look.nodes()])
  const own = nodes.find((row) => row.id === id)
  if (!own) return finding('critical', 'node-unknown', { node: id })
  const left = own.leaseUntil - now
  const observed = { node: id, lease: left }
  if (left > 0) return { status: 'ok', observed }
  return finding('critical', 'lease-ended', { node: id, ms: -left }, observed)
}

/** Check: the event loop of this process is not blocked. While it is, no timer fires and no request is answered. */
export async function loop({ engine }: HealthReads): Promise<Finding> {
  const last = engine.blocked()
  const ago = last === null ? 0 : engine.environment.monotonic() - last.at
  if (last === null || last.ms < engine.settings.slow || ago > engine.settings.late) return { status: 'ok' }
  return finding('warning', 'loop-blocked', { ms: last.ms, seconds: Math.round(ago / 1_000) }, { blocked: last.ms })
}

/** Check: one supervisor leads and sweeps, so nothing that a sweep handles remains for long. */
export async function leader(look: HealthReads): Promise<Finding> {
  const { term } = await look.heartbeats()
  if (!term || term.left <= 0) return finding('critical', 'no-leader', null)
  const observed = { holder: term.holder, left: term.left }
  const dead = await overdueNodes(look)
  if (dead.length === 0) return { status: 'ok', observed }
  return finding('warning', 'no-sweep', { dead: dead.length }, observed)
}

/** Check: each role is played by a node, and no dead node is registered. */
export async function nodes(look: HealthReads): Promise<Finding> {
  const [{ now }, all] = await Promise.all([look.heartbeats(), look.nodes()])
  const living = all.filter(({ leaseUntil }) => leaseUntil >= now)
  const dead = all.filter(({ leaseUntil }) => leaseUntil < now)
  const observed = { living: living.length, dead: dead.length }
  const missing = ['scheduler', 'agent', 'supervisor'].filter(
    (role) => !living.some(({ roles }) => roles.includes(role)),
  )
  if (missing.includes('scheduler')) return finding('critical', 'no-scheduler', null, observed)
  if (missing.length > 0) return finding('warning', 'roles-missing', { roles: missing.join(', ') }, observed)
  if (dead.length === 0) return { status: 'ok', observed }
  return finding('warning', 'leases-ended', shortenedNames(dead.map(({ id }) => id)), observed)
}

async function overdueNodes(look: HealthReads): Promise<string[]> {
  const [{ now }, all] = await Promise.all([look.heartbeats(), look.nodes()])
  return all.filter(({ leaseUntil }) => leaseUntil < now - look.engine.settings.late).map(({ id }) => id)
}

/** Check: sleeping tasks are woken in time. */
export async function timers({ engine }: HealthReads): Promise<Finding> {
  const store = await engine.store()
  const [now, wake] = await Promise.all([store.now(), store.nextWake()])
  const lag = wake === null ? 0 : Math.max(0, now - wake)
  const observed = { lag }
  if (lag <= engine.settings.late) return { status: 'ok', observed }
  return finding('warning', 'timers-late', { seconds: Math.round(lag / 1_000) }, observed)
}

/** Check: ready tasks are claimed. */
export async function backlog({ engine }: HealthReads): Promise<Finding> {
  const store = await engine.store()
  const where = [{ column: 'ready', test: { type: 'given' } }] as const
  const [now, { rows }] = await Promise.all([store.now(), store.list({ where, limit: 1, order: 'oldest' })])
  const [oldest] = rows
  const lag = oldest ? Math.max(0, now - oldest.updatedAt) : 0
  const observed = { lag, ...(oldest && { task: oldest.id }) }
  if (!oldest || lag <= engine.settings.late) return { status: 'ok', observed }
  const { id, workflow, version } = oldest
  const details = { task: id, workflow, version, seconds: Math.round(lag / 1_000) }
  return finding('warning', 'task-waits', details, observed)
}

/** Check: requests do not wait for long in the queues of agents. */
export async function queues(look: HealthReads): Promise<Finding> {
  const { store, settings } = look.engine
  const [now, agents] = await Promise.all([store().then((it) => it.now()), look.agents()])
  const aged = agents.map(({ name, queue }) => {
    const since = queue.oldest?.since
    return { name, age: since ? Math.max(0, now - since.getTime()) : 0, depth: queue.depth }
  })
  const oldest = Math.max(0, ...aged.map(({ age }) => age))
  const observed = { oldest, depth: aged.reduce((sum, { depth }) => sum + depth, 0) }
  const late = aged.filter(({ age }) => age > settings.queueAge)
  if (late.length === 0) return { status: 'ok', observed }
  const details = { seconds: Math.round(oldest / 1_000), ...shortenedNames(late.map(({ name }) => name)) }
  return finding('warning', 'requests-wait', details, observed)
}

/** Check: each agent with waiting requests is run by a node. */
export async function agents(look: HealthReads): Promise<Finding> {
  const idle = (await look.agents()).filter(({ nodes, queue }) => nodes.length === 0 && queue.depth > 0)
  if (idle.length === 0) return { status: 'ok' }
  return finding('critical', 'nobody-hosts', shortenedNames(idle.map(({ name }) => name)), { agents: idle.length })
}

/** Check: no circuit breaker is open. */
export async function breakers(look: HealthReads): Promise<Finding> {
  const open = (await look.breakers()).filter(({ state, keyed }) => !keyed && state === 'open')
  const observed = { open: open.length }
  if (open.length === 0) return { status: 'ok', observed }
  return finding('warning', 'breakers-open', shortenedNames(open.map(({ name }) => name)), observed)
}

/** Check: schedules start their tasks when they are due. */
export async function schedules({ engine }: HealthReads): Promise<Finding> {
  const store = await engine.store()
  const now = await store.now()
  const late = await store.schedules({ due: now - engine.settings.late, limit: MOST_SCHEDULES })
  const observed = { missed: late.length }
  if (late.length === 0) return { status: 'ok', observed }
  return finding('warning', 'schedules-late', shortenedNames(late.map(({ name }) => name)), observed)
}
