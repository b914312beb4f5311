import type { OwnedTask, StateStore } from '../store/port.ts'

/** Rows compared in one call. A node that owns more rows compares the rest in later calls. */
const PAGE = 500

/** Rounds to finish after the last write: the one under way, a complete one, and one that checks again what that one found. */
const ROUNDS = 3

export interface UnknownOwnershipOptions {
  store: Pick<StateStore, 'owned'>
  node: string
  /** Whether the task is in this node's memory. */
  has: (id: string) => boolean
  /** A claim is under way: its tasks are already owned but not in memory yet. */
  claiming: () => boolean
  giveBack: (task: OwnedTask) => void
}

/**
 * Finds tasks that the store assigns to this node but that this node does not have: a store that went back may have lost just their
 * release. No other node claims a task whose owner is alive, so they must be given back.
 */
export class UnknownOwnership {
  readonly #options: UnknownOwnershipOptions
  /** Suspects of the last check, by key. Whatever was still in flight then is over by the next check. */
  #suspects = new Map<number, OwnedTask>()
  #after = 0
  /** Rounds left until every row has been compared since the last write. */
  #left = 0

  constructor(options: UnknownOwnershipOptions) {
    this.#options = options
  }

  /**
   * Compares the next page, and gives back the suspects of the last check that are still unknown here. If there were any, the store went
   * back, and all remaining pages are compared at once. `fresh`: something was written lately; otherwise only the rounds left are
   * finished.
   */
  async look(fresh: boolean): Promise<void> {
    const { has, claiming, giveBack } = this.#options
    if (fresh) this.#left = ROUNDS
    if (this.#left === 0 || claiming()) return
    const astray = [...this.#suspects.values()].filter(({ id }) => !has(id))
    this.#suspects.clear()
    for (const suspect of astray) giveBack(suspect)
    // What this round finds must be checked once more.
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
