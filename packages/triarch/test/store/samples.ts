import type { Outcome, Reply } from '../../src/kernel/message.ts'
import { UNCHANGED } from '../../src/scheduler/transition.ts'
import type { Claim, NewTask, Snapshot, StateStore, Transition, WorkRequest } from '../../src/store/port.ts'

export const flow = { workflow: 'flow', version: '1' }

export function newTask(id: string, change: Partial<NewTask> = {}): NewTask {
  const { parent = null, parentStep = 1 } = change
  const child = parent === null ? {} : { parent: { task: parent, step: parentStep } }
  const events = JSON.stringify([{ type: 'submitted', ...flow, input: id, ...child }])
  const rest = { priority: 0, tags: {}, status: 'pending', at: 1_800_000_000_000, startAt: null } as const
  const task = { id, ...flow, ...rest, deadline: null, parent, events, ...change }
  return parent === null ? task : { ...task, parentStep }
}

/** The next record of a claimed task; `claim` may be any owner, right or wrong. */
export function transition(
  claim: Pick<Claim, 'key' | 'id' | 'epoch'> & { node?: string },
  change: Partial<Transition> = {},
): Transition {
  return {
    ...UNCHANGED,
    key: claim.key,
    id: claim.id,
    node: claim.node ?? 'a',
    epoch: claim.epoch,
    seq: 2,
    at: 1_800_000_000_001,
    events: '[{"type":"started"}]',
    ...change,
  }
}

export function creation(task: NewTask, change: Partial<Transition> = {}): Transition {
  return transition(
    { key: 0, id: task.id, epoch: 1 },
    { key: null, seq: 1, events: task.events, create: task, ...change },
  )
}

export function snapshot(change: Partial<Snapshot> = {}): Snapshot {
  const payloads = { progress: null, output: null, error: null, pause: null }
  return { status: 'running', result: 'pending', failures: 0, deadline: null, ...payloads, ...change }
}

export const stopped: Snapshot = snapshot({ status: 'stopped', result: 'success', output: '"done"' })

export function workRequest(task: string, step: number, change: Partial<WorkRequest> = {}): WorkRequest {
  const [operation, attempt, action] = ['run', 1, 'pay.charge'] as const
  return {
    step,
    operation,
    attempt,
    agent: 'pay',
    action,
    priority: 0,
    completeWithin: 1_000,
    heartbeatWithin: null,
    expiresAt: null,
    request: {
      workflow: 'order',
      version: '1',
      task,
      step,
      operation,
      attempt,
      name: 'charge',
      action,
      idempotencyKey: 'k',
      input: { step },
    },
    ...change,
  }
}

/** A transition's request of its first step. */
export function asking(task: string, change: Partial<WorkRequest> = {}): Pick<Transition, 'work'> {
  return { work: [workRequest(task, 1, change)] }
}

export const letter = (name: string) => ({ type: 'event', name, payload: 1 }) as const

export function replyTo(step: number, outcome: Outcome = { kind: 'done', output: step }): Reply {
  return { type: 'reply', step, operation: 'run', attempt: 1, outcome, startedAt: 1, endedAt: 2, node: 'a' }
}

export const released = { wakeAt: null, ready: false, orphaned: false }

/** Claims all there is, as this node. */
export function claimAll(store: StateStore, node = 'a', runnable = [flow], limit = 1_000): Promise<Claim[]> {
  return store.claim({ node, runnable, limit })
}

/** Submits one task and claims it. */
export async function owned(store: StateStore, id = 't', node = 'a', change: Partial<NewTask> = {}): Promise<Claim> {
  await store.submit([newTask(id, change)])
  const claims = await claimAll(store, node)
  const claim = claims.find((it) => it.id === id)
  if (!claim) throw new Error(`${id} could not be claimed`)
  return claim
}
