import { TriarchError } from '../error/error.ts'
import { type BatchCounts, countsOf } from '../kernel/batch/batch.ts'
import { awaited, isGated } from '../kernel/lock/gate.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Step } from '../kernel/step/step.ts'
import { isWaiting } from '../kernel/summary.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { LockRow, NodeRow, QueuedRow, StateStore, TaskRow } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { agentOf } from '../value/name.ts'
import { apartness } from './apartness.ts'
import { type BreakerInfo, keeperText } from './breaker.ts'
import type { LastEvents } from './heard.ts'
import { type Hindrances, hindranceOf, hindrancesOf } from './hindrance.ts'
import { mayRun, type NodePause, partlyText, pauseText, workflowPauses } from './pause.ts'
import { fullText } from './permit.ts'
import { poolOf, poolText } from './pool.ts'
import { limiterText } from './rate.ts'
import type { HistoryContents } from './reading.ts'
import { before, clock, type Explanation, type Reason, span } from './reason.ts'
import { isInLine, putOffOf } from './wait.ts'

/** Largest number of children, locks and predecessors that are examined one by one. */
const MOST = 20
/** After this time (ms), a running task with nothing outstanding is not merely between two turns. */
const STALL = 3_000

interface Scene {
  now: number
  store: StateStore
  row: TaskRow
  state: TaskState
  heard: LastEvents
  /** When its history last grew. */
  last: number
  queued: QueuedRow
  /** What may keep its requests from being taken. */
  known: Hindrances
  /** The pause of its workflow, while the task waits to be taken. */
  paused: NodePause | undefined
  locks: readonly LockRow[]
  /** Living nodes. */
  nodes: readonly NodeRow[]
  /** Nodes whose process is known to have ended. */
  gone: readonly NodeRow[]
}

/** Functions that provide what only this process knows. */
interface ProcessKnowledge {
  isGone: (node: NodeRow) => boolean
  /** Why a submission with this id is not accepted yet; null: none waits here. */
  unsubmitted: (id: string) => Explanation | null
}

/** Explains why a task is not moving. Reads only. Throws UNKNOWN_TASK, HISTORY_CORRUPT, STORE_*. */
export async function explain(
  store: StateStore,
  id: string,
  read: (row: TaskRow) => Promise<HistoryContents>,
  { isGone, unsubmitted }: ProcessKnowledge = { isGone: () => false, unsubmitted: () => null },
): Promise<Explanation> {
  const [now, row] = await Promise.all([store.now(), store.task(id)])
  if (!row) {
    const waits = unsubmitted(id)
    if (waits) return waits
    throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
  }
  if (row.quarantined) return apartness(store, row)
  const [reading, queued, locks, nodes] = await Promise.all([
    read(row),
    store.queued(id),
    store.locks({ task: id }),
    store.nodes(),
  ])
  const { broken, state, heard, at: last } = reading
  if (broken) throw broken
  const gone = nodes.filter(isGone)
  const living = nodes.filter((node) => node.leaseUntil >= now && !gone.includes(node))
  const scene: Scene = {
    now,
    store,
    row,
    state,
    heard,
    last,
    queued,
    known: await hindrancesOf(store, [...queued.work.filter(({ node }) => node === null), ...putOffOf(state)], {
      ...{ now, nodes: living, count: MOST_COUNTED },
    }),
    paused: isInLine(row)
      ? (await workflowPauses(store, [row], living)).get(`${row.workflow}@${row.version}`)
      : undefined,
    locks,
    nodes: living,
    gone,
  }
  const reasons = await reasonsOf(scene)
  const held = locks.filter((lock) => lock.held).slice(0, MOST)
  const holds = held.map(({ name, since }) => ({ lock: name, since: at(since) }))
  const [why, what] = [reasons.map(({ text }) => text), holds.map(heldText)].map((texts) => texts.join('; and '))
  const text = `Task "${id}" (${row.workflow}) ${why}.${what && ` It holds ${what}.`}`
  return { task: id, workflow: row.workflow, status: row.status, text, reasons, holds }
}

