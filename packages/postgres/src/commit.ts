import type { CommitOutcome, Creation, NewTask, Snapshot, Transition } from 'triarch/store'
import { booleans, integers, texts } from './arrays.ts'
import { type GateOperation, gatesOfTask, tagsText, taskArrays } from './submit.ts'

/** The parameters of `triarch.commit`, in its order. */
export function commitArguments(batch: readonly Transition[]): Buffer[] {
  const parts = split(batch)
  const { creates, changes, consumed, work, withdraw, forget, children, posts } = parts
  return [
    integers(batch.map(({ key }) => key)),
    texts(batch.map(({ id }) => id)),
    texts(batch.map(({ node }) => node)),
    integers(batch.map(({ epoch }) => epoch)),
    integers(batch.map(({ seq }) => seq)),
    integers(batch.map(({ at }) => at)),
    integers(batch.map(({ lastAt }) => lastAt)),
    texts(batch.map(({ events }) => events)),
    ...createArrays(creates),
    integers(changes.flatMap(({ it }) => (it.release && it.key !== null ? [it.key] : []))),
    ...changeArrays(changes),
    integers(consumed.map(({ of }) => of)),
    integers(consumed.map(({ it }) => it)),
    integers(work.map(({ of }) => of)),
    integers(work.map(({ it }) => it.step)),
    texts(work.map(({ it }) => it.operation)),
    integers(work.map(({ it }) => it.attempt)),
    texts(work.map(({ it }) => it.agent)),
    texts(work.map(({ it }) => it.action)),
    integers(work.map(({ it }) => it.priority)),
    integers(work.map(({ it }) => it.completeWithin)),
    integers(work.map(({ it }) => it.heartbeatWithin)),
    integers(work.map(({ it }) => it.expiresAt)),
    texts(work.map(({ it }) => JSON.stringify(it.request))),
    integers(withdraw.map(({ of }) => of)),
    integers(withdraw.map(({ it }) => it)),
    integers(forget.map(({ of }) => of)),
    integers(forget.map(({ it }) => it)),
    integers(children.map(({ of }) => of)),
    integers(children.map(({ it }) => it.parentStep ?? 0)),
    ...taskArrays(children.map(({ it }) => it)),
    integers(posts.map(({ of }) => of)),
    texts(posts.map(({ it }) => it.task)),
    booleans(posts.map(({ it }) => it.control)),
    texts(posts.map(({ it }) => JSON.stringify(it.message))),
  ]
}

/** The outcomes out of the answer: the task's key, 0: fenced, -1: exists. */
export function commitOutcomes(answer: string): CommitOutcome[] {
  return answer.split(',').map((text) => {
    const key = Number(text)
    if (key > 0) return { ok: true, key }
    return { ok: false, reason: key === 0 ? 'fenced' : 'exists' }
  })
}

/** What `triarch.gate` is to do once the transitions are written; null: nothing. */
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

/** One entry of the transition at this position (from 1). */
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
    // What is created has its snapshot from the start.
    if (release || (!create && (snapshot || rebase))) parts.changes.push({ of, it: transition })
    for (const it of transition.consumed) parts.consumed.push({ of, it })
    for (const it of transition.work) parts.work.push({ of, it })
    for (const it of transition.withdraw) parts.withdraw.push({ of, it })
    for (const it of transition.forget) parts.forget.push({ of, it })
    for (const it of transition.children) parts.children.push({ of, it })
    for (const it of transition.posts) parts.posts.push({ of, it })
  })
  return parts
}

function createArrays(creates: readonly Part<Creating>[]): Buffer[] {
  const tasks = creates.map(({ it }) => it.create)
  return [
    integers(creates.map(({ of }) => of)),
    texts(tasks.map(({ id }) => id)),
    texts(tasks.map(({ workflow }) => workflow)),
    texts(tasks.map(({ version }) => version)),
    integers(tasks.map(({ priority }) => priority)),
    texts(tasks.map(({ parent }) => parent)),
    texts(tasks.map(tagsText)),
    integers(tasks.map(({ at }) => at)),
    texts(creates.map(({ it }) => it.node)),
    integers(creates.map(({ it }) => it.epoch)),
    integers(creates.map(({ it }) => it.at)),
    ...snapshotArrays(creates.map(({ it }) => it.snapshot ?? freshSnapshot(it.create))),
  ]
}

function changeArrays(changes: readonly Part<Transition>[]): Buffer[] {
  return [
    integers(changes.map(({ of }) => of)),
    booleans(changes.map(({ it }) => it.snapshot !== null)),
    ...snapshotArrays(changes.map(({ it }) => it.snapshot)),
    booleans(changes.map(({ it }) => it.rebase)),
    booleans(changes.map(({ it }) => it.release !== null)),
    integers(changes.map(({ it }) => it.release?.wakeAt)),
    booleans(changes.map(({ it }) => it.release?.ready ?? false)),
    booleans(changes.map(({ it }) => it.release?.orphaned ?? false)),
  ]
}

function snapshotArrays(snapshots: readonly (Snapshot | null)[]): Buffer[] {
  return [
    texts(snapshots.map((it) => it?.status)),
    texts(snapshots.map((it) => it?.result)),
    integers(snapshots.map((it) => it?.failures)),
    integers(snapshots.map((it) => it?.deadline)),
    texts(snapshots.map((it) => it?.progress)),
    texts(snapshots.map((it) => it?.output)),
    texts(snapshots.map((it) => it?.error)),
    texts(snapshots.map((it) => it?.pause)),
  ]
}

function freshSnapshot({ status, deadline }: Creation): Snapshot {
  return { status, result: 'pending', failures: 0, deadline, progress: null, output: null, error: null, pause: null }
}
