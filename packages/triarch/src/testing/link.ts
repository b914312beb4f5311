import { TriarchError } from '../error/error.ts'
import type { StateStore, SweepReport, Transition } from '../store/port.ts'
import type { Machine } from './machine.ts'
import { type SharedStore, type StoreCall, storeOver } from './shared.ts'
import type { World } from './world.ts'

/** What happens to one call on the network and in the store. Times in ms. */
export interface CallInterference {
  /** Time to the store, and back. */
  there: number
  back: number
  /**
   * `refused`: fails without effect. `busy`, `locked`: the same, because needed rows, or all, are locked. `unheard`: takes effect, but the
   * caller gets an error. `twice`: carried out, and later again, as by a sender that got no answer; the second answer counts.
   * `crash-before`, `crash-after`: the caller dies before or after the effect. `swallowed`, `unanswered`: no answer ever comes, without or
   * with an effect.
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
  /** For `twice`: time between the two. */
  again?: number
}

/** One call of one machine, the `index`-th of all. */
export interface LinkCall {
  machine: Machine
  name: StoreCall | 'transact'
  args: readonly unknown[]
  index: number
}

type StoredCall = LinkCall & { name: StoreCall }

export interface NetworkOptions {
  /** Decides what happens to a call; by default there are no faults and no delays. */
  fate?: (call: LinkCall) => CallInterference
  /** Called with every call that the store carried out. */
  observe?: (call: LinkCall, answer: unknown) => void
  /** Called when a call crashed its machine. */
  crashed?: (machine: Machine) => void
  /** Whether `changes` works, which is not so in every store; true. */
  tellsChanges?: boolean
  /** How long a machine waits for an answer (ms); a minute when not given. */
  patience?: number
  /** Called when the machine gives up waiting. */
  unanswered?: (machine: Machine, call: string) => void
}

const near: CallInterference = { there: 0, back: 0 }
const changing: ReadonlySet<LinkCall['name']> = new Set<StoreCall>([
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

/** Errors caused by faults; the engine may get and report them. */
export class InjectedError extends TriarchError {}

/** Connects machines to one store: calls take time, get lost, fail, or arrive twice. */
export class SimulatedNetwork {
  /** Number of calls so far. */
  calls = 0
  readonly #world: World
  readonly #store: SharedStore
  readonly #options: NetworkOptions
  /** Number of writes, for `changes`, which excludes those of the asking machine as `PRAGMA data_version` does. */
  #writes = 0
  readonly #own = new Map<Machine, number>()

  constructor(world: World, store: SharedStore, options: NetworkOptions = {}) {
    this.#world = world
    this.#store = store
    this.#options = options
  }

  /** The store as seen by this machine. */
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
      // A call that was sent arrives, even if its sender has died meanwhile.
      this.#world.after(fate.there, name, () => this.#arrive(call, fate, { resolve, reject }))
    })
  }

  #arrive(
    call: StoredCall,
    fate: CallInterference,
    caller: { resolve(value: unknown): void; reject(error: Error): void },
  ): void {
    const { fault } = fate
    const { machine, name } = call
    const answer = (act: () => void) => void this.#world.after(fate.back, `${name} answered`, act, machine)
    if (fault === 'refused' || fault === 'busy' || fault === 'locked') {
      const code = fault !== 'refused' ? 'STORE_BUSY' : failureOf(call)
      // Sometimes the error says that single rows were locked; then the commit must be divided instead of given up.
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
 * A store may also refuse several records at once because of one of them; then each must be tried alone. A single record is not refused
 * like this, because that would be its own fault.
 */
function failureOf({ name, args, index }: LinkCall): 'STORE_FAILED' | 'STORE_UNAVAILABLE' {
  const batch = name === 'commit' ? (args[0] as Transition[]) : []
  const records = batch.length > 1 && batch.every(({ events, create }) => events !== null || create !== null)
  return records && index % 3 === 0 ? 'STORE_FAILED' : 'STORE_UNAVAILABLE'
}

/** Whether the call found or changed something. A fault at another call has the same effect as at the next one that did. */
export function isMoment({ name }: LinkCall, answer: unknown): boolean {
  if (name === 'claim' || name === 'takeWork' || name === 'inbox') return (answer as unknown[]).length > 0
  if (name === 'sweep') return answer !== null && foundSomething(answer as SweepReport)
  return moments.has(name)
}

const moments: ReadonlySet<LinkCall['name']> = new Set<LinkCall['name']>([
  ...(['commit', 'submit', 'post', 'reply', 'heartbeatWork', 'leave', 'transact'] as const),
  ...(['writeAlert', 'settleAlertPost'] as const),
])

function foundSomething({ deadNodes, releasedTasks, expiredSteps, overdueTasks }: SweepReport): boolean {
  return deadNodes.length + releasedTasks + expiredSteps + overdueTasks > 0
}

/** Whether the call changed something; idle polls do not. */
function wrote(name: LinkCall['name'], answer: unknown): boolean {
  return !(name === 'claim' || name === 'takeWork') || (answer as unknown[]).length > 0
}
