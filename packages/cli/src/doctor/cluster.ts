import type { TaskInfo } from 'triarch'
import type { Session } from '../session.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Clocks further apart than this are told of (ms): deadlines are by the store's. */
const SKEW = 1_000
/** Open tasks whose versions are looked at. */
const MOST = 10_000

export async function clocks({ port, environment }: Session): Promise<Finding> {
  const asked = environment.monotonic()
  const store = await port.now()
  const skew = Math.round(store - environment.now() + (environment.monotonic() - asked) / 2)
  const found = `the store's clock is ${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine's`
  return Math.abs(skew) <= SKEW ? ok('clocks', found) : warn('clocks', found, 'set the clocks by NTP')
}

/** Who is there, who is late, and what nobody does. */
export async function nodes({ port }: Session): Promise<Finding[]> {
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
  if (living.length > 0)
    for (const role of ['scheduler', 'agent', 'supervisor'])
      if (!living.some(({ roles }) => roles.includes(role)))
        findings.push(fail('roles', `no living node is a ${role}`, `start one with the role ${role}`))
  return findings
}

/** Versions that open tasks need and nobody has. */
export async function versions({ triarch }: Session): Promise<Finding[]> {
  const living = (await triarch.nodes()).flatMap(({ runs }) => runs?.workflows ?? [])
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
    const page = await triarch.list({
      filter: '-status:stopped',
      limit: 1_000,
      ...(cursor !== undefined && { cursor }),
    })
    tasks.push(...page.tasks)
    cursor = page.next
  } while (cursor !== undefined && tasks.length < MOST)
  return { tasks, more: cursor !== undefined }
}