function heldText({ lock, since }: Explanation['holds'][number]): string {
  return `lock "${lock}" since ${clock(since)}`
}

async function reasonsOf(scene: Scene): Promise<Reason[]> {
  const { row, state, now, last } = scene
  if (row.status === 'stopped') {
    // The error of a task that was cancelled without a reason only repeats its outcome.
    const error = state.error?.message === row.result ? undefined : state.error?.message
    const why = error === undefined ? '' : `: ${error}`
    return [
      {
        code: 'stopped',
        outcome: row.result,
        ...(error !== undefined && { error }),
        text: `has stopped (${row.result})${why}`,
      },
    ]
  }
  const where = ownerOf(scene)
  if (where) return [where]
  if (state.pause) return [pauseOf(scene), ...(await lockReasons(scene))]
  if (isWaiting(state) && !state.closing) {
    const gates = await gatesOf(scene)
    if (gates.length > 0) return gates
  }
  if (state.status === 'planning' && row.lockedBy !== null) {
    const since = at(scene.heard.kinds.get('planning'))
    return [{ code: 'planning', since, text: `is being planned since ${clock(since)}` }]
  }
  if (row.ready && row.lockedBy === null) return [queueOf(scene)]
  const reasons = [
    ...stepsOf(scene),
    ...(await lockReasons(scene)),
    ...(state.closing ? [] : waitsOf(scene)),
    ...(await childrenOf(scene)),
  ]
  if (reasons.length > 0) return reasons
  // The code has run and requested nothing, so no message, timer or child will ever move the task.
  if (row.status === 'running' && state.begun && !state.plan && !row.ready && now - last >= STALL) {
    const text = `waits for something that is no task call since ${clock(at(last))}: it may wait for ever`
    return [{ code: 'stalled', since: at(last), text }]
  }
  const node = row.lockedBy ?? undefined
  const text = node === undefined ? 'will be taken up at once' : `is being worked on by node ${node}`
  return [{ code: 'moving', ...(node !== undefined && { node }), text }]
}

/** The reason if the task's owner does not live. */
function ownerOf(scene: Scene): Reason | null {
  const node = scene.row.lockedBy
  if (node === null || scene.nodes.some(({ id }) => id === node)) return null
  return { code: 'node-lost', node, text: `belongs to node ${node}, ${lossOf(scene, node)}` }
}

/** Why a node counts as dead. */
function lossOf({ gone }: Scene, node: string): string {
  const place = gone.find(({ id }) => id === node)?.place
  if (!place) return 'which gives no sign of life: a supervisor will release it'
  return `whose process has died (it was ${place.pid} on ${place.host}): a supervisor will release it`
}

function queueOf({ row, queued, nodes, paused }: Scene): Reason {
  const { workflow, version } = row
  if (paused?.everywhere) {
    const { reason, actor, since } = paused.pause
    const text = `waits for a scheduler: ${pauseText('workflow', paused.pause)}`
    return { code: 'workflow-paused', workflow, reason, actor, since, text }
  }
  if (nodes.some((node) => mayRun(node, `${workflow}@${version}`))) {
    const ahead = queued.ahead ?? 0
    const text = `waits for a scheduler with room: ${before(ahead)}${partlyText('workflow', paused)}`
    return { code: 'queued', ahead, text }
  }
  const text = `waits for a scheduler, and no living node runs version ${version} of workflow ${workflow}`
  return { code: 'no-scheduler', workflow, version, text }
}

