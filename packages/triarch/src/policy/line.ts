/** Instants are counted from here (ms since the epoch), so that ranks fit 32 bits for 68 years. */
const ORIGIN = Date.UTC(2026, 0, 1)
/** Differences in waiting time below this (ms) do not matter; such entries keep the order of arrival. */
const GRAIN = 1_000
const HIGHEST = 2 ** 31 - 1

/**
 * The rank of an entry that has waited since `since`, if each span of `ageing` is worth one level of priority. The order by priority and
 * age, `priority + (now - since) / ageing`, is at any instant the order by `priority * ageing - since`, because `now` is the same for all;
 * this number never changes. Higher ranks come first, as higher priorities do.
 */
export function agedRank(priority: number, since: number, ageing: number): number {
  const rank = Math.round((priority * ageing - (since - ORIGIN)) / GRAIN)
  return Math.max(-HIGHEST, Math.min(HIGHEST, rank))
}
