import type { Agent, Workflow } from '../definition/definition.ts'
import { WORKFLOW_SETTING } from '../definition/setting.ts'
import { readHistoryPart } from '../scheduler/history.ts'
import { agentOfQueue } from '../store/breaker.ts'
import { MOST_WAITING } from '../store/gate.ts'
import type { HeldLock, NamePage, NodeRow, QueueRow, StateStore } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { heardOf } from './heard.ts'
import { agentPauses, type NodePause, pausesIn, rowsOf, type SettingPause, saidBy, workflowPauses } from './pause.ts'

/**
 * A page of a list by name.
 * @example const { locks, next } = await triarch.locks.list({ cursor: 'stock:7', limit: 20 })
 */
export interface NamedPage {
  /** `next` of the previous page: entries after this name. */
  cursor?: string
  /** Largest number of entries: 1 to 100; 100. */
  limit?: number
}

/**
 * A workflow with its versions.
 * @example const { workflows } = await triarch.workflows.list()
 */
export interface WorkflowInfo {
  /** The name of the workflow. */
  name: string
  /** Its versions, by name: those of living nodes, and those that this process knows. */
  versions: WorkflowVersionInfo[]
  /** An operator has paused it by its setting: its tasks are not taken. */
  pausedBy?: SettingPause
  /** An operator has closed it by its setting: submissions are refused. */
  closedBy?: SettingPause
}

/** One version of a workflow. */
export interface WorkflowVersionInfo {
  /** The version. */
  version: string
  /** The kind of its code; absent if this process does not know it. */
  kind?: 'function' | 'plan'
  /** The ids of the living nodes that run it. */
  nodes: string[]
  /** The answering server accepts submissions of it. */
  startable?: true
  /** JSON Schema of its input; absent if no server that accepts it answered, or the schema's library cannot export it. */
  input?: unknown
  /** JSON Schema of its output, likewise. */
  output?: unknown
  /** JSON Schemas of the payloads of its signals, by name, likewise. */
  signals?: Readonly<Record<string, { payload?: unknown }>>
}

/** Workflows by name. */
export interface WorkflowPage {
  /** The workflows of this page. */
  workflows: WorkflowInfo[]
  /** `cursor` of the next page; absent on the last. */
  next?: string
}

/**
 * An agent with its nodes and its queue.
 * @example for (const { name, queue } of (await triarch.agents.list()).agents) console.log(name, queue.depth)
 */
export interface AgentInfo {
  /** The name of the agent. */
  name: string
  /** The names of its actions: those of living nodes, and those that this process knows. */
  actions: string[]
  /** The living nodes that run its attempts. */
  nodes: AgentNode[]
  /** Largest number of attempts that run at a time on all nodes together; absent if only the nodes' slots limit them. */
  shared?: number
  /** Requests that have not been taken. */
  queue: AgentQueue
  /** An operator has paused it by its setting: no attempt begins. */
  pausedBy?: SettingPause
}

/** A node that runs attempts of an agent. */
export interface AgentNode {
  /** The id of the node. */
  id: string
  /** Largest number of attempts that it runs at a time; absent if it is not reported. */
  slots?: number
  /** Slots for steps of a high priority, and for all others; absent if there is one pool for all. */
  pools?: { high: number; rest: number }
}

/** The work queue of an agent. */
export interface AgentQueue {
  /** Number of requests. */
  depth: number
  /** The number is a lower bound. */
  truncated?: true
  /**
   * The oldest of the counted requests, and since when it has waited; without `since`, the history of its task does not tell. Absent if
   * nothing waits.
   */
  oldest?: { task: string; step: number; since?: Date }
}

/** Agents by name. */
export interface AgentPage {
  /** The agents of this page. */
  agents: AgentInfo[]
  /** `cursor` of the next page; absent on the last. */
  next?: string
}

/**
 * A lock that a task holds.
 * @example
 * const { locks } = await triarch.locks.list()
 * for (const { name, holder, waiting } of locks) console.log(name, holder, waiting)
 */
export interface LockInfo {
  /** The name of the lock. */
  name: string
  /** The task that holds it. */
  holder: string
  /** When it was granted. */
  since: Date
  /** The fencing number of its grant. */
  fence?: number
  /** Number of tasks that wait for it. */
  waiting: number
  /** The number is a lower bound. */
  truncated?: true
  /** The first five waiting tasks, and when they requested it. */
  next: { task: string; since: Date }[]
}

