import type { NodeRow } from '../store/port.ts'

/** Largest number of deaths that are remembered, and of nodes whose places are known. */
const MOST = 1_000
/**
 * A node that started up to this long before a death was found (ms) may be the replacement, because a death is only found when a lease
 * ends.
 */
const REPLACED = 120_000

/** The death of a node: its place, and when it was found (ms since the epoch). */
interface Death {
  place: string
  at: number
}

/**
 * Deaths of nodes that this leader knows: those that its own sweep found, and those found by a process that restarted on the same machine.
 * A place is a machine or, if that is unknown, the node's labels: a node that was declared dead continues under another id at the same
 * place.
 */
export class Deaths {
  /** The places of living nodes, by node. */
  readonly #places = new Map<string, string>()
  /** By node, in the order of detection. */
  readonly #deaths = new Map<string, Death>()
  /** When the newest living node of each place started. */
  #started = new Map<string, number>()
  #unplaced: string[] = []

  /** Adds nodes that the leader's sweep found dead. */
  add(ids: readonly string[]): void {
    this.#unplaced = [...this.#unplaced, ...ids].slice(-MOST)
  }

  /** Takes the living nodes. A node that died before it was seen here has no place and is not counted. */
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

  /** The number of deaths since then, by place. */
  since(from: number): [place: string, times: number][] {
    return this.#recent(from).map(([place, all]) => [place, all.length])
  }

  /** Places where a node died since then and none has started afterwards: the number of deaths, and when the last one was found. */
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
