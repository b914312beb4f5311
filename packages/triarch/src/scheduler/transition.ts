import type { TaskEvent } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import { fenceOf } from '../kernel/lock/gate.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import type { TaskState } from '../kernel/state.ts'
import { idempotencyKey } from '../kernel/step/dispatch.ts'
import { onTrial } from '../kernel/step/loss.ts'
import type { Step } from '../kernel/step/step.ts'
import type { Summary } from '../kernel/summary.ts'
import type { HookTask } from '../kernel/task/hook.ts'
import type { HookOrder, Parent } from '../kernel/task/order.ts'
import { waitingParents } from '../kernel/task/order.ts'
import type { Spawn, Turn } from '../kernel/turn.ts'
import { veil } from '../kernel/veiled.ts'
import { type Draft, taskOf } from '../store/origin.ts'
import type { NewTask, Snapshot, StepRequest, Transition, WorkRequest } from '../store/port.ts'
import { copy } from '../value/copy.ts'
import { agentOf } from '../value/name.ts'
import type { Command } from './command.ts'
import type { QueuePosition } from './queueing.ts'

/** The fields of a transition, with values that change nothing. */
export const UNCHANGED: Omit<Transition, 'key' | 'id' | 'node' | 'epoch' | 'seq' | 'at'> = {
  lastAt: null,
  events: null,
  create: null,
  snapshot: null,
  consumed: [],
  work: [],
  withdraw: [],
  forget: [],
  children: [],
  posts: [],
  release: null,
  rebase: false,
}

/**
 * The task's row, with payloads as JSON texts. No payload in it is secret; an output with secret parts is veiled. `place`: a reference
 * stored instead of an output without secrets.
 */
export function snapshotOf(summary: Summary, place: string | null = null): Snapshot {
  const { status, result, failures, deadline, progress, output, error, pause, secrets } = summary
  const kept = output === undefined ? undefined : veil(output, secrets)
  return {
    status,
    result,
    failures,
    deadline,
    progress: text(secrets ? secrets.hide(progress) : progress),
    output: kept === output ? (place ?? text(output)) : text(kept),
    error: text(error),
    pause: text(pause ?? undefined),
  }
}

