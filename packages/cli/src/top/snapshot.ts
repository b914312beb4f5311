import type { AgentInfo, BreakerInfo, NodeInfo, Statistics, TaskInfo, TriarchClient } from 'triarch'

/** Newest tasks by which the throughput is reckoned. */
export const NEWEST = 200
/** The time that throughput is of (ms). */
const WINDOW = 60_000
/** Failures of this time are shown (ms). */
const RECENT = 3_600_000
/** Most that is read of anything. */
const MOST = 200

/** Tasks of one workflow that need somebody. */
export interface Failing {
  workflow: string
  paused: number
  failed: number
  error: string
}

/** All that is shown, of one instant. Each part costs one page that an index leads to, however much there is. */
export interface Snapshot {
  at: number
  counts: Statistics
  /** Tasks per second, by the newest of them. */
  rates: { submitted: number; ended: number }
  agents: AgentInfo[]
  nodes: NodeInfo[]
  failing: Failing[]
  /** Those that are not closed. */
  breakers: BreakerInfo[]
}

export async function snapshotOf(triarch: TriarchClient, now: () => number): Promise<Snapshot> {
  const [counts, newest, paused, failed, { agents }, nodes, { breakers }] = await Promise.all([
    triarch.statistics.get(),
    triarch.tasks.list({ filter: 'sort:newest', limit: NEWEST }),
    triarch.tasks.list({ filter: 'status:paused', limit: MOST }),
    triarch.tasks.list({ filter: 'outcome:error', limit: MOST }),
    triarch.agents.list(),
    triarch.nodes.list(),
    triarch.breakers.list({ limit: MOST }),
  ])
  const at = now()
  return {
    ...{ at, counts, agents, nodes, rates: ratesOf(newest.tasks, at) },
    failing: failingOf(paused.tasks, failed.tasks, at),
    breakers: breakers.filter(({ state, keyed }) => keyed || state !== 'closed'),
  }
}

/** Where the newest do not reach back over the window, they are of a shorter time. */
export function ratesOf(newest: readonly TaskInfo[], at: number): Snapshot['rates'] {
  const oldest = newest.at(-1)?.submittedAt.getTime() ?? at
  const since = newest.length < NEWEST ? at - WINDOW : Math.max(oldest, at - WINDOW)
  const seconds = Math.max(1, at - since) / 1_000
  const submitted = newest.filter(({ submittedAt }) => submittedAt.getTime() >= since).length
  const ended = newest.filter(({ status, updatedAt }) => status === 'stopped' && updatedAt.getTime() >= since).length
  return { submitted: submitted / seconds, ended: ended / seconds }
}

/** By workflow, those first that need most. */
export function failingOf(paused: readonly TaskInfo[], failed: readonly TaskInfo[], at: number): Failing[] {
  const found = new Map<string, Failing>()
  const count = (task: TaskInfo, kind: 'paused' | 'failed') => {
    const one = found.get(task.workflow) ?? { workflow: task.workflow, paused: 0, failed: 0, error: '' }
    one[kind]++
    one.error ||= task.pause?.error?.message ?? task.error?.message ?? task.pause?.cause ?? ''
    found.set(task.workflow, one)
  }
  for (const task of paused) count(task, 'paused')
  for (const task of failed) if (task.updatedAt.getTime() >= at - RECENT) count(task, 'failed')
  return [...found.values()].sort((a, b) => b.paused + b.failed - (a.paused + a.failed))
}
