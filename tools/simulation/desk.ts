import type { DatabaseSync } from 'node:sqlite'
import { TriarchError } from '../../packages/triarch/src/error/error.ts'
import { UnknownOutcomeError } from '../../packages/triarch/src/error/step-error.ts'
import type { StepContext } from '../../packages/triarch/src/index.ts'
import type { EffectOutcome, StateStore } from '../../packages/triarch/src/store/port.ts'
import { Transactions } from '../../packages/triarch/src/store/sqlite/transactions.ts'
import {
  type CallInterference,
  InjectedError,
  type LinkCall,
  type SimulatedNetwork,
} from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { dated, type Evidence, forced, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Entry } from '../../packages/triarch/test/crash/ledger.ts'
import type { Vault } from './vault.ts'

interface Means {
  world: World
  vault: Vault
  network: SimulatedNetwork
  fate: (call: LinkCall) => CallInterference
  crashed: (machine: Machine) => void
}

type Transact = StateStore['transact']

/**
 * Transactions of users on the one store of a world: SQLite's own, as the engine runs them, one at a time. Whoever else
 * comes while one is open finds the store busy; one whose machine dies is rolled back.
 */
export class Desk {
  readonly #means: Means
  #holder: Machine | null = null

  constructor(means: Means) {
    this.#means = means
  }

  /** Whether a transaction is open. */
  get open(): boolean {
    return this.#held()
  }

  /** For every other call: throws while somebody's transaction is open. */
  check(): void {
    if (this.#held()) throw new InjectedError('STORE_BUSY', "injected: somebody's transaction is open")
  }

  /** The store as this machine sees it, with transactions. */
  link(machine: Machine, store: StateStore): StateStore {
    const { vault, network } = this.#means
    const transactions = new Transactions(machine, 1_000, () => vault.database)
    return {
      ...store,
      transact: (effect, bounds, body) => {
        const call: LinkCall = { machine, name: 'transact', args: [effect], index: ++network.calls }
        const begin = () => transactions.transact(effect, bounds, (tx) => body(tx))
        return this.#carry(call, begin)
      },
    }
  }

  #carry(call: LinkCall, begin: () => ReturnType<Transact>): Promise<EffectOutcome> {
    const { world, fate: fateOf } = this.#means
    const { machine, name } = call
    const { there, back, fault } = fateOf(call)
    return new Promise((resolve, reject) => {
      const answer = (act: () => void) => void world.after(back, `${name} answered`, act, machine)
      const arrive = () => {
        if (this.#held()) return void world.after(1, name, arrive, machine)
        if (fault === 'refused' || fault === 'busy') {
          const code = fault === 'busy' ? 'STORE_BUSY' : 'STORE_UNAVAILABLE'
          return answer(() => reject(new InjectedError(code, 'injected: nothing was done')))
        }
        this.#holder = machine
        begin().then(
          (outcome) => {
            this.#holder = null
            if (fault === 'crash-after') return this.#crash(machine)
            if (fault === 'unheard') return answer(() => reject(new UnknownOutcomeError('injected: done, but unheard')))
            answer(() => resolve(outcome))
          },
          (error: Error) => {
            this.#holder = null
            answer(() => reject(error))
          },
        )
      }
      if (fault === 'crash-before') return this.#crash(machine)
      world.after(there, name, arrive, machine)
    })
  }

  #crash(machine: Machine): void {
    if (!machine.alive) return
    machine.crash()
    this.#means.crashed(machine)
  }

  /** Whether a transaction is open; that of a machine that died is over. */
  #held(): boolean {
    if (this.#holder && !this.#holder.alive) this.#end()
    return this.#holder !== null
  }

  #end(): void {
    const { database } = this.#means.vault
    if (database.connection.isTransaction) database.run('ROLLBACK')
    this.#holder = null
  }
}

/** A user's write; a transaction that is over takes none. */
export function write(tx: DatabaseSync, step: StepContext, kind: 'run' | 'undo'): void {
  if (!tx.isTransaction) throw new TriarchError('TRANSACTION_ENDED', 'the transaction is over')
  const { taskId, stepId, idempotencyKey } = step
  tx.prepare('INSERT INTO world_effects (task, step, key, kind) VALUES (?, ?, ?, ?)').run(
    ...[taskId, stepId, idempotencyKey, kind],
  )
}

/** What a user wrote in a transaction that was committed. */
export interface Written {
  task: string
  step: number
  key: string
  kind: 'run' | 'undo'
}

/** As services write it down. */
export function entryOf({ task, step, key, kind }: Written): Entry {
  const entry = {
    key: key.replace(/:undo$/, ''),
    action: 'transaction',
    task,
    step,
    attempt: 0,
    at: 0,
    pid: 0,
    zombie: false,
  }
  return { ...entry, kind: kind === 'run' ? 'effect' : 'undo', operation: kind, note: '' }
}

/** Each takes effect exactly as often as the history says. */
export function effects({ tasks }: Evidence, written: readonly Written[]): string[] {
  const twice = Map.groupBy(written, ({ key, kind }) => `${kind} ${key}`)
  const byTask = Map.groupBy(written, ({ task }) => task)
  return [
    ...[...twice].filter(([, all]) => all.length > 1).map(([name, all]) => `${name} took effect ${all.length} times`),
    ...tasks.flatMap((story) => (rewound(story) ? [] : unequal(story, byTask.get(story.row.id) ?? []))),
  ]
}

function unequal(story: Story, written: readonly Written[]): string[] {
  const [run, undo, waived, known] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Set<number>(),
    new Set(),
  ]
  for (const { event } of dated(story)) {
    if (event.type === 'stepRequested' && event.action === null && event.name === 'transaction') known.add(event.id)
    if (!('id' in event) || !known.has(event.id)) continue
    if ('by' in event && event.by === 'operator') waived.add(event.id)
    if (event.type === 'stepCompleted') run.set(event.id, (run.get(event.id) ?? 0) + 1)
    if (event.type === 'undone') undo.set(event.id, (undo.get(event.id) ?? 0) + 1)
  }
  const steps = new Set([...known, ...written.map(({ step }) => step)] as number[])
  return [...steps].flatMap((id) => {
    // Who stops a task by force does not wait for what is under way.
    if (waived.has(id) || forced(story)) return []
    return (
      [
        ['run', run],
        ['undo', undo],
      ] as const
    ).flatMap(([kind, recorded]) => {
      const there = written.filter((one) => one.step === id && one.kind === kind).length
      const said = recorded.get(id) ?? 0
      return there === said
        ? []
        : [`${story.row.id}: ${kind} of step ${id} is recorded ${said} times and took effect ${there} times`]
    })
  })
}