function text(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** What an agent needs to run the step's current attempt. */
export function stepRequest(state: TaskState, step: Step, at: number): StepRequest {
  return {
    task: state.id,
    step: step.id,
    operation: step.operation,
    attempt: step.attempt,
    name: step.name,
    action: step.action ?? step.name,
    workflow: state.workflow,
    version: state.version,
    idempotencyKey: idempotencyKey(state, step),
    ...(state.locks.size > 0 && fenced(fenceOf(state))),
    ...(state.metadata && { metadata: state.metadata }),
    ...(state.firstId > 1 && { run: state.firstId }),
    input: step.input,
    ...(step.operation === 'undo' && step.output !== undefined && { output: step.output }),
    ...(step.checkpoint !== undefined && { checkpoint: step.checkpoint }),
    ...(step.operation === 'run' && receivedOf(state, step)),
    ...(onTrial(step, at) && { trial: { strikes: step.strikes } }),
    ...secretsOf(state, step),
  }
}

/** Texts in the request that are secret in its task, whatever the action itself marks as secret. */
function secretsOf({ secrets, metadata }: TaskState, step: Step): Pick<StepRequest, 'secretTexts'> {
  if (secrets === null) return {}
  const { input, output, checkpoint, received } = step
  const secretTexts = secrets.texts.within([input, output, checkpoint, received?.payload, metadata])
  return secretTexts.length > 0 ? { secretTexts } : {}
}

/** Copies the payloads for an action in this process, so that its changes to them affect neither the task nor the next attempt. */
export function isolated(request: StepRequest): StepRequest {
  request.input = copy(request.input)
  if (request.output !== undefined) request.output = copy(request.output)
  if (request.checkpoint !== undefined) request.checkpoint = copy(request.checkpoint)
  if (request.event !== undefined) request.event = { ...request.event, payload: copy(request.event.payload) }
  return request
}

function fenced(fence: number | undefined): Pick<StepRequest, 'fence'> {
  return fence === undefined ? {} : { fence }
}

/** What a step has received; for a batch, where its next page begins. */
function receivedOf(state: TaskState, { id, received }: Step): Pick<StepRequest, 'event'> {
  const batch = state.batches.get(id)
  if (batch) return { event: { name: 'page', payload: { offset: batch.next } } }
  return received ? { event: received } : {}
}

/** The request as it goes to the agent's work queue. */
export function workRequest(
  state: TaskState,
  step: Step,
  { action, at, tells, rank, share, queue }: { action: string; at: number; tells: boolean } & QueuePosition,
): WorkRequest {
  return {
    step: step.id,
    operation: step.operation,
    attempt: step.attempt,
    agent: step.lane ?? queue ?? agentOf(action),
    action,
    priority: rank,
    completeWithin: step.policy.completeWithin,
    heartbeatWithin: step.policy.heartbeatWithin,
    expiresAt: step.operation === 'run' ? earliest(step.expiresAt, state.completeBy) : null,
    request: { ...(share && { share }), ...(rank !== 0 && { rank }), ...(tells && { since: at }), ...stepRequest(state, step, at) }, // biome-ignore format: a row
  }
}

function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** The child task that a decision starts, created in the same transaction. */
export function childTask(turn: Turn, command: Command): NewTask | null {
  const { decision, child } = command
  if (decision.type !== 'childStarted' || !child) return null
  const { ifExists: _, ...order } = child
  return newChild(turn, {
    ...order,
    task: decision.task,
    workflow: decision.workflow,
    version: decision.version,
    parent: childParent(turn, decision),
  })
}

/** What a child knows of its parent. */
export function childParent(turn: Turn, { id, mode }: { id: number; mode: 'call' | 'start' }): Parent {
  return parentOf(turn, { step: id, ...(mode === 'call' && { awaits: true }) })
}

/** A child task of a batch. */
export function batchChild(turn: Turn, { task, step, ordinal, policy, item }: Spawn): NewTask {
  return newChild(turn, { ...policy, ...item, task, parent: parentOf(turn, { step, ordinal }) })
}

/** A child knows all tasks that wait for it, because it cannot wait for locks that they hold. */
function parentOf({ state }: Turn, place: Omit<Parent, 'task'>): Parent {
  const waits = place.awaits || place.ordinal !== undefined
  const above = waits && state.parent ? waitingParents(state.parent) : []
  return { task: state.id, ...place, ...(above.length > 0 && { above }) }
}

/** The task of a hook. It is listed among the task's children, but the task does not wait for it. */
export function hookTask(turn: Turn, { task, workflow, version, input }: HookTask): NewTask {
  return newChild(turn, { task, workflow, version, input, hookOf: turn.state.id })
}

interface ChildOrder {
  task: string
  workflow: string
  version: string
  input: Json
  priority?: number
  tags?: Record<string, string>
  metadata?: Readonly<Record<string, string>>
  completeWithin?: number
  exclusive?: readonly { key: string; ifHeld: IfHeld }[]
  parent?: Parent
  hooks?: HookOrder[]
  secrets?: readonly string[]
  hookOf?: string
}

/** Values that are not given are inherited from the parent. */
function newChild(
  { at, state }: Turn,
  { task, completeWithin, exclusive, hooks, secrets, ...rest }: ChildOrder,
): NewTask {
  const { workflow, version, input, priority, tags, parent, hookOf, metadata = state.metadata } = rest
  const secretTexts = state.secrets?.texts.within([input, metadata]) ?? []
  return taskOf({
    ...{ id: task, at },
    ...(hookOf !== undefined && { hookOf }),
    order: {
      ...(state.share && { share: state.share }),
      ...{ workflow, version, input },
      ...(priority !== undefined && { priority }),
      ...(tags && { tags }),
      ...(metadata && { metadata }),
      ...(completeWithin !== undefined && { completeBy: at + completeWithin }),
      ...(exclusive && { exclusive: [...exclusive] }),
      ...(parent && { parent }),
      ...(hooks && hooks.length > 0 && { hooks }),
      ...(secrets && { secrets: [...secrets] }),
      ...(secretTexts.length > 0 && { secretTexts }),
    },
  })
}

/** The events of the record. In a task's first record they follow the events of its submission. */
export function recordedEvents(draft: Draft | null, events: readonly TaskEvent[]): readonly TaskEvent[] {
  return draft ? [...draft.first, ...events] : events
}
