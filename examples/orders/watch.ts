// Watches the tasks come to their ends, and notices when they don't.
import { setTimeout as delay } from 'node:timers/promises'
import type { TaskInfo, TaskStatus, Triarch } from 'triarch'

const STUCK_AFTER = 20_000
export const active: TaskStatus[] = ['scheduled', 'pending', 'running', 'paused', 'compensating']

export async function listTasks(triarch: Triarch, status?: TaskStatus[]): Promise<TaskInfo[]> {
  const tasks: TaskInfo[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await triarch.tasks.list({ limit: 1_000, ...(status && { status }), ...(cursor && { cursor }) })
    tasks.push(...page.tasks)
    if (!page.next) return tasks
    cursor = page.next
  }
}

/**
 * Resolves when all orders are `placed` and no task is active any more; with the tasks left over when none of them has
 * moved for long.
 */
export async function watchTasks(
  triarch: Triarch,
  placed: () => boolean,
  seen: (active: TaskInfo[]) => Promise<void>,
): Promise<TaskInfo[]> {
  let last = ''
  let movedAt = performance.now()
  for (;;) {
    const all = placed()
    const tasks = await listTasks(triarch, active)
    await seen(tasks)
    if (all && tasks.length === 0) return []
    const now = JSON.stringify(tasks.map(({ id, updatedAt, failures }) => [id, updatedAt, failures]))
    if (now !== last) movedAt = performance.now()
    last = now
    if (performance.now() - movedAt > STUCK_AFTER) return tasks
    await delay(100)
  }
}

/** Why a task does not move: its state and the end of its history. */
export async function describe(triarch: Triarch, { id, status, pause, lockedBy, wakeAt }: TaskInfo): Promise<string> {
  const history = await triarch.tasks.get(id).history()
  const tail = history.slice(-5).map(({ seq, at, events }) => `  ${seq} ${at.toISOString()} ${JSON.stringify(events)}`)
  const where = `${lockedBy ? `at node ${lockedBy}` : 'at no node'}${wakeAt ? `, wakes ${wakeAt.toISOString()}` : ''}`
  return [`${id} is ${status} ${where}${pause ? `: ${JSON.stringify(pause)}` : ''}`, ...tail].join('\n')
}
