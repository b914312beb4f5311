import type { TaskState } from '../kernel/state.ts'
import { foldOf, readHistoryPart } from '../scheduler/history.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { NodeRow, StateStore, TaskRow } from '../store/port.ts'
import { agentOf } from '../value/name.ts'
import { FROZEN } from '../value/tag.ts'
import { breakerText } from './breaker.ts'
import { type Hindrance, type Hindrances, hindranceOf, hindrancesOf, type UntakenRequest } from './hindrance.ts'
import { mayRun, type NodePause, partlyText, pauseText, type SettingPause, workflowPauses } from './pause.ts'
import { boundText } from './permit.ts'
import { limiterText } from './rate.ts'
import type { ReasonCode } from './reason.ts'

/**
 * A queue in which a task or a step of it waits, or a limit that holds it there, in short. `explain()` has the details.
 * @example
 * const { waits = [] } = await task.status()
 * for (const { code, of, until } of waits) console.log(code, of, until)
 */
export interface TaskWait {
  /** The kind of the wait, as in the reasons of `explain()`. */
  code: Extract<
    ReasonCode,
    | 'frozen'
    | ('queued' | 'no-scheduler' | 'workflow-paused')
    | ('step-queued' | 'no-agent' | 'agent-paused' | 'breaker' | 'rate-limit' | 'concurrency')
  >
  /** The name of the workflow (also for a task that waits for approval), or of the action, agent, breaker or limit that holds its steps. */
  of: string
  /** When it may go on, if known: at the next probe of a breaker, or the next free instant of a rate limit. */
  until?: Date
  /** The wait as text. */
  text: string
}

/** The waits and pauses of one task. */
export interface WaitsAndPauses {
  waits?: TaskWait[]
  pausedBy?: SettingPause[]
}

/** Largest number of waits that are reported per task. */
const MOST_WAITS = 10

/**
 * The waits of some tasks, by id; tasks without any are left out. One query finds the waiting requests of all tasks; if there are any, the
 * limits that may hold them are read together. `putOff`: steps without a request, which a circuit breaker may hold.
 */
export async function standingsOf(
  store: StateStore,
  rows: readonly TaskRow[],
  isGone: (node: NodeRow) => boolean,
  putOff: readonly (UntakenRequest & { task: string })[] = [],
): Promise<ReadonlyMap<string, WaitsAndPauses>> {
  const live = rows.filter(({ status, quarantined }) => status !== 'stopped' && !quarantined)
  const ready = live.filter(isInLine)
  const frozen = await frozenOf(store, live)
  const begun = live.filter(({ status }) => status === 'running' || status === 'compensating').map(({ id }) => id)
  const parked = begun.length > 0 ? [...(await store.parked(begun)), ...putOff] : []
  const standings = new Map<string, WaitsAndPauses>(frozen.map(({ id, workflow }) => [id, askedFor(workflow)]))
  if (ready.length === 0 && parked.length === 0) return standings
  const [now, all] = await Promise.all([store.now(), store.nodes()])
  const nodes = all.filter((node) => node.leaseUntil >= now && !isGone(node))
  const [known, paused] = await Promise.all([
    hindrancesOf(store, parked, { now, nodes, count: 0 }),
    workflowPauses(store, ready, nodes),
  ])
  for (const row of ready) standings.set(row.id, lineOf(row, nodes, paused.get(`${row.workflow}@${row.version}`)))
  for (const row of parked) {
    const hindrance = hindranceOf(known, row)
    if (hindrance?.code !== 'breaker' && putOff.includes(row as (typeof putOff)[number])) continue
    const standing = standings.get(row.task) ?? {}
    standings.set(row.task, joined(standing, waitOf(known, row, hindrance), hindrance))
  }
  return standings
}

/** Largest number of tasks, submitted frozen and owned since, whose histories are read. */
const MOST_READ = 50

