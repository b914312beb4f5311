import type { Decision, Fact, Parent, TaskEvent } from './event.ts'
import type { ErrorRecord } from './json.ts'
import { returnMail } from './mailbox.ts'
import { requested, settled } from './plan.ts'
import type { Delivery, TaskState } from './state.ts'
import type { TaskResult } from './status.ts'
import { decided } from './step.ts'

/** What to do when somebody else holds the lock. */
export type IfHeld = 'queue' | 'reject' | 'replace'

/** A lock a task has, or waits for. The task's own keys have the ids 0, -1, …; others the id of the decision. */
export interface Lock {
  name: string
  ifHeld: IfHeld
  until: number | null
  /**
   * `new`: not asked for yet; `lost`: the task stopped meanwhile, and must have it again before it goes on; `reclaimed`: it
   * asked again; `refused`: it asked again in vain.
   */
  standing: 'new' | 'asked' | 'held' | 'lost' | 'reclaimed' | 'refused'
  /** The fencing number of its latest grant; absent: not granted yet, or by a version that gave none. */
  fence?: number
  /** The code knows that it has it: one that was only asked for when the task stopped is news to it, whenever it is granted. */
  told?: true
}

/** A task this one comes after. */
export interface Antecedent {
  on: 'success' | 'end'
  /** Null: it has not stopped yet; `unknown`: the store does not know it (any more). */
  result: TaskResult | 'unknown' | null
}

/** Claims and releases that the store is asked for, with the transition that decides them. */
export interface GateRequests {
  locks: { step: number; name: string; ifHeld: IfHeld; parents?: string[] }[]
  /** Locks given back, by the same number. */
  unlocks: number[]
}

type Submitted = Extract<Fact, { type: 'submitted' }>
export type GateEvent =
  | Extract<Decision, { type: 'lockRequested' | 'lockReleased' | 'withdrawn' }>
  | Extract<Fact, { type: 'keysRequested' | 'locked' | 'lockRefused' | 'thawed' | 'antecedentStopped' }>

export function newGate(state: TaskState, { exclusive = [], after = [], frozen }: Submitted): void {
  state.frozen = frozen === true
  for (const { task, on } of after) state.antecedents.set(task, { on, result: null })
  for (const [index, { key, ifHeld }] of exclusive.entries()) {
    state.locks.set(-index, { name: key, ifHeld, until: null, standing: 'new' })
  }
}

/** The part of the fold that is about gates. */
export function applyGate(state: TaskState, event: GateEvent, deliver: (delivery: Delivery) => void): void {
  switch (event.type) {
    case 'lockRequested':
      decided(state, event.id)
      if (state.plan) requested(state.plan, event.id)
      state.locks.set(event.id, { name: event.name, ifHeld: 'queue', until: event.until, standing: 'asked' })
      return
    case 'keysRequested':
      for (const lock of keysOf(state)) if (lock.standing !== 'held') lock.standing = 'asked'
      return
    case 'locked': {
      const lock = state.locks.get(event.id)
      if (!lock) return
      lock.standing = 'held'
      if (event.fence !== undefined) lock.fence = event.fence
      if (event.id <= 0 || lock.told) return
      lock.told = true
      return deliver({ id: event.id, ok: true, value: event.fence ?? null })
    }
    case 'lockRefused': {
      const lock = state.locks.get(event.id)
      if (lock?.standing === 'reclaimed') {
        lock.standing = 'refused'
        return
      }
      if (event.id <= 0) return
      state.locks.delete(event.id)
      return deliver({ id: event.id, ok: false, reason: 'lock', error: event.error })
    }
    case 'lockReleased':
      state.locks.delete(event.lock)
      if (!state.plan || event.id === undefined) return
      requested(state.plan, event.id)
      return settled(state.plan, event.id, null)
    case 'withdrawn':
      return withdraw(state, event, deliver)
    case 'thawed':
      state.frozen = false
      if (event.startAt !== undefined) state.startAt = event.startAt
      return
    case 'antecedentStopped': {
      const antecedent = state.antecedents.get(event.task)
      if (antecedent) antecedent.result = event.result ?? 'unknown'
    }
  }
}

