/** What is drawn from one source of randomness. */
export interface Chance {
  yes(share: number): boolean
  /** 0 … bound - 1. */
  below(bound: number): number
  /** from … to. */
  between(from: number, to: number): number
  pick<T>(from: readonly T[]): T
  /** One to `most` of them. */
  some<T>(most: number, make: () => T): T[]
}

export function chanceOf(random: () => number): Chance {
  const below = (bound: number) => Math.floor(random() * bound)
  return {
    yes: (share) => random() < share,
    below,
    between: (from, to) => from + below(to - from + 1),
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    some: (most, make) => Array.from({ length: 1 + below(most) }, make),
  }
}
