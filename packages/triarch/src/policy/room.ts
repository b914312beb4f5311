/**
 * How many a node may let into a line that is bounded over all nodes, until it reads it again: half of what is free, for others have read it,
 * too. `waiting`: as it was read, and what the node has let in that may not have been seen. So one node never goes over the bound; and
 * `n` of them that all read at the same moment, by no more than `n / 2 - 1` times what was free.
 */
export function roomIn(most: number, waiting: number): number {
  return Math.max(0, Math.ceil((most - waiting) / 2))
}
