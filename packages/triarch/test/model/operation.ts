import { expect } from 'vitest'
import type { Reply } from '../../src/kernel/message.ts'
import type * as port from '../../src/store/port.ts'
import { type ListChoice, list } from '../store/listing.ts'
import { agreeOnClaims, agreeOnCommit, agreeOnKeys, agreeOnLetters, agreeOnWork, rowOf } from './agreement.ts'
import type { Choice, PostChoice, TaskChoice, TransitionChoice, WorkChoice } from './choice.ts'
import type { Reference } from './reference.ts'
import * as reference from './reference.ts'

/** One call of the store: made on the real one, then on the model, whose answers must agree. */
export interface Operation {
  call(store: port.StateStore): Promise<unknown>
  /** Throws when the model gives another answer. */
  check(model: Reference, answer: unknown): void
}

/** Turns what was drawn into a request: `owner`, `all` and the like become what they mean in this state. */
export function operation(model: Reference, choice: Choice): Operation {
  switch (choice.type) {
    case 'submit': {
      const ids = choice.tasks.map(({ id }) => id)
      const tasks = choice.tasks.map((task) => apart(taskOf(model, task), ids))
      return make(
        (store) => store.submit(tasks),
        (model, answer) => agreeOnKeys(model, reference.submit(model, tasks), answer),
      )
    }
    case 'commit': {
      const batch = choice.transitions.map((transition) => transitionOf(model, transition))
      return make(
        (store) => store.commit(batch),
        (model, answer) => agreeOnCommit(model, reference.commit(model, batch), answer),
      )
    }
    case 'post': {
      const posts = choice.posts.map((post) => postOf(model, post))
      return make(
        (store) => store.post(posts),
        (model, answer) => expect(answer).toEqual(reference.post(model, posts)),
      )
    }
    case 'claim': {
      const { node, limit } = choice
      const runnable = choice.runnable.map(([workflow, version]) => ({ workflow, version }))
      const request = { node, limit, runnable, trial: true }
      return make(
        (store) => store.claim(request),
        (model, answer) =>
          agreeOnClaims(
            model,
            reference.claim(
              model,
              request,
              answer.map(({ id }) => id),
            ),
            answer,
          ),
      )
    }
    case 'inbox':
      return make(
        (store) => store.inbox(choice.node, choice.limit),
        (model, answer) => agreeOnLetters(model, reference.inbox(model, choice.node), answer, choice.limit),
      )
    case 'takeWork': {
      const { node } = choice
      const agents = choice.agents.map(({ agent, acts, limit }) => ({
        agent,
        limit,
        actions: acts.map((act) => `${agent}.${act}`),
      }))
      const request = { node, agents }
      return make(
        (store) => store.takeWork(request),
        (model, answer) => agreeOnWork(reference.takeWork(model, request), answer),
      )
    }
    case 'reply': {
      const replies = choice.replies.map((it) => ({ ...attemptOf(model, it), message: replyOf(model, it) }))
      return make(
        (store) => store.reply(replies),
        (model, answer) => expect(answer).toEqual(reference.replied(model, replies)),
      )
    }
    case 'beatWork': {
      const beats = choice.beats.map((it) => ({
        ...attemptOf(model, it),
        message: it.told ? ({ type: 'heartbeat', step: 1, attempt: 1, progress: ++model.serial } as const) : null,
      }))
      return make(
        (store) => store.heartbeatWork(beats),
        (model, answer) => expect(answer).toEqual(reference.beatWork(model, beats)),
      )
    }
    case 'beat': {
      const { id, lease } = choice
      const beat = { id, lease, roles: ['scheduler', 'agent'] }
      return make(
        (store) => store.heartbeat(beat),
        (model, answer) => expect(answer).toBe(reference.beat(model, beat)),
      )
    }
    case 'leave':
      return make(
        (store) => store.leave(choice.node),
        (model) => reference.leave(model, choice.node),
      )
    case 'lead': {
      const { type: _, ...request } = choice
      return make(
        (store) => store.lead(request),
        (model, answer) => expect(answer).toBe(reference.lead(model, request)),
      )
    }
    case 'sweep': {
      const { name, limit } = choice
      const token = (model.leases.get(name)?.token ?? 1) + choice.token
      return make(
        (store) => swept(store, { name, token, limit }),
        (model, answer) => expect(answer).toEqual(reference.sweep(model, { name, token })),
      )
    }
    case 'list': {
      const { type: _, ...query } = choice
      return make(
        (store) => list(store, query),
        (model, answer) => expect(answer).toEqual(listed(model, query)),
      )
    }
  }
}

