import {
  type CommitOutcome,
  type Creation,
  countedName,
  type NewTask,
  type Snapshot,
  type Transition,
} from 'triarch/store'
import { booleans, integers, texts } from './arrays.ts'
import { type GateOperation, gatesOfTask, tagsText, taskArrays } from './submit.ts'

/** The call that writes a batch, and its parameters. */
export type CommitCall = [name: 'commit' | 'commit_one', given: unknown[]]

/**
 * Chooses the call for a batch. A single transition of an existing task with at most a record, a changed row and one
 * request is written by `commit_one`, which needs half of the server's processor time of `commit`, whose parameters are
 * arrays.
 */
export function commitCall(batch: readonly Transition[]): CommitCall {
  const [first] = batch
  if (first && first.key !== null && batch.length === 1 && isPlain(first)) {
    return ['commit_one', changeOf(first, first.key)]
  }
  return ['commit', commitArguments(batch)]
}

function isPlain({ work, withdraw, forget, children, posts, rebase, release }: Transition): boolean {
  return (
    !rebase &&
    !release?.awaits &&
    work.length <= 1 &&
    [withdraw, forget, children, posts].every(({ length }) => length === 0)
  )
}

/** The parameters of `triarch.commit_one`, in its order. */
function changeOf(given: Transition, key: number) {
  const { id, node, epoch, seq, at, lastAt, events, consumed, snapshot, release, work } = given
  return [
    ...[key, id, node, epoch, seq, at, lastAt, events, consumed.length > 0 ? integers(consumed) : null],
    ...snapshotValues(snapshot),
    ...[release?.wakeAt, release?.ready, release?.orphaned],
    ...workValues(work[0]),
  ]
}

function workValues(it: Transition['work'][number] | undefined) {
  const request = it && JSON.stringify(it.request)
  return [
    ...[it?.step, it?.operation, it?.attempt, it?.agent, it?.action, it?.priority],
    ...[it?.completeWithin, it?.heartbeatWithin, it?.expiresAt, request],
  ]
}

function snapshotValues(it: Snapshot | null) {
  return [it?.status, it?.result, it?.failures, it?.deadline, it?.progress, it?.output, it?.error, it?.pause]
}

/** The parameters of `triarch.commit`, in its order. */
export function commitArguments(batch: readonly Transition[]): Buffer[] {
  const parts = split(batch)
  const { creates, changes, consumed, work, withdraw, forget, children, posts } = parts
  return [
    integers(batch, ({ key }) => key),
    // The id of a task that is created here is among the creations.
    texts(batch, ({ id, create }) => (create ? null : id)),
    nodesOf(batch),
    integers(batch, ({ epoch }) => epoch),
    integers(batch, ({ seq }) => seq),
    integers(batch, ({ at }) => at),
    integers(batch, ({ lastAt }) => lastAt),
    texts(batch, ({ events }) => events),
    ...createArrays(creates),
    integers(changes.flatMap(({ it }) => (it.release && it.key !== null ? [it.key] : []))),
    ...changeArrays(changes),
    integers(consumed, ({ of }) => of),
    integers(consumed, ({ it }) => it),
    integers(work, ({ of }) => of),
    integers(work, ({ it }) => it.step),
    texts(work, ({ it }) => it.operation),
    integers(work, ({ it }) => it.attempt),
    texts(work, ({ it }) => it.agent),
    texts(work, ({ it }) => it.action),
    integers(work, ({ it }) => it.priority),
    integers(work, ({ it }) => it.completeWithin),
    integers(work, ({ it }) => it.heartbeatWithin),
    integers(work, ({ it }) => it.expiresAt),
    texts(work, ({ it }) => JSON.stringify(it.request)),
    integers(withdraw, ({ of }) => of),
    integers(withdraw, ({ it }) => it),
    integers(forget, ({ of }) => of),
    integers(forget, ({ it }) => it),
    integers(children, ({ of }) => of),
    integers(children, ({ it }) => it.parentStep ?? 0),
    ...taskArrays(children.map(({ it }) => it)),
    integers(posts, ({ of }) => of),
    texts(posts, ({ it }) => it.task),
    booleans(posts, ({ it }) => it.control),
    texts(posts, ({ it }) => it.message.type),
    texts(posts, ({ it }) => countedName(it.message)),
    texts(posts, ({ it }) => JSON.stringify(it.message)),
  ]
}

/** Returns the node of each transition; a single one if it is the same for all. */
function nodesOf(batch: readonly Transition[]): Buffer {
  const [first] = batch
  const one = first && batch.every(({ node }) => node === first.node)
  return texts(one ? [first.node] : batch.map(({ node }) => node))
}

const REFUSALS = ['fenced', 'exists', 'lost'] as const

