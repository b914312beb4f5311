import { useEffect, useRef, useState } from 'preact/hooks'
import { type Api, type ApiError, get } from '../api/client.ts'
import type { Task } from '../api/types.ts'

/** Of each page behind the one that is watched. */
const LIMIT = 500

const none: readonly Task[] = []

interface NextPage {
  filter: string
  tasks: readonly Task[]
  next: string | undefined
}

/**
 * What comes behind the page that is watched; another filter has other pages. Where tasks come in at the front, the watched page
 * ends earlier than it did: what it no longer reaches stays, and what was never reached is asked for, so that the list has no hole.
 */
export function useLater(filter: string, watched: Api['TaskPage'] | null) {
  const [state, set] = useState<NextPage | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const asking = useRef<AbortController | null>(null)
  const last = useRef<Api['TaskPage'] | null>(null)
  const isHoled = useRef(false)
  useEffect(
    () => () => {
      asking.current?.abort()
      asking.current = null
      last.current = null
      isHoled.current = false
      setError(null)
    },
    [filter],
  )
  const known = state?.filter === filter ? state : null
  const next = known ? known.next : watched?.next

  const read = async (cursor: string, add: (page: Api['TaskPage'], old: NextPage | null) => NextPage) => {
    if (asking.current) return
    const end = new AbortController()
    asking.current = end
    setError(null)
    try {
      const said = new URLSearchParams({ filter, limit: String(LIMIT), cursor })
      const page = await get<Api['TaskPage']>(`/tasks?${said}`, end.signal)
      if (!end.signal.aborted) set((old) => add(page, old?.filter === filter ? old : null))
    } catch (failed) {
      if (!end.signal.aborted) setError(failed as ApiError)
    }
    if (asking.current !== end) return
    asking.current = null
    mend()
  }
  const mend = () => {
    const cursor = last.current?.next
    if (!isHoled.current || cursor === undefined || asking.current) return
    isHoled.current = false
    void read(cursor, (page, old) => ({
      filter,
      // More came in than a page holds: what was read before is too far away to be shown as what comes next.
      ...(old && isMet(page.tasks, old.tasks)
        ? { tasks: [...page.tasks, ...old.tasks], next: old.next }
        : { tasks: page.tasks, next: page.next }),
    }))
  }
  useEffect(() => {
    const before = last.current
    last.current = watched
    if (!known || !before || !watched) return
    if (watched.next === undefined) return set(null)
    isHoled.current ||= !isMet(watched.tasks, [...before.tasks, ...known.tasks])
    if (isHoled.current) return mend()
    const left = beyond(before.tasks, watched.tasks)
    if (left.length > 0) set((old) => old && { ...old, tasks: [...left, ...old.tasks] })
  }, [watched])

  const more = () =>
    next !== undefined &&
    void read(next, (page, old) => ({ filter, tasks: [...(old?.tasks ?? none), ...page.tasks], next: page.next }))
  return { tasks: known?.tasks ?? none, next, more, error }
}

function isMet(some: readonly Task[], others: readonly Task[]): boolean {
  const there = new Set(some.map(({ id }) => id))
  return others.some(({ id }) => there.has(id))
}

/**
 * Those of a page, newest first, that stand behind all of the page as it is now. What is gone from its midst fits no more; of a
 * list that begins with the oldest nothing is left behind, for what comes in stands at its end.
 */
function beyond(before: readonly Task[], now: readonly Task[]): readonly Task[] {
  const [first, last] = [now[0], now.at(-1)]
  if (!first || !last || first.submittedAt < last.submittedAt) return none
  const there = new Set(now.map(({ id }) => id))
  return before.filter(({ id, submittedAt }) => submittedAt <= last.submittedAt && !there.has(id))
}