function make<Answer>(
  call: (store: port.StateStore) => Promise<Answer>,
  check: (model: Reference, answer: Answer) => void,
): Operation {
  return {
    call,
    check(model, answer) {
      check(model, answer as Answer)
    },
  }
}

/** In portions, until nothing is left: they must add up to one sweep of everything. */
async function swept(
  store: port.StateStore,
  request: { name: string; token: number; limit: number },
): Promise<port.SweepReport | null> {
  const sum: port.SweepReport = {
    deadNodes: [],
    releasedTasks: 0,
    expiredSteps: 0,
    overdueTasks: 0,
    schedules: false,
    more: false,
  }
  for (;;) {
    const report = await store.sweep(request)
    if (!report) return null
    sum.deadNodes.push(...report.deadNodes)
    sum.releasedTasks += report.releasedTasks
    sum.expiredSteps += report.expiredSteps
    sum.overdueTasks += report.overdueTasks
    if (!report.more) return { ...sum, deadNodes: sum.deadNodes.sort() }
  }
}

function listed(model: Reference, query: ListChoice): port.TaskRow[] {
  const { status, outcome: result, workflow, version, parent, tags = {}, after, limit, order } = query
  const oneOf = <T extends string>(given: T | readonly T[] | undefined, value: T) =>
    given === undefined || [given].flat().includes(value)
  const rows = [...model.tasks.values()].map(rowOf).sort((a, b) => (order === 'oldest' ? a.key - b.key : b.key - a.key))
  return rows
    .filter((row) => oneOf(status, row.status) && oneOf(result, row.result))
    .filter((row) => oneOf(workflow, row.workflow) && oneOf(version, row.version) && oneOf(parent, row.parent ?? ''))
    .filter((row) => Object.entries(tags).every(([name, value]) => row.tags[name] === value))
    .filter((row) => after === undefined || (order === 'oldest' ? row.key > after : row.key < after))
    .slice(0, limit)
}

// ---- requests --------------------------------------------------------------------------------------------------------

/** Nobody submits a task together with those it comes after: one of them may be refused. */
function apart(task: port.NewTask, ids: readonly string[]): port.NewTask {
  const { gates } = task
  return gates ? { ...task, gates: { ...gates, after: gates.after.filter((id) => !ids.includes(id)) } } : task
}

function taskOf(model: Reference, choice: TaskChoice): port.NewTask {
  const task = childOf(model, null, { ...choice, step: 0 })
  const { gates } = choice
  if (!gates) return task
  return { ...task, gates: { ...gates, locks: gates.locks.map((lock, index) => ({ ...lock, step: 0 - index })) } }
}

function childOf(model: Reference, parent: string | null, choice: TaskChoice & { step: number }): port.NewTask {
  const {
    id,
    workflow: [workflow, version],
    priority,
    tag,
    startIn,
    dueIn,
    step,
  } = choice
  const { now } = model
  const event = { type: 'submitted', workflow, version, input: ++model.serial }
  return {
    id,
    workflow,
    version,
    priority,
    tags: tag === null ? {} : { shop: tag },
    status: startIn === null ? 'pending' : 'scheduled',
    at: now,
    startAt: startIn === null ? null : now + startIn,
    deadline: dueIn === null ? null : now + dueIn,
    parent,
    ...(parent !== null && { parentStep: step }),
    events: JSON.stringify([parent === null ? event : { ...event, parent: { task: parent, step } }]),
  }
}