function pauseOf({ state, heard }: Scene): Reason {
  const { reason, note, actor, error } = state.pause ?? { reason: 'operator' as const }
  const since = at(heard.kinds.get('paused'))
  const held = [...state.steps.values()].find((step) => step.held !== null)
  const who = {
    operator: `by ${actor ?? 'an operator'}`,
    lock: 'until it has its locks again',
    step: 'because a step failed',
    undo: 'because a compensation failed',
    'unknown-outcome': 'because nobody knows whether a step took effect',
    mismatch: 'because its code and its history disagree',
    error: 'because its code failed',
    quarantine: 'because it was quarantined',
  }[reason]
  // STEP_KEEPS_DYING describes all attempts, so it is shown instead of the last one's error.
  const verdict = error?.code === 'STEP_KEEPS_DYING'
  const which = held && !verdict && `step ${held.id} (${held.name})`
  const about = [which, note && `"${note}"`, (verdict ? error : (held?.error ?? error))?.message]
  const details = about.filter((it) => it !== undefined && it !== '' && it !== false).join(': ')
  return {
    ...{ code: 'paused', cause: reason, since },
    ...(note !== undefined && { reason: note }),
    ...(actor !== undefined && { actor }),
    ...(held && { step: held.id }),
    text: `is paused ${who} since ${clock(since)}${details && ` (${details})`}`,
  }
}

/** The reasons for which a task cannot begin. */
async function gatesOf(scene: Scene): Promise<Reason[]> {
  const { state, store, now } = scene
  const reasons: Reason[] = []
  if (state.frozen) reasons.push(frozenBy(state))
  if (state.startAt !== null && state.startAt > now) {
    const until = at(state.startAt)
    reasons.push({
      code: 'scheduled',
      until,
      text: `is scheduled for ${clock(until)}, in ${span(state.startAt - now)}`,
    })
  }
  for (const task of awaited(state).slice(0, MOST)) {
    const status = (await store.task(task))?.status ?? 'unknown'
    reasons.push({ code: 'predecessor', task, status, text: `comes after task "${task}", which is ${status}` })
  }
  return isGated(state) || reasons.length > 0 ? [...reasons, ...(await lockReasons(scene))] : reasons
}

function frozenBy({ plan }: TaskState): Reason {
  const text = 'is frozen, until somebody approves it by a thaw'
  if (!plan) return { code: 'frozen', text }
  const planned = plan.nodes.filter(({ step }) => step.action !== null).length
  return { code: 'frozen', planned, text: `${text}: its plan has ${planned} step${planned === 1 ? '' : 's'}` }
}

async function lockReasons({ locks, store }: Scene): Promise<Reason[]> {
  const reasons: Reason[] = []
  for (const { name, held, since, ahead } of locks.filter((lock) => !lock.held).slice(0, MOST)) {
    const [first] = await store.locks({ name })
    if (held || !first) continue
    const asked = at(since)
    const line = ahead === 1 ? 'it is next' : before(ahead - 1).replace('before it', 'before it in line')
    const text = `waits for lock "${name}" since ${clock(asked)}, which task "${first.task}" holds since ${clock(at(first.since))}: ${line}`
    reasons.push({ code: 'lock', lock: name, holder: first.task, since: asked, ahead, text })
  }
  return reasons
}

function stepsOf(scene: Scene): Reason[] {
  return [...scene.state.steps.values()].flatMap((step) => stepOf(scene, step) ?? [])
}

