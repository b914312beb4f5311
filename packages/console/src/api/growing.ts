import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from './client.ts'
import { useQuery } from './query.ts'

/** What only ever grows at its end, such as a history, as far as it was read. */
export interface Growing<T> {
  rows: readonly T[]
  /** Nothing is left to be read, as far as is known. */
  isWhole: boolean
  error: ApiError | null
  /** Reads on where it stopped for there was so much. */
  more: () => void
  reload: () => void
}

interface Part<T> {
  rows: readonly T[]
  /** Where the next one begins. */
  after: number
  isLast: boolean
}

/** Read by itself; so many more each time somebody asks for them. */
export const MANY = 5_000

/**
 * Reads parts one after the other: `path` and where to begin. What is there is not asked for again: when `since` is another, or from time
 * to time with `polls`, only what came meanwhile. Null as a path: not now.
 */
export function useGrowing<A, T>(
  path: string | null,
  partOf: (answer: A) => Part<T>,
  { since = 0, polls = false, most = MANY } = {},
): Growing<T> {
  const [state, set] = useState({ path, rows: [] as readonly T[], after: 0, isLast: false, most })
  const known = state.path === path ? state : { path, rows: [], after: 0, isLast: false, most }
  const isFull = known.rows.length >= known.most && !known.isLast
  const at = path === null || isFull ? null : `${path}${path.includes('?') ? '&' : '?'}after=${known.after}`
  const part = useQuery<A>(at, null, { once: !polls, since })
  useEffect(() => {
    if (!part.value) return
    const { rows, after, isLast } = partOf(part.value)
    if (rows.length === 0 && known.isLast) return
    set({ ...known, rows: rows.length === 0 ? known.rows : [...known.rows, ...rows], after, isLast: isLast })
  }, [part.value])
  return {
    ...{ rows: known.rows, isWhole: known.isLast, error: part.error, reload: part.reload },
    more: () => set({ ...known, most: known.rows.length + most }),
  }
}
