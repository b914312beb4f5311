import type { NodeRow } from '../store/port.ts'

/** Deaths that are remembered, and nodes of which it is known where they ran. */
const MOST = 1_000
/** A node that started so long before a death was found (ms) may be what replaces it: a death is found when a lease ends. */
const REPLACED = 120_000

/** A node that died: where, and when it was found (ms since the epoch). */
interface Death {
  place: string
  at: number
}

/**
 * Deaths of nodes, as far as this leader knows them: those that its own sweep found, and those that a process found which started again on
 * the same machine. A node that was taken for dead lives on under another id; its machine stays the same, and where the machine is not known, its labels.
 */
export class Deaths {
  /** Where living nodes run, by node. */
  readonly #places = new Map<string, string>()
  /** By node, in the order in which they were found. */
  readonly #deaths = new Map<string, Death>()
  /** By place: when its newest living node started. */
  #started = new Map<string, number>()
  #unplaced: string[] = []

  /** The leader's sweep found them. */
  add(ids: readonly string[]): void {
    this.#unplaced = [...this.#unplaced, ...ids].slice(-MOST)
  }

  /** `nodes`: those that live now. A node that died before anybody looked at it is not counted. */
  know(nodes: readonly NodeRow[], now: number): void {
    for (const id of this.#unplaced) {
      const place = this.#places.get(id)
      if (place !== undefined) this.#note(id, { place, at: now })
    }
    this.#unplaced = []
    for (const { runs } of nodes) for (const { id, host, at } of runs?.buried ?? []) this.#note(id, { place: host, at })
    this.#places.clear()
    this.#started = new Map()
    for (const node of nodes.slice(0, MOST)) {
      const place = placeOf(node)
      if (place === undefined) continue
      this.#places.set(node.id, place)
      this.#started.set(place, Math.max(node.startedAt, this.#started.get(place) ?? 0))
    }
  }

  /** How many died since then, by place. */
  since(from: number): [place: string, times: number][] {
    return this.#recent(from).map(([place, all]) => [place, all.length])
  }

  /** Places where a node died since then and no other has started since: how many died, and when the last one was found. */
  lost(from: number): { place: string; times: number; at: number }[] {
    return this.#recent(from).flatMap(([place, all]) => {
      const at = Math.max(...all.map((death) => death.at))
      const isReplaced = (this.#started.get(place) ?? 0) > at - REPLACED
      return isReplaced ? [] : [{ place, times: all.length, at }]
    })
  }

  #recent(from: number): [place: string, deaths: Death[]][] {
    const recent = [...this.#deaths.values()].filter(({ at }) => at > from)
    return [...Map.groupBy(recent, ({ place }) => place)]
  }

  #note(id: string, death: Death): void {
    if (this.#deaths.has(id)) return
    this.#deaths.set(id, death)
    if (this.#deaths.size <= MOST) return
    const [oldest = ''] = this.#deaths.keys()
    this.#deaths.delete(oldest)
  }
}

function placeOf({ place, runs }: NodeRow): string | undefined {
  const labels = Object.entries(runs?.labels ?? {}).map(([name, value]) => `${name}=${value}`)
  return place?.host ?? (labels.length > 0 ? labels.sort().join(',') : undefined)
}