/** Parses the answer: the task's key, 0: fenced, -1: exists, -2: lost. */
export function commitOutcomes(answer: string): CommitOutcome[] {
  return answer.split(',').map((text) => {
    const key = Number(text)
    if (key > 0) return { ok: true, key }
    return { ok: false, reason: REFUSALS[-key] ?? 'fenced' }
  })
}

/** Returns what `triarch.gate` has to do after the transitions are written; null: nothing. */
export function gatesOfBatch(batch: readonly Transition[]): string | null {
  const operations: GateOperation[] = []
  batch.forEach(({ children, gates, at, id }, index) => {
    const of = index + 1
    for (const child of children)
      operations.push(...gatesOfTask(child, { of, parent: id, step: child.parentStep ?? 0 }))
    for (const step of gates?.unlocks ?? []) operations.push({ op: 'unlock', of, step, at })
    for (const lock of gates?.locks ?? []) operations.push({ op: 'lock', of, ...lock, at })
  })
  return operations.length > 0 ? JSON.stringify(operations) : null
}

/** An entry of the transition at this position (from 1). */
interface Part<T> {
  of: number
  it: T
}

type Creating = Transition & { create: Creation }

interface Parts {
  creates: Part<Creating>[]
  changes: Part<Transition>[]
  consumed: Part<number>[]
  work: Part<Transition['work'][number]>[]
  withdraw: Part<number>[]
  forget: Part<number>[]
  children: Part<NewTask>[]
  posts: Part<Transition['posts'][number]>[]
}

function split(batch: readonly Transition[]): Parts {
  const empty = { consumed: [], work: [], withdraw: [], forget: [], children: [], posts: [] }
  const parts: Parts = { creates: [], changes: [], ...empty }
  batch.forEach((transition, index) => {
    const of = index + 1
    const { create, snapshot, rebase, release } = transition
    if (create) parts.creates.push({ of, it: transition as Creating })
    // A created task has its snapshot from the start.
    if (release || (!create && (snapshot || rebase))) parts.changes.push({ of, it: transition })
    add(parts.consumed, of, transition.consumed)
    add(parts.work, of, transition.work)
    add(parts.withdraw, of, transition.withdraw)
    add(parts.forget, of, transition.forget)
    add(parts.children, of, transition.children)
    add(parts.posts, of, transition.posts)
  })
  return parts
}

function add<T>(parts: Part<T>[], of: number, items: readonly T[]): void {
  for (let index = 0; index < items.length; index++) parts.push({ of, it: items[index] as T })
}

function createArrays(creates: readonly Part<Creating>[]): Buffer[] {
  const tasks = creates.map(({ it }) => it.create)
  return [
    integers(creates, ({ of }) => of),
    texts(tasks, ({ id }) => id),
    texts(tasks, ({ workflow }) => workflow),
    texts(tasks, ({ version }) => version),
    integers(tasks, ({ priority }) => priority),
    texts(tasks, ({ parent }) => parent),
    texts(tasks, tagsText),
    integers(tasks, ({ at }) => at),
    nodesOf(creates.map(({ it }) => it)),
    integers(creates, ({ it }) => it.epoch),
    integers(creates, ({ it }) => it.at),
    ...snapshotArrays(creates.map(({ it }) => it.snapshot ?? freshSnapshot(it.create))),
  ]
}

function changeArrays(changes: readonly Part<Transition>[]): Buffer[] {
  return [
    integers(changes, ({ of }) => of),
    booleans(changes, ({ it }) => it.snapshot !== null),
    ...snapshotArrays(changes.map(({ it }) => it.snapshot)),
    booleans(changes, ({ it }) => it.rebase),
    booleans(changes, ({ it }) => it.release !== null),
    integers(changes, ({ it }) => it.release?.wakeAt),
    booleans(changes, ({ it }) => it.release?.ready ?? false),
    booleans(changes, ({ it }) => it.release?.orphaned ?? false),
    texts(changes, ({ it }) => it.release?.awaits && JSON.stringify(it.release.awaits)),
  ]
}

function snapshotArrays(snapshots: readonly (Snapshot | null)[]): Buffer[] {
  return [
    texts(snapshots, (it) => it?.status),
    texts(snapshots, (it) => it?.result),
    integers(snapshots, (it) => it?.failures),
    integers(snapshots, (it) => it?.deadline),
    texts(snapshots, (it) => it?.progress),
    texts(snapshots, (it) => it?.output),
    texts(snapshots, (it) => it?.error),
    texts(snapshots, (it) => it?.pause),
  ]
}

function freshSnapshot({ status, deadline }: Creation): Snapshot {
  return { status, result: 'pending', failures: 0, deadline, progress: null, output: null, error: null, pause: null }
}
