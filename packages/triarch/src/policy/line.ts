/** Instants count from here (ms since the epoch), so that ranks fit 32 bits for 68 years. */
const ORIGIN = Date.UTC(2026, 0, 1)
/** What waits for less longer than another is its equal (ms): those stand in the order in which they came. */
const GRAIN = 1_000
const HIGHEST = 2 ** 31 - 1

/**
 * The place of what waits since `since` where each span of `ageing` that it waits is worth one level of priority. At any instant the order
 * by priority and age, `priority + (now - since) / ageing`, is the order by `priority * ageing - since`, for now is the same for
 * all: a number that never changes. Higher first, as priorities are.
 */
export function agedRank(priority: number, since: number, ageing: number): number {
  const rank = Math.round((priority * ageing - (since - ORIGIN)) / GRAIN)
  return Math.max(-HIGHEST, Math.min(HIGHEST, rank))
}
