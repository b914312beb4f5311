import type { AgentInfo, TaskInfo } from 'triarch'
import type { Session, StoreSession } from '../session.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Clocks further apart than this are told of (ms): deadlines are by the store's. */
const SKEW = 1_000
/** Open tasks whose versions are looked at. */
const MOST = 10_000

export async function clocks({ port, environment }: StoreSession): Promise<Finding> {
  const asked = environment.monotonic()
  const store = await port.now()
  const skew = Math.round(store - environment.now() + (environment.monotonic() - asked) / 2)
  const found = `the store's clock is ${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine's`
  return Math.abs(skew) <= SKEW ? ok('clocks', found) : warn('clocks', found, 'set the clocks by NTP')
}

/** Who is there, who is late, and what nobody does. */
export async function nodes({ port }: StoreSession): Promise<Finding[]> {
  const [now, rows] = [await port.now(), await port.nodes()]
  const living = rows.filter(({ leaseUntil }) => leaseUntil >= now)
  const late = rows.filter(({ leaseUntil }) => leaseUntil < now)
  const findings: Finding[] = []
  const count = `${living.length} ${living.length === 1 ? 'lives' : 'live'}`
  if (living.length === 0) findings.push(warn('nodes', 'none lives', 'start one: nothing moves'))
  else findings.push(ok('nodes', count))
  for (const { id, leaseUntil, place } of late) {
    const where = place ? ` (${place.host}, pid ${place.pid})` : ''
    findings.push(
      warn(
        'nodes',
        `${id}${where} is ${Math.round((now - leaseUntil) / 1_000)} s late`,
        'look whether it lives; a supervisor gives its tasks to others',
      ),
    )
  }
  return [...findings, ...roles(living)]
}

/** The same, by what a server tells: it leaves out nodes that are late. */
export async function living({ triarch }: Session): Promise<Finding[]> {
  const nodes = await triarch.nodes.list()
  if (nodes.length === 0) return [warn('nodes', 'none lives', 'start one: nothing moves')]
  return [ok('nodes', `${nodes.length} ${nodes.length === 1 ? 'lives' : 'live'}`), ...roles(nodes)]
}

function roles(living: readonly { roles: readonly string[] }[]): Finding[] {
  if (living.length === 0) return []
  return ['scheduler', 'agent', 'supervisor']
    .filter((role) => !living.some(({ roles }) => roles.includes(role)))
    .map((role) => fail('roles', `no living node has the role ${role}`, `start one with the role ${role}`))
}

/** Agents for which something waits, and that nobody hosts. */
export async function agents({ triarch }: Session): Promise<Finding[]> {
  const all: AgentInfo[] = []
  let cursor: string | undefined
  do {
    const page = await triarch.agents.list(cursor === undefined ? {} : { cursor })
    all.push(...page.agents)
    cursor = page.next
  } while (cursor !== undefined)
  const unreached = all.filter(({ nodes, queue }) => nodes.length === 0 && queue.depth > 0)
  if (unreached.length === 0) return [ok('agents', `${all.length}, and each that is asked for has a node`)]
  return unreached.map(({ name, queue }) =>
    fail(
      'agents',
      `${queue.depth}${queue.truncated ? ' or more' : ''} wait for ${name}, and no living node hosts it`,
      'start one that does',
    ),
  )
}

/** Circuit breakers that hold attempts back. */
export async function breakers({ triarch }: Session): Promise<Finding[]> {
  const { breakers } = await triarch.breakers.list({ limit: 1_000 })
  const open = breakers.filter(({ state }) => state === 'open')
  if (open.length === 0) return [ok('breakers', 'none is open')]
  return open.map(({ name }) => warn('breakers', `${name} is open`, `look at the service: triarch breaker list`))
}

/** Versions that open tasks need and nobody has. */
export async function versions({ triarch }: Session): Promise<Finding[]> {
  const living = (await triarch.nodes.list()).flatMap(({ runs }) => runs?.workflows ?? [])
  const open = await openTasks(triarch)
  const needed = new Map<string, number>()
  for (const { workflow, version } of open.tasks) {
    const key = `${workflow}@${version}`
    needed.set(key, (needed.get(key) ?? 0) + 1)
  }
  const orphaned = [...needed].filter(([key]) => !living.includes(key)).sort(([, a], [, b]) => b - a)
  if (orphaned.length === 0)
    return [
      ok(
        'versions',
        `open tasks: ${open.tasks.length}${open.more ? ' or more' : ''}, and each has a node that runs it`,
      ),
    ]
  return orphaned.map(([key, count]) =>
    fail(
      'versions',
      `${count} open ${count === 1 ? 'task needs' : 'tasks need'} ${key}, and no living node has it`,
      'start one that does',
    ),
  )
}

async function openTasks(triarch: Session['triarch']): Promise<{ tasks: TaskInfo[]; more: boolean }> {
  const tasks: TaskInfo[] = []
  let cursor: string | undefined
  do {
    const page = await triarch.tasks.list({
      filter: '-status:stopped',
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    })
    tasks.push(...page.tasks)
    cursor = page.next
  } while (cursor !== undefined && tasks.length < MOST)
  return { tasks, more: cursor !== undefined }
}
