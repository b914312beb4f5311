import type { OwnedTask, StateStore } from '../store/port.ts'

/** Rows that are compared at a time: so many cost nothing worth counting, and with more of them the others come next. */
const PAGE = 500

export interface StrayOptions {
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
export class Strays {
  readonly #options: StrayOptions
  /** Those of the last look, by key: what is under way is over until the next. */
  #suspects = new Map<number, OwnedTask>()
  #after = 0

  constructor(options: StrayOptions) {
    this.#options = options
  }

  /** Compares the next page, and gives back what was astray the last time and still is. */
  async look(): Promise<void> {
    const { store, node, has, claiming, giveBack } = this.#options
    if (claiming()) return
    const suspects = [...this.#suspects.values()]
    this.#suspects.clear()
    for (const suspect of suspects) if (!has(suspect.id)) giveBack(suspect)
    const rows = await store.owned({ node, after: this.#after, limit: PAGE })
    this.#after = rows.length < PAGE ? 0 : (rows.at(-1)?.key ?? 0)
    for (const row of rows) if (!has(row.id)) this.#suspects.set(row.key, row)
  }
}