/** What an event asks of the store. */
export function requestsOf(state: TaskState, event: TaskEvent, requests: GateRequests): void {
  const { locks, unlocks } = requests
  switch (event.type) {
    case 'lockRequested':
      return ask(state, requests, event.id, event.name)
    case 'keysRequested':
      for (const [step, { name, ifHeld, standing }] of state.locks)
        if (step <= 0 && standing === 'asked') ask(state, requests, step, name, ifHeld)
      return
    case 'paused':
      if (event.reason !== 'lock') return
      for (const [step, { name, standing }] of state.locks)
        if (standing === 'reclaimed') ask(state, requests, step, name)
      return
    case 'stopped':
      // The store frees all it has; what was asked for in the same breath must not come after that.
      locks.length = 0
      unlocks.length = 0
      return
    case 'lockReleased':
      return giveBack(requests, event.lock)
    case 'withdrawn':
      if (event.lock) giveBack(requests, event.id)
      return
    case 'lockRefused':
      unlocks.push(event.id)
  }
}

function ask(state: TaskState, { locks }: GateRequests, step: number, name: string, ifHeld: IfHeld = 'queue'): void {
  const parents = state.parent ? waitingParents(state.parent) : []
  locks.push({ step, name, ifHeld, ...(parents.length > 0 && { parents }) })
}

/** What is asked for in the same breath is not asked for: the store gives back first. */
export function giveBack({ locks, unlocks }: GateRequests, id: number): void {
  const asked = locks.findIndex(({ step }) => step === id)
  if (asked >= 0) locks.splice(asked, 1)
  unlocks.push(id)
}

/** Nobody listens to it: the line before the lock goes on without the task, an event goes to who waits for one. */
function withdraw(
  state: TaskState,
  { id, lock, event }: Extract<GateEvent, { type: 'withdrawn' }>,
  deliver: (delivery: Delivery) => void,
): void {
  if (lock) state.locks.delete(id)
  else state.waits.delete(id)
  const wait = event && returnMail(state, event)
  if (event && wait !== undefined) deliver({ id: wait, ok: true, value: event.payload })
}

/** Most of those above that a task knows: who stands higher up is not seen by a search for circles. */
const MOST_PARENTS = 32

/** The tasks that wait for the end of a task with this parent, the nearest first. */
export function waitingParents({ task, ordinal, awaits, above = [] }: Parent): string[] {
  return awaits || ordinal !== undefined ? [task, ...above].slice(0, MOST_PARENTS) : []
}

/** The highest fencing number of the locks the task holds: what guards a resource takes it for that of the lock. */
export function fenceOf(state: TaskState): number | undefined {
  let highest: number | undefined
  for (const { standing, fence } of state.locks.values())
    if (standing === 'held' && fence !== undefined && fence > (highest ?? 0)) highest = fence
  return highest
}

/** The task's own, which it must have to begin. */
export function keysOf(state: TaskState): Lock[] {
  return [...state.locks].flatMap(([id, lock]) => (id <= 0 ? [lock] : []))
}

/** The store gave all of them to others when the task stopped. */
export function loseLocks(state: TaskState): void {
  for (const lock of state.locks.values()) if (lock.standing !== 'new') lock.standing = 'lost'
}

/** It asks for them again; after a pause also for those it was refused. */
export function reclaimed(state: TaskState): void {
  for (const lock of state.locks.values()) {
    if (lock.standing === 'lost' || lock.standing === 'refused') lock.standing = 'reclaimed'
  }
}

/** A new run keeps the task's own keys, and nothing else; what it came after is over. */
export function restartGate(state: TaskState, held: boolean): void {
  state.frozen = false
  state.antecedents.clear()
  for (const [id, lock] of state.locks) {
    if (id > 0) state.locks.delete(id)
    else lock.standing = held ? 'held' : 'lost'
  }
}

/** Locks it must have again before anything goes on. */
export function missingLocks(state: TaskState): Lock[] {
  const gone = new Set<Lock['standing']>(['lost', 'reclaimed', 'refused'])
  return [...state.locks.values()].filter(({ standing }) => gone.has(standing))
}

/** Only a letter lets it begin. */
export function isGated(state: TaskState): boolean {
  if (state.begun || state.unwinding || state.status === 'stopped') return false
  return state.frozen || awaited(state).length > 0 || keysOf(state).some(({ standing }) => standing === 'asked')
}

/** The tasks it comes after that have not stopped. */
export function awaited(state: TaskState): string[] {
  return [...state.antecedents].flatMap(([task, { result }]) => (result === null ? [task] : []))
}

/** Why the task cannot follow those it comes after; null: it can. */
export function failedAntecedent(state: TaskState): ErrorRecord | null {
  for (const [task, { on, result }] of state.antecedents) {
    if (on === 'end' || result === null || result === 'success' || result === 'warning') continue
    const how = result === 'unknown' ? 'is not known (any more)' : `ended as ${result}`
    const message = `task "${task}", which this one comes after, ${how}`
    return { name: 'TriarchError', code: 'ANTECEDENT_FAILED', message, details: { task, result } }
  }
  return null
}
