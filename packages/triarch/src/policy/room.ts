/**
 * How many entries a node may add to a queue with a bound over all nodes before it reads the length again: half of what is free, because
 * other nodes have read the same length. `waiting`: the length that was read, plus entries of this node that it may not include. A single
 * node never exceeds the bound; `n` nodes that read at the same moment exceed it by at most `n / 2 - 1` times what was free.
 */
export function roomIn(most: number, waiting: number): number {
  return Math.max(0, Math.ceil((most - waiting) / 2))
}
