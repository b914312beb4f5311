import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, get, isLockedOut } from './client.ts'
import { answers, follow, isPaused, isSilent } from './live.ts'

/** What is known of an answer. While it is asked for again, the last one stays. */
export interface Query<T> {
  value: T | null
  error: ApiError | null
  reload: () => void
}

/** However much happens, what is shown is asked for again no more often than this (ms). */
const PACE = 400
/** Where no stream tells of changes (ms). */
const POLL = 3_000

interface QueryState {
  once?: boolean
  often?: boolean
  since?: number
  read?: (path: string, signal: AbortSignal) => Promise<unknown>
}

/**
 * Asks, and asks again whenever the stream tells of something; null as a path: not now. `stream` null: from time to time, or only `once`.
 * `often`: from time to time even so, for what no stream tells of.
 * Asked again, too, when `since` is another. `read`: how, the same function each time. Nothing is asked while the server wants to know who we are: what is shown stays.
 */
export function useQuery<T>(
  path: string | null,
  stream: string | null = null,
  { once = false, often = false, since = 0, read = get }: QueryState = {},
): Query<T> {
  const [state, set] = useState<{ path: string | null; value: T | null; error: ApiError | null }>(none)
  const again = useRef<() => void>(() => undefined)
  const isOut = isLockedOut.value
  useEffect(() => {
    if (path === null || isOut) return
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | null = null
    let isAsking = false
    let isWanted = false
    const ask = async () => {
      timer = null
      if (isAsking) {
        isWanted = true
        return
      }
      isAsking = true
      isWanted = false
      try {
        const value = (await read(path, end.signal)) as T
        if (!end.signal.aborted) set({ path, value, error: null })
        if (stream === null) answers(true)
      } catch (error) {
        if (!end.signal.aborted && isSilent(error as ApiError)) answers(false)
        if (!end.signal.aborted)
          set((old) => ({ path, value: old.path === path ? old.value : null, error: error as ApiError }))
      }
      isAsking = false
      if (isWanted && !end.signal.aborted) hear()
    }
    const hear = () => {
      if (!isPaused.value) timer ??= setTimeout(() => void ask(), PACE)
    }
    again.current = () => void ask()
    void ask()
    const poll = often || (stream === null && !once) ? setInterval(hear, POLL) : null
    if (stream !== null) void follow(stream, hear, end.signal)
    // What happened meanwhile is asked for once.
    const goesOn = isPaused.subscribe((it) => {
      if (!it && !once && timer === null && !isAsking) hear()
    })
    return () => {
      end.abort()
      goesOn()
      if (timer !== null) clearTimeout(timer)
      if (poll !== null) clearInterval(poll)
    }
  }, [path, stream, once, often, since, read, isOut])
  const { value, error } = state.path === path ? state : none
  return { value, error, reload: () => again.current() }
}

const none = { path: null, value: null, error: null }
