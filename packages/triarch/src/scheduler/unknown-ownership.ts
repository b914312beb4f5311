import type { OwnedTask, StateStore } from '../store/port.ts'

/** Rows that are compared at a time: so many cost nothing worth counting, and with more of them the others come next. */
const PAGE = 500

/** The round that is under way, a whole one, and one look more at what that found last. */
const ROUNDS = 3

export interface UnknownOwnershipOptions {
  store: Pick<StateStore, 'owned'>
  node: string
  /** Whether the task is here. */
  has: (id: string) => boolean
  /** A claim is under way: what it took is owned already and not here yet. */
  claiming: () => boolean
  giveBack: (task: OwnedTask) => void
}

/**
 * Tasks that the store says are this node's, though it does not have them: a store that went back may have lost no more than
 * that they were given back. Nobody else takes what has a living owner.
 */
export class UnknownOwnership {
  readonly #options: UnknownOwnershipOptions
  /** Those of the last look, by key: what is under way is over until the next. */
  #suspects = new Map<number, OwnedTask>()
  #after = 0
  /** How often the end must still be reached, for each row to have been compared since something was written last. */
  #left = 0

  constructor(options: UnknownOwnershipOptions) {
    this.#options = options
  }

  /**
   * Compares the next page, and gives back what was astray the last time and still is; where something was, the store went
   * back, and all the other pages come at once. `fresh`: something was written lately. Long after that only what is left
   * of the round is compared.
   */
  async look(fresh: boolean): Promise<void> {
    const { has, claiming, giveBack } = this.#options
    if (fresh) this.#left = ROUNDS
    if (this.#left === 0 || claiming()) return
    const astray = [...this.#suspects.values()].filter(({ id }) => !has(id))
    this.#suspects.clear()
    for (const suspect of astray) giveBack(suspect)
    // What it finds is looked at once more.
    if (astray.length > 0) this.#left = ROUNDS
    do await this.#compare()
    while (astray.length > 0 && this.#after > 0)
    if (this.#after === 0) this.#left--
  }

  async #compare(): Promise<void> {
    const { store, node, has } = this.#options
    const rows = await store.owned({ node, after: this.#after, limit: PAGE })
    this.#after = rows.length < PAGE ? 0 : (rows.at(-1)?.key ?? 0)
    for (const row of rows) if (!has(row.id)) this.#suspects.set(row.key, row)
  }
}