/** Locks by name. */
export interface LockPage {
  /** The locks of this page. */
  locks: LockInfo[]
  /** `cursor` of the next page; absent on the last. */
  next?: string
}

const MOST = 100
/** Names of a schedule's locks have a prefix, so they may be longer than those of users. */
const LONGEST_NAME = 1_000

/** Checks the options of a page. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function namedPage(of: string, options: NamedPage): NamePage {
  checkOptions(of, options, ['cursor', 'limit'])
  const { cursor: after = '', limit = MOST } = options
  if (after !== '') checkText(`${of}: cursor`, after, LONGEST_NAME)
  return { after, limit: checkInteger(`${of}: limit`, limit, 1, MOST) }
}

/** Cuts a list to a page; one more entry than the page holds shows that there is another page. */
export function paged<T extends { name: string }>(
  all: readonly T[],
  { limit }: NamePage,
): { page: T[]; next?: string } {
  const page = all.slice(0, limit)
  const last = page.at(-1)
  return { page, ...(all.length > limit && last && { next: last.name }) }
}

/** The pause if it applies to all nodes. */
function whole(pause: NodePause | undefined): SettingPause | undefined {
  return pause?.everywhere ? pause.pause : undefined
}

/** A page of workflows. `nodes`: the living ones. */
export async function workflowPage(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  known: readonly Workflow[],
  nodes: readonly NodeRow[],
  asked: NamePage,
): Promise<WorkflowPage> {
  const found = new Map<string, Map<string, WorkflowVersionInfo>>()
  const versionOf = (name: string, version: string) => {
    const versions = found.get(name) ?? new Map<string, WorkflowVersionInfo>()
    const one = versions.get(version) ?? { version, nodes: [] }
    found.set(name, versions.set(version, one))
    return one
  }
  for (const { name, version, definition } of known)
    versionOf(name, version).kind = definition.plan === undefined ? 'function' : 'plan'
  for (const { id, runs } of nodes) {
    for (const key of runs?.workflows ?? []) {
      const at = key.lastIndexOf('@')
      versionOf(key.slice(0, at), key.slice(at + 1)).nodes.push(id)
    }
  }
  const names = [...found.keys()].filter((name) => name > asked.after).sort()
  const all = names.map((name) => {
    const versions = [...(found.get(name)?.values() ?? [])]
    return { name, versions: versions.sort((a, b) => (a.version < b.version ? -1 : 1)) }
  })
  const { page, ...rest } = paged(all, asked)
  const rows = await rowsOf(
    store,
    WORKFLOW_SETTING,
    page.map(({ name }) => name),
  )
  const pauses = new Map(rows.map((row) => [row.name, pausesIn(store, row)]))
  const versions = page.flatMap(({ name: workflow, versions }) =>
    versions.map(({ version }) => ({ workflow, version })),
  )
  const told = await workflowPauses(store, versions, nodes)
  const workflows = page.map(async (it): Promise<WorkflowInfo> => {
    const pause = pauses.get(`${WORKFLOW_SETTING}${it.name}`)
    const [own, ...others] = it.versions.map(({ version }) => whole(told.get(`${it.name}@${version}`)))
    const pausedBy = others.includes(undefined) ? undefined : own
    const closedBy = await pause?.(it.name, saidBy('closed'))
    return { ...it, ...(pausedBy && { pausedBy }), ...(closedBy && { closedBy }) }
  })
  return { workflows: await Promise.all(workflows), ...rest }
}