function stepOf(scene: Scene, step: Step): Reason | null {
  const { now, row, queued, nodes, heard, state, known } = scene
  const { id, operation, attempt, held, status, error } = step
  const action = step.action ?? step.name
  const since = at(heard.ids.get(id))
  const which = `step ${id} (${what(step)})`
  if (held !== null && status !== 'compensating') {
    const why = { code: 'held' as const, step: id, cause: held }
    return {
      ...why,
      ...(error && { error: error.message }),
      text: `has ${which} waiting for an operator: ${error?.message ?? held}`,
    }
  }
  if (status === 'suspended') return suspendedOf(scene, step, since, which)
  if (status !== 'running' && status !== 'compensating') return null
  const common = { step: id, operation, action }
  const work = queued.work.find((it) => it.step === id && it.operation === operation && it.attempt === attempt)
  if (work && work.node === null) {
    const hindrance = hindranceOf(known, { queue: work.queue, action })
    if (hindrance?.code === 'no-agent')
      return {
        code: 'no-agent',
        ...common,
        since,
        text: `waits for ${which} since ${clock(since)}, and no living node has the action ${action}`,
      }
    if (hindrance?.code === 'agent-paused') {
      const { name: agent, reason, actor, since } = hindrance.pause
      const text = `waits for ${which}: ${pauseText('agent', hindrance.pause)}`
      return { code: 'agent-paused', ...common, agent, reason, actor, since, text }
    }
    if (hindrance?.code === 'breaker') return keptBy(hindrance.breaker, common, which)
    if (hindrance?.code === 'rate-limit') {
      const { name: limit, until } = hindrance.limiter
      return {
        ...{ code: 'rate-limit', ...common, limit, until, ahead: work.ahead, since },
        text: `waits for ${which}: ${limiterText(hindrance.limiter)}, and ${before(work.ahead)}`,
      }
    }
    if (hindrance?.code === 'concurrency') {
      const { name: limit, taken: running, most, waiting } = hindrance.full
      return {
        ...{ code: 'concurrency', ...common, limit, running, most, waiting, ahead: work.ahead, since },
        text: `waits for ${which}: ${fullText(hindrance.full)}, and ${before(work.ahead)}`,
      }
    }
    const partly = partlyText('agent', known.paused.get(agentOfQueue(work.queue)))
    const pool = poolOf(nodes, action, step.policy.priority + state.priority)
    const slot = pool ? poolText(pool) : 'a free slot'
    return {
      code: 'step-queued',
      ...common,
      ahead: work.ahead,
      since,
      ...(pool && { pool }),
      text: `waits for ${slot} for ${which} since ${clock(since)}: ${before(work.ahead)}${partly}`,
    }
  }
  if (step.due > now && !work) {
    const next = at(step.due)
    const last = error && { error: error.message }
    const text = `tries ${which} again in ${span(step.due - now)}, at ${clock(next)}${error ? ` (attempt ${attempt}; the last failed: ${error.message})` : ''}`
    return { code: 'retry', ...common, attempt, at: next, ...last, text }
  }
  if (step.putOff !== null && !work) {
    const breaker = known.breakers.get(agentOf(action))
    if (breaker) return keptBy(breaker, common, which)
    const next = at(Math.max(step.putOff, row.wakeAt ?? 0))
    return {
      code: 'retry',
      ...common,
      attempt,
      at: next,
      text: `begins ${which} at ${clock(next)}: its agent put it off`,
    }
  }
  if (step.awaited !== null) {
    const completeBy = at(step.awaited)
    const text = `waits for ${which}, attempt ${attempt}, which left its server: given up at ${clock(completeBy)} unless something is heard of it`
    return { code: 'step', ...common, attempt, since, completeBy, text }
  }
  const node = work?.node ?? row.lockedBy ?? undefined
  if (node === undefined) return null
  if (!nodes.some((it) => it.id === node)) {
    return { code: 'node-lost', node, step: id, text: `waits for ${which} on node ${node}, ${lossOf(scene, node)}` }
  }
  const until = work?.completeBy ?? since.getTime() + step.policy.completeWithin
  const completeBy = at(Math.min(until, step.expiresAt ?? until, state.completeBy ?? until))
  const text = `waits for ${which}, attempt ${attempt}, on node ${node} since ${clock(since)}, to be done by ${clock(completeBy)}`
  return { code: 'step', ...common, attempt, node, since, completeBy, text }
}

