import type { NodeRow } from '../store/port.ts'

/** Deaths that are remembered, and nodes of which it is known where they ran. */
const MOST = 1_000

/**
 * Where nodes died, as far as this leader saw it. A node that was taken for dead lives on under another id: its machine stays the same, and where
 * that is not known, its labels.
 */
export class Deaths {
  readonly #places = new Map<string, string>()
  readonly #seen: { place: string; at: number }[] = []
  #unplaced: string[] = []

  /** The leader's sweep found them. */
  add(ids: readonly string[]): void {
    this.#unplaced = [...this.#unplaced, ...ids].slice(-MOST)
  }

  /** Those that live now: where they run. Nodes that died before anybody looked are not counted. */
  know(nodes: readonly NodeRow[], now: number): void {
    for (const id of this.#unplaced) {
      const place = this.#places.get(id)
      if (place !== undefined) this.#seen.push({ place, at: now })
    }
    this.#unplaced = []
    this.#seen.splice(0, Math.max(0, this.#seen.length - MOST))
    this.#places.clear()
    for (const { id, place, runs } of nodes.slice(0, MOST)) {
      const labels = Object.entries(runs?.labels ?? {}).map(([name, value]) => `${name}=${value}`)
      const where = place?.host ?? (labels.length > 0 ? labels.sort().join(',') : undefined)
      if (where !== undefined) this.#places.set(id, where)
    }
  }

  /** How many by place. */
  since(from: number): [place: string, times: number][] {
    const recent = this.#seen.filter(({ at }) => at > from)
    return [...Map.groupBy(recent, ({ place }) => place)].map(([place, all]) => [place, all.length])
  }
}