/** A page of agents. `nodes`: the living ones. */
export async function agentPage(
  store: StateStore,
  known: readonly Agent[],
  nodes: readonly NodeRow[],
  asked: NamePage,
): Promise<AgentPage> {
  const queues = await queuesAfter(store, { ...asked, limit: asked.limit + 1 })
  const found = new Map<string, { actions: Set<string>; nodes: AgentNode[]; shared?: number }>()
  const agentOf = (name: string) => {
    const agent: { actions: Set<string>; nodes: AgentNode[]; shared?: number } = found.get(name) ?? {
      actions: new Set<string>(),
      nodes: [],
    }
    found.set(name, agent)
    return agent
  }
  for (const { agent } of queues) agentOf(agent)
  for (const { name, actions } of known) for (const action of actions.keys()) agentOf(name).actions.add(action)
  for (const { id, runs } of nodes) {
    for (const key of runs?.actions ?? []) {
      const [name = '', action = ''] = key.split('.')
      const agent = agentOf(name)
      const { actions, nodes } = agent
      actions.add(action)
      // A setting or adaptive concurrency may change the slots that the code gives; nodes report the current number with their load.
      const slots = runs?.load?.agents[name]?.most ?? runs?.slots?.[name]
      const pools = runs?.pools?.[name]
      // While a change of the limit is spreading, nodes that have the lower one already keep to it.
      const { shared } = runs?.load?.agents[name] ?? {}
      if (shared !== undefined) agent.shared = Math.min(shared, agent.shared ?? shared)
      if (nodes.at(-1)?.id !== id)
        nodes.push({
          id,
          ...(slots !== undefined && { slots }),
          ...(pools && { pools: { high: pools.high, rest: pools.rest } }),
        })
    }
  }
  const names = [...found.keys()].filter((name) => name > asked.after).sort()
  const { page, ...rest } = paged(
    names.map((name) => ({ name })),
    asked,
  )
  const paused = await agentPauses(
    store,
    page.map(({ name }) => name),
    nodes,
  )
  const agents = page.map(async ({ name }): Promise<AgentInfo> => {
    const { actions, nodes, shared } = agentOf(name)
    const queue = await queueOf(
      store,
      queues.find(({ agent }) => agent === name),
    )
    const pausedBy = whole(paused.get(name))
    return {
      ...{ name, actions: [...actions].sort(), nodes },
      ...(shared !== undefined && { shared }),
      ...{ queue, ...(pausedBy && { pausedBy }) },
    }
  })
  return { agents: await Promise.all(agents), ...rest }
}

/** The queues of agents; requests that wait for circuit breakers of an agent's keys belong to the agent. */
async function queuesAfter(store: StateStore, { after, limit }: NamePage): Promise<QueueRow[]> {
  const found = new Map<string, QueueRow>()
  for (let last = after; ; ) {
    const rows = await store.queues({ after: last, limit })
    for (const row of rows) {
      const agent = agentOfQueue(row.agent)
      const known = found.get(agent)
      if (agent === after) continue
      if (known) known.depth += row.depth
      else found.set(agent, { ...row, agent })
    }
    last = rows.at(-1)?.agent ?? ''
    // One more agent than requested, because the last one may have more queues.
    if (rows.length < limit || found.size > limit) return [...found.values()].slice(0, limit)
  }
}

async function queueOf(store: StateStore, row: QueueRow | undefined): Promise<AgentQueue> {
  if (!row) return { depth: 0 }
  const { depth, oldest } = row
  const since = oldest ? await askedAt(store, oldest) : undefined
  return {
    depth,
    ...(depth >= MOST_COUNTED && { truncated: true }),
    ...(oldest && { oldest: { ...oldest, ...(since !== undefined && { since: new Date(since) }) } }),
  }
}

/** When a step was requested. Only the history has this, because a column would make every request more expensive for a rare use. */
async function askedAt(store: StateStore, { task, step }: { task: string; step: number }): Promise<number | undefined> {
  const row = await store.task(task)
  if (!row) return undefined
  const { events } = await readHistoryPart(store, row)
  return heardOf(events).ids.get(step)
}

export async function lockPage(store: StateStore, asked: NamePage): Promise<LockPage> {
  const rows = await store.heldLocks({ ...asked, limit: asked.limit + 1 })
  const { page, ...rest } = paged(rows, asked)
  return { locks: page.map(lockInfo), ...rest }
}

function lockInfo({ name, task, since, fence, waiting, next }: HeldLock): LockInfo {
  return {
    ...{ name, holder: task, since: new Date(since) },
    ...(fence !== null && { fence }),
    ...{ waiting, ...(waiting >= MOST_WAITING && { truncated: true }) },
    next: next.map((one) => ({ task: one.task, since: new Date(one.since) })),
  }
}