function keptBy(
  breaker: BreakerInfo,
  step: { step: number; operation: Step['operation']; action: string },
  which: string,
): Reason {
  const { name, state, since, nextProbe, waiting } = breaker
  return {
    ...{ code: 'breaker', ...step, breaker: name, state, since, waiting },
    ...(nextProbe && { nextProbe }),
    text: `waits for ${which}: ${keeperText(breaker)}`,
  }
}

function suspendedOf({ state }: Scene, step: Step, since: Date, which: string): Reason {
  const batch = state.batches.get(step.id)
  if (batch) return batchOf(step, countsOf(batch), since, which)
  const { until = null, selfSignals = [] } = state.suspensions.get(step.id) ?? {}
  const [sent] = [...selfSignals].sort((a, b) => a.at - b.at)
  const limit = until === null ? undefined : at(until)
  const next = sent && { name: sent.name, at: at(sent.at) }
  const ends = [limit && `times out at ${clock(limit)}`, next && `sends itself "${next.name}" at ${clock(next.at)}`]
  const rest = ends
    .filter((it) => it !== undefined)
    .map((it) => `, ${it}`)
    .join('')
  return {
    ...{ code: 'suspended', step: step.id, action: step.action ?? step.name, since },
    ...(limit && { until: limit }),
    ...(next && { next }),
    text: `has ${which} suspended since ${clock(since)}: it waits for a signal by its token${rest}`,
  }
}

/** The reason for a batch that waits: its source is suspended while its children run. */
function batchOf(step: Step, counts: BatchCounts, since: Date, which: string): Reason {
  const { total, success, failed, cancelled } = counts
  const ended = success + failed + cancelled
  const all = total === null ? 'the children that there are so far' : `${total.toLocaleString('en')} children`
  const bad = [failed > 0 && `${failed} failed`, cancelled > 0 && `${cancelled} were cancelled`].filter((it) => it)
  const text = `runs the batch of ${which} since ${clock(since)}: ${ended.toLocaleString('en')} of ${all} have ended${bad.length > 0 ? `, ${bad.join(' and ')}` : ''}`
  return { code: 'batch', step: step.id, action: step.action ?? step.name, since, ...counts, text }
}

/** The reasons for timers and waits of a function. */
function waitsOf({ state, heard, now }: Scene): Reason[] {
  const timers = [...state.timers.values()].map((until): Reason => {
    return { code: 'timer', until: at(until), text: `sleeps until ${clock(at(until))}, for ${span(until - now)} more` }
  })
  const signals = [...state.waits].map(([id, { name, until }]): Reason => {
    const since = at(heard.ids.get(id))
    const limit = until === null ? {} : { until: at(until) }
    const end = until === null ? '' : `, until ${clock(at(until))}`
    return { code: 'signal', name, since, ...limit, text: `waits for signal "${name}" since ${clock(since)}${end}` }
  })
  return [...timers, ...signals]
}

async function childrenOf({ state, store }: Scene): Promise<Reason[]> {
  const reasons: Reason[] = []
  const open = [...state.children.values()].filter(
    ({ status, mode }) => status === 'compensating' || (status === 'running' && (mode === 'call' || state.closing)),
  )
  for (const { task, workflow } of open.slice(0, MOST)) {
    const status = (await store.task(task))?.status ?? 'unknown'
    reasons.push({
      code: 'child',
      task,
      workflow,
      status,
      text: `waits for child task "${task}" (${workflow}), which is ${status}`,
    })
  }
  return reasons
}

function what({ action, fallbackOf, name, operation }: Step): string {
  const called = action === null || action.endsWith(`.${name}`) ? name : `${name}, ${action}`
  const agent = action === null ? '' : ` of agent ${agentOf(action)}`
  const instead = fallbackOf[0] === undefined ? '' : `, in place of ${fallbackOf[0]}`
  return `${operation === 'run' ? '' : `${operation} of `}${called}${agent}${instead}`
}

function at(ms: number | undefined): Date {
  return new Date(ms ?? 0)
}
