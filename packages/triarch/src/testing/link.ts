import { TriarchError } from '../error/error.ts'
import type { StateStore, SweepReport, Transition } from '../store/port.ts'
import type { Machine } from './machine.ts'
import { type SharedStore, type StoreCall, storeOver } from './shared.ts'
import type { World } from './world.ts'

/** What the network and the store do to one call. Distances in ms. */
export interface Fate {
  /** On its way to the store, and back. */
  there: number
  back: number
  /**
   * `refused`: fails, and nothing was done. `busy`, `locked`: the same, for somebody has rows that it needs, or all. `unheard`: done, but the caller is told that it failed. `twice`: carried out,
   * and later again, as a sender does that got no answer: the second answer counts. `crash-before`, `crash-after`: the
   * caller dies, the call undone or done. `swallowed`, `unanswered`: no answer ever comes, the call undone or done.
   */
  fault?:
    | 'refused'
    | 'busy'
    | 'locked'
    | 'unheard'
    | 'twice'
    | 'crash-before'
    | 'crash-after'
    | 'swallowed'
    | 'unanswered'
  /** For `twice`: from the first time to the second. */
  again?: number
}

/** One call of one machine, the `index`-th of all. */
export interface Call {
  machine: Machine
  name: StoreCall | 'transact'
  args: readonly unknown[]
  index: number
}

type StoredCall = Call & { name: StoreCall }

export interface NetworkOptions {
  /** Decides what becomes of a call; no faults, no distance when not given. */
  fate?: (call: Call) => Fate
  /** Sees every call the store carried out. */
  observe?: (call: Call, answer: unknown) => void
  /** Told when a call cost its machine its life. */
  crashed?: (machine: Machine) => void
  /** Whether `changes` tells anything, as it does not in every store; true. */
  tellsChanges?: boolean
  /** How long a machine waits for an answer (ms); a minute when not given. */
  patience?: number
  /** Told when it no longer does. */
  unanswered?: (machine: Machine, call: string) => void
}

const near: Fate = { there: 0, back: 0 }
const changing: ReadonlySet<Call['name']> = new Set<StoreCall>([
  ...([
    'commit',
    'submit',
    'post',
    'claim',
    'takeWork',
    'reply',
    'heartbeatWork',
    'heartbeat',
    'leave',
    'sweep',
  ] as const),
  ...([
    'writeSchedule',
    'dropSchedule',
    'writeBreaker',
    'writeLogs',
    'writeSetting',
    'adoptWork',
    'declareDead',
  ] as const),
  ...(['writeAlert', 'settleAlertPost', 'writeKey', 'useKeys', 'writeProbes', 'writeSecret'] as const),
  ...(['quarantine', 'releaseQuarantine', 'clearSuspicion', 'terminate', 'truncate'] as const),
])

/** Errors that faults made: the engine may meet them, and report them. */
export class InjectedError extends TriarchError {}

/** Links machines to one store: calls take their time, get lost on the way, fail, or come twice. */
export class Network {
  /** Calls so far. */
  calls = 0
  readonly #world: World
  readonly #store: SharedStore
  readonly #options: NetworkOptions
  /** What others than the asking machine wrote, as `PRAGMA data_version` counts it. */
  #writes = 0
  readonly #own = new Map<Machine, number>()

  constructor(world: World, store: SharedStore, options: NetworkOptions = {}) {
    this.#world = world
    this.#store = store
    this.#options = options
  }

  /** The store as this machine sees it. */
  link(machine: Machine): StateStore {
    let open = false
    const carry = (name: StoreCall, args: readonly unknown[]) => {
      if (open) return this.#carry(machine, name, args)
      return Promise.reject(new TriarchError('STORE_CLOSED', 'the store is not open'))
    }
    const { patience, unanswered } = this.#options
    return {
      ...storeOver(carry),
      ...(patience !== undefined && { patience }),
      unanswered: (call) => unanswered?.(machine, call),
      async open() {
        open = true
      },
      async close() {
        open = false
      },
      async transact() {
        throw new TriarchError('STORE_TRANSACTION_INVALID', 'this store has no transactions for steps')
      },
      submitIn() {
        throw new TriarchError('STORE_TRANSACTION_INVALID', 'this store cannot submit in a transaction of yours')
      },
    }
  }

