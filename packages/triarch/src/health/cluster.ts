import type { Finding } from './finding.ts'
import type { Look } from './look.ts'

/** Rows that are named, at most. */
const NAMED = 5
/** Schedules that are looked at, at most. */
const MOST_SCHEDULES = 100

/** This process itself: it plays its roles, and has its lease. */
export async function self(look: Look): Promise<Finding> {
  const { node, stopping, store } = look.engine
  if (stopping()) return { status: 'critical', message: 'this process is stopping' }
  const id = node()
  if (id === undefined) return { status: 'ok', message: 'this process plays no role' }
  const [now, nodes] = await Promise.all([store().then((it) => it.now()), look.nodes()])
  const own = nodes.find((row) => row.id === id)
  if (!own) return { status: 'critical', message: `the store does not know node ${id}` }
  const left = own.leaseUntil - now
  const observed = { node: id, lease: left }
  if (left > 0) return { status: 'ok', observed }
  return { status: 'critical', message: `the lease of node ${id} ended ${-left} ms ago`, observed }
}

/** One supervisor leads, and sweeps: what a sweep would have dealt with is not there for long. */
export async function leader(look: Look): Promise<Finding> {
  const { term } = await look.pulses()
  if (!term || term.left <= 0) return { status: 'critical', message: 'no supervisor leads' }
  const observed = { holder: term.holder, left: term.left }
  const dead = await overdueNodes(look)
  if (dead.length === 0) return { status: 'ok', observed }
  return { status: 'warning', message: `the leader does not sweep: ${dead.length} dead nodes are registered`, observed }
}

/** Somebody plays each role, and nobody is registered that died. */
export async function nodes(look: Look): Promise<Finding> {
  const [{ now }, all] = await Promise.all([look.pulses(), look.nodes()])
  const living = all.filter(({ leaseUntil }) => leaseUntil >= now)
  const dead = all.filter(({ leaseUntil }) => leaseUntil < now)
  const observed = { living: living.length, dead: dead.length }
  const missing = ['scheduler', 'agent', 'supervisor'].filter(
    (role) => !living.some(({ roles }) => roles.includes(role)),
  )
  if (missing.includes('scheduler'))
    return { status: 'critical', message: 'no scheduler lives: no task goes on', observed }
  if (missing.length > 0) return { status: 'warning', message: `no node has the role ${missing.join(', ')}`, observed }
  if (dead.length === 0) return { status: 'ok', observed }
  return { status: 'warning', message: `the leases ended of ${named(dead.map(({ id }) => id))}`, observed }
}

async function overdueNodes(look: Look): Promise<string[]> {
  const [{ now }, all] = await Promise.all([look.pulses(), look.nodes()])
  return all.filter(({ leaseUntil }) => leaseUntil < now - look.engine.settings.late).map(({ id }) => id)
}

/** Sleeping tasks are woken when it is time. */
export async function timers({ engine }: Look): Promise<Finding> {
  const store = await engine.store()
  const [now, wake] = await Promise.all([store.now(), store.nextWake()])
  const lag = wake === null ? 0 : Math.max(0, now - wake)
  const observed = { lag }
  if (lag <= engine.settings.late) return { status: 'ok', observed }
  return { status: 'warning', message: `a task should have gone on ${Math.round(lag / 1_000)} s ago`, observed }
}

/** Tasks that are ready are claimed. */
export async function backlog({ engine }: Look): Promise<Finding> {
  const store = await engine.store()
  const where = [{ column: 'ready', test: { type: 'given' } }] as const
  const [now, { rows }] = await Promise.all([store.now(), store.list({ where, limit: 1, order: 'oldest' })])
  const [oldest] = rows
  const lag = oldest ? Math.max(0, now - oldest.updatedAt) : 0
  const observed = { lag, ...(oldest && { task: oldest.id }) }
  if (!oldest || lag <= engine.settings.late) return { status: 'ok', observed }
  const { id, workflow, version } = oldest
  const message = `task "${id}" of ${workflow}@${version} waits for a scheduler for ${Math.round(lag / 1_000)} s`
  return { status: 'warning', message, observed }
}

/** Requests do not wait for long in the queues of agents. */
export async function queues(look: Look): Promise<Finding> {
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
  const message = `requests wait for ${Math.round(oldest / 1_000)} s, for ${named(late.map(({ name }) => name))}`
  return { status: 'warning', message, observed }
}

/** Somebody runs each agent for which something waits. */
export async function agents(look: Look): Promise<Finding> {
  const idle = (await look.agents()).filter(({ nodes, queue }) => nodes.length === 0 && queue.depth > 0)
  if (idle.length === 0) return { status: 'ok' }
  const message = `nobody hosts ${named(idle.map(({ name }) => name))}, and requests wait`
  return { status: 'critical', message, observed: { agents: idle.length } }
}

/** No circuit breaker is open. */
export async function breakers(look: Look): Promise<Finding> {
  const open = (await look.breakers()).filter(({ state, keyed }) => !keyed && state === 'open')
  const observed = { open: open.length }
  if (open.length === 0) return { status: 'ok', observed }
  return { status: 'warning', message: `open: ${named(open.map(({ name }) => name))}`, observed }
}

/** Schedules start what they are to start, when it is due. */
export async function schedules({ engine }: Look): Promise<Finding> {
  const store = await engine.store()
  const now = await store.now()
  const late = await store.schedules({ due: now - engine.settings.late, limit: MOST_SCHEDULES })
  const observed = { missed: late.length }
  if (late.length === 0) return { status: 'ok', observed }
  const names = named(late.map(({ name }) => name))
  return { status: 'warning', message: `schedules were due and did not start anything: ${names}`, observed }
}

/** The first of them, and how many more there are. */
function named(names: readonly string[]): string {
  const more = names.length - NAMED
  return names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
