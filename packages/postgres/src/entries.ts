import type { Message, RequestMark } from 'triarch/store'

/** A reply or heartbeat of a node for a request it took. */
export interface NodeEntry {
  node: string
  work: number
  of?: RequestMark
  message: Message | null
}

interface Placed<T> {
  /** Its index among all entries. */
  place: number
  it: T
}

/** Groups entries by node, each group in the order of the requests' ids, which is that of their index. */
export function byNode<T extends NodeEntry>(entries: readonly T[]): Map<string, Placed<T>[]> {
  const nodes = new Map<string, Placed<T>[]>()
  for (const [place, it] of entries.entries()) {
    const own = nodes.get(it.node)
    if (own) own.push({ place, it })
    else nodes.set(it.node, [{ place, it }])
  }
  for (const own of nodes.values()) own.sort((a, b) => a.it.work - b.it.work)
  return nodes
}