  #carry(machine: Machine, name: StoreCall, args: readonly unknown[]): Promise<unknown> {
    const call: StoredCall = { machine, name, args, index: ++this.calls }
    const fate = this.#options.fate?.(call) ?? near
    return new Promise((resolve, reject) => {
      if (fate.fault === 'crash-before') return this.#crash(machine)
      if (fate.fault === 'swallowed') return
      // Once it is sent it arrives, though its sender may have died meanwhile.
      this.#world.after(fate.there, name, () => this.#arrive(call, fate, { resolve, reject }))
    })
  }

  #arrive(call: StoredCall, fate: Fate, caller: { resolve(value: unknown): void; reject(error: Error): void }): void {
    const { fault } = fate
    const { machine, name } = call
    const answer = (act: () => void) => void this.#world.after(fate.back, `${name} answered`, act, machine)
    if (fault === 'refused' || fault === 'busy' || fault === 'locked') {
      const code = fault !== 'refused' ? 'STORE_BUSY' : failureOf(call)
      // Now and then rows of others were in the way: then a commit is to be parted, not given up.
      const details = fault === 'busy' && name === 'commit' && call.index % 2 === 0 ? { blocked: true } : undefined
      return answer(() =>
        caller.reject(new InjectedError(code, 'injected: nothing was done', { ...(details && { details }) })),
      )
    }
    const result = this.#perform(call)
    if (fault === 'unanswered') return
    if (fault === 'crash-after') return this.#crash(machine)
    if (fault === 'unheard') {
      return answer(() => caller.reject(new InjectedError('STORE_UNANSWERED', 'injected: done, but unheard')))
    }
    const settle = (outcome: unknown) =>
      answer(() => (outcome instanceof Error ? caller.reject(outcome) : caller.resolve(outcome)))
    if (fault !== 'twice') return settle(result)
    this.#world.after(fate.again ?? 0, `${name} again`, () => settle(this.#perform(call)))
  }

  #crash(machine: Machine): void {
    if (!machine.alive) return
    machine.crash()
    this.#options.crashed?.(machine)
  }

  #perform(call: StoredCall): unknown {
    const { machine, name, args } = call
    if (name === 'changes') {
      return this.#options.tellsChanges === false ? null : this.#writes - (this.#own.get(machine) ?? 0)
    }
    try {
      const answer = this.#store.perform(name, args)
      if (changing.has(name) && wrote(name, answer)) {
        this.#writes++
        this.#own.set(machine, (this.#own.get(machine) ?? 0) + 1)
      }
      this.#options.observe?.(call, answer)
      return answer
    } catch (error) {
      return error
    }
  }
}

/**
 * Of several records at once a store may also say that it cannot take them, as it does for the sake of one: then each is tried
 * alone. Not so of a single one, for that would be its own fault.
 */
function failureOf({ name, args, index }: Call): 'STORE_FAILED' | 'STORE_UNAVAILABLE' {
  const batch = name === 'commit' ? (args[0] as Transition[]) : []
  const records = batch.length > 1 && batch.every(({ events, create }) => events !== null || create !== null)
  return records && index % 3 === 0 ? 'STORE_FAILED' : 'STORE_UNAVAILABLE'
}

/** Whether the call found or changed something: a fault at any other is like one at the next that did. */
export function isMoment({ name }: Call, answer: unknown): boolean {
  if (name === 'claim' || name === 'takeWork' || name === 'inbox') return (answer as unknown[]).length > 0
  if (name === 'sweep') return answer !== null && foundSomething(answer as SweepReport)
  return moments.has(name)
}

const moments: ReadonlySet<Call['name']> = new Set<Call['name']>([
  ...(['commit', 'submit', 'post', 'reply', 'heartbeatWork', 'leave', 'transact'] as const),
  ...(['writeAlert', 'settleAlertPost'] as const),
])

function foundSomething({ deadNodes, releasedTasks, expiredSteps, overdueTasks }: SweepReport): boolean {
  return deadNodes.length + releasedTasks + expiredSteps + overdueTasks > 0
}

/** Idle polls change nothing. */
function wrote(name: Call['name'], answer: unknown): boolean {
  return !(name === 'claim' || name === 'takeWork') || (answer as unknown[]).length > 0
}
