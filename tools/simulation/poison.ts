import { isTriarchError, TriarchError } from '../../packages/triarch/src/error/error.ts'
import type { QuarantineEntry, Transition } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { StoreCall } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import type { PoisonPlan } from './plan.ts'
import type { Vault } from './vault.ts'

/** Commits of one task that the store may be asked to take in vain. */
const IN_VAIN = 60

/** Times that one task may be quarantined: a store that loses the answer is asked again, and operators give one more chance. */
const MOST_APART = 30

/** Stands before a record that nobody can read. */
const UNREADABLE = '?'

/** A record as it was, for who judges. */
export function asWritten(events: string): string {
  return events.startsWith(UNREADABLE) ? events.slice(UNREADABLE.length) : events
}

/** Tasks that the store does not take, or cannot give back: they are to be quarantined, and nobody else. */
export class Poison {
  readonly faults: string[] = []
  /** Tasks that nothing can be said of but that they ended. */
  readonly tasks: ReadonlySet<string>
  readonly #world: World
  readonly #outgrown: (one: QuarantineEntry) => boolean
  readonly #vault: Vault
  readonly #refused: ReadonlyMap<string, number>
  readonly #inVain = new Map<string, number>()
  readonly #spoilt = new Set<number>()
  readonly #apart = new Map<string, number>()
  /** A task is quarantined again and again: the run would last for hours. */
  hopeless = false

  /** `outgrown`: whether a task is too large for every node. */
  constructor(
    world: World,
    vault: Vault,
    plans: readonly PoisonPlan[],
    outgrown: (one: QuarantineEntry) => boolean = () => false,
  ) {
    this.#outgrown = outgrown
    this.#world = world
    this.#vault = vault
    this.tasks = new Set(plans.map(({ task }) => task))
    this.#refused = new Map(plans.flatMap(({ kind, task, at }) => (kind === 'refused' ? [[task, world.now + at]] : [])))
    for (const { kind, task, at } of plans)
      if (kind === 'unreadable') world.after(at, 'poison', () => this.#spoil(task))
  }

  /** Throws for a batch that has a record of such a task in it, as a store does: it takes all or nothing. */
  readonly before = (call: StoreCall, args: readonly unknown[]): void => {
    if (call !== 'commit' || this.#refused.size === 0) return
    for (const { id, events } of args[0] as Transition[]) {
      const from = events === null ? undefined : this.#refused.get(id)
      if (from === undefined || this.#world.now < from) continue
      const times = (this.#inVain.get(id) ?? 0) + 1
      this.#inVain.set(id, times)
      if (times === IN_VAIN) this.faults.push(`${id} was tried ${times} times, and the store takes nothing of it`)
      throw new TriarchError('STORE_FAILED', 'injected: a row cannot be written')
    }
  }

  readonly observe = ({ name, args }: LinkCall): void => {
    if (name !== 'quarantine') return
    const one = args[0] as QuarantineEntry
    const { id } = one
    const times = (this.#apart.get(id) ?? 0) + 1
    this.#apart.set(id, times)
    if (times === MOST_APART) {
      this.hopeless = true
      this.faults.push(`${id} was quarantined ${times} times`)
    }
    if (!this.tasks.has(id) && !this.#outgrown(one))
      this.faults.push(`${id} was quarantined, and nothing is wrong with it`)
  }

  #spoil(task: string): void {
    const { database } = this.#vault
    const row = database.get<{ key: number }>('SELECT key FROM triarch_tasks WHERE id = ?', task)
    if (!row) return void this.#world.after(50, 'poison', () => this.#spoil(task))
    this.#spoilt.add(row.key)
    database.run(`UPDATE triarch_history SET events = '${UNREADABLE}' || events WHERE task = ?`, row.key)
    this.#world.note(`what is written of ${task} cannot be read any more`)
  }

  /** Whether a node may report this. */
  explains(error: unknown): boolean {
    return this.#spoilt.size > 0 && isTriarchError(error, 'HISTORY_CORRUPT')
  }

  /** For who judges. */
  restore(): void {
    const mend = `UPDATE triarch_history SET events = substr(events, 2) WHERE task = ? AND events GLOB '[${UNREADABLE}]*'`
    for (const key of this.#spoilt) this.#vault.database.run(mend, key)
  }

  /** Without what is known of such tasks. */
  without(evidence: Evidence): Evidence {
    const { database } = this.#vault
    const apart = database.all<{ key: number }>('SELECT key FROM triarch_tasks WHERE quarantined = 1')
    const unread = new Set(apart.map(({ key }) => key))
    return {
      ...evidence,
      // What was quarantined after it had stopped is read by nobody, and no operator decides about it.
      inbox: evidence.inbox.filter((letter) => !unread.has((letter as { task: number }).task)),
      accepted: evidence.accepted.filter((id) => !this.tasks.has(id)),
      emitted: Object.fromEntries(Object.entries(evidence.emitted).filter(([id]) => !this.tasks.has(id))),
      tasks: evidence.tasks.filter(({ row }) => !this.tasks.has(row.id)),
      ledger: evidence.ledger.filter(({ task }) => !this.tasks.has(task)),
    }
  }
}
