import type { Message, RequestMark } from 'triarch/store'

/** What a node has to say of a request it took. */
export interface NodeEntry {
  node: string
  work: number
  of?: RequestMark
  message: Message | null
}

interface Placed<T> {
  /** Where it stands among all. */
  place: number
  it: T
}

/** The entries of each node in the order of the requests' ids: that of their index. */
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