/** Tasks that wait for approval. A task that never had an owner was not thawed; otherwise its history tells. */
async function frozenOf(store: StateStore, rows: readonly TaskRow[]): Promise<TaskRow[]> {
  const [[name, value]] = Object.entries(FROZEN) as [[string, string]]
  const asked = rows.filter(
    ({ status, ready, lockedBy, tags }) =>
      (status === 'scheduled' || status === 'planned') && !ready && lockedBy === null && tags[name] === value,
  )
  const touched = asked.filter(({ epoch }) => epoch > 0).slice(0, MOST_READ)
  const read = await Promise.all(
    touched.map(async (row) => {
      const { events, broken } = await readHistoryPart(store, row)
      return !broken && foldOf(row.id, events).state.frozen ? row.id : null
    }),
  )
  return asked.filter(({ id, epoch }) => epoch === 0 || read.includes(id))
}

function askedFor(workflow: string): WaitsAndPauses {
  return { waits: [{ code: 'frozen', of: workflow, text: 'waits to be approved, by a thaw' }] }
}

/** Adds a wait, unless there is one with the same code and name. */
function joined(
  { waits = [], pausedBy = [] }: WaitsAndPauses,
  wait: TaskWait,
  hindrance: Hindrance | null,
): WaitsAndPauses {
  const isNew = waits.length < MOST_WAITS && !waits.some(({ code, of }) => code === wait.code && of === wait.of)
  const pause = hindrance?.code === 'agent-paused' ? hindrance.pause : undefined
  const pauses = pause && !pausedBy.includes(pause) ? [...pausedBy, pause] : pausedBy
  return { waits: isNew ? [...waits, wait] : waits, ...(pauses.length > 0 && { pausedBy: pauses }) }
}

/** Whether the task waits to be taken by a scheduler. */
export function isInLine({ ready, lockedBy, status }: TaskRow): boolean {
  return ready && lockedBy === null && status !== 'stopped'
}

/** Steps that their agent has put off, which have no request in a queue. */
export function putOffOf({ id: task, steps }: Pick<TaskState, 'id' | 'steps'>): (UntakenRequest & { task: string })[] {
  return [...steps.values()].flatMap(({ action, putOff }) =>
    action === null || putOff === null ? [] : [{ task, queue: agentOf(action), action }],
  )
}

function lineOf(
  { workflow, version }: TaskRow,
  nodes: readonly NodeRow[],
  pause: NodePause | undefined,
): WaitsAndPauses {
  const key = `${workflow}@${version}`
  if (pause?.everywhere) {
    const text = pauseText('workflow', pause.pause)
    return { waits: [{ code: 'workflow-paused', of: workflow, text }], pausedBy: [pause.pause] }
  }
  if (!nodes.some((node) => mayRun(node, key)))
    return { waits: [{ code: 'no-scheduler', of: workflow, text: `no living node runs version ${version} of it` }] }
  const text = `waits for a scheduler with room${partlyText('workflow', pause)}`
  return { waits: [{ code: 'queued', of: workflow, text }] }
}

function waitOf(known: Hindrances, { queue, action }: UntakenRequest, hindrance: Hindrance | null): TaskWait {
  switch (hindrance?.code) {
    case undefined: {
      const text = `waits for a free slot${partlyText('agent', known.paused.get(agentOfQueue(queue)))}`
      return { code: 'step-queued', of: action, text }
    }
    case 'no-agent':
      return { code: 'no-agent', of: action, text: `no living node has the action ${action}` }
    case 'agent-paused':
      return { code: 'agent-paused', of: hindrance.pause.name, text: pauseText('agent', hindrance.pause) }
    case 'breaker': {
      const { name: of, nextProbe } = hindrance.breaker
      return { code: 'breaker', of, ...(nextProbe && { until: nextProbe }), text: breakerText(hindrance.breaker) }
    }
    case 'rate-limit': {
      const { name: of, until } = hindrance.limiter
      return { code: 'rate-limit', of, until, text: limiterText(hindrance.limiter) }
    }
    case 'concurrency':
      return { code: 'concurrency', of: hindrance.full.name, text: boundText(hindrance.full) }
  }
}