function postOf(model: Reference, { task, control }: PostChoice): port.Post {
  return { task, control, message: { type: 'event', name: `e${++model.serial}`, payload: null } }
}

function transitionOf(model: Reference, choice: TransitionChoice): port.Transition {
  const { create, stale, by, release } = choice
  const id = create ? create.id : choice.task
  const task = model.tasks.get(id)
  const made = create ? taskOf(model, { ...create, gates: null }) : null
  const mine = reference.lettersOf(model, id)
  const foreign = model.letters.filter((letter) => letter.task !== id)
  const consumed = { none: [], all: mine, first: mine.slice(0, 1), foreign: foreign.slice(0, 2) }[choice.consume]
  const at = model.now
  return {
    key: made ? null : stale === 'key' ? 1_000_000_007 : (task?.key ?? null),
    id,
    node: by ?? (made ? 'a' : (task?.lockedBy ?? 'a')),
    epoch: made ? 1 : (task?.epoch ?? 1) + (stale === 'epoch' ? -1 : stale === 'nextEpoch' ? 1 : 0),
    seq: made ? 1 : seqOf(task?.records.length ?? 0, choice),
    at,
    lastAt: null,
    events: made
      ? made.events
      : choice.append
        ? JSON.stringify([{ type: 'progressed', progress: ++model.serial }])
        : null,
    create: made,
    snapshot: choice.snapshot && snapshotOf(choice.snapshot, at),
    consumed: consumed.flatMap((letter) => letter.id ?? []),
    work: choice.work.map((work) => workOf(model, id, work)),
    withdraw: choice.withdraw,
    forget: choice.forget,
    children: choice.children.map((child) => childOf(model, id, child)),
    posts: choice.posts.map((post) => postOf(model, post)),
    ...(choice.gates && { gates: choice.gates }),
    release: release && {
      ready: release.ready,
      orphaned: release.orphaned,
      wakeAt: release.wakeIn === null ? null : at + release.wakeIn,
    },
    rebase: choice.rebase,
  }
}

/** That of the next record; of a transition without one, that of the last, or none. */
function seqOf(last: number, { append, stale }: TransitionChoice): number {
  if (stale === 'noSeq' && !append) return 0
  const wrong = stale === 'seq' ? -1 : stale === 'nextSeq' ? 1 : 0
  return last + (append ? 1 : 0) + wrong
}

function snapshotOf({ dueIn, ...rest }: NonNullable<TransitionChoice['snapshot']>, at: number): port.Snapshot {
  return { ...rest, deadline: dueIn === null ? null : at + dueIn }
}

function workOf(model: Reference, task: string, choice: WorkChoice): port.WorkRequest {
  const { step, attempt, agent, act, priority, completeWithin, heartbeatWithin, expiresIn } = choice
  const [operation, action] = ['run', `${agent}.${act}`] as const
  const input = ++model.serial
  return {
    ...{ step, operation, attempt, agent, action, priority, completeWithin, heartbeatWithin },
    expiresAt: expiresIn === null ? null : model.now + expiresIn,
    request: {
      task,
      step,
      operation,
      attempt,
      name: act,
      action,
      workflow: 'w',
      version: '1',
      idempotencyKey: 'k',
      input,
    },
  }
}

/** The n-th attempt that was ever taken and is still out; a number of none when there are fewer. */
function attemptOf(
  model: Reference,
  { work, by }: { work: number; by: string | null },
): { work: number; node: string } {
  const found = model.work.filter(({ id }) => id !== null)[work]
  return { work: found?.id ?? 1_000_000_007, node: by ?? found?.lockedBy ?? 'a' }
}

function replyOf(model: Reference, { work }: { work: number }): Reply {
  const { step = 1, attempt = 1 } = model.work.filter(({ id }) => id !== null)[work]?.request ?? {}
  const outcome = { kind: 'done', output: ++model.serial } as const
  return { type: 'reply', step, operation: 'run', attempt, outcome, startedAt: 1, endedAt: model.now, node: 'a' }
}
