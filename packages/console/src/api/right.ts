import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Api, get, isLockedOut } from './client.ts'

export type Right = Api['Principal']['rights'][number]

/** So long after no answer came it is asked again (ms). */
const AGAIN = 3_000

/** Who asks, once the server has said so; one answer for the whole page. */
export const principal = signal<Api['Principal'] | null>(null)
let isAsking = false
let isOld = true

async function ask(): Promise<void> {
  if (isAsking || !isOld) return
  isAsking = true
  isOld = false
  try {
    principal.value = await get<Api['Principal']>('/principal')
  } catch {
    isOld = true
    // Meanwhile the server refuses what may not be done. Who is let in at the door asks by that.
    if (!isLockedOut.value) setTimeout(() => void ask(), AGAIN)
  }
  isAsking = false
}

/** Somebody else may come in at the door; until they do, what is behind it stays as it is. */
isLockedOut.subscribe((it) => {
  if (it) isOld = true
})

/** What who asks may do; null until the server has said so: it is refused there in any case. */
export function useRights(): readonly Right[] | null {
  const isOut = isLockedOut.value
  useEffect(() => {
    if (!isOut) void ask()
  }, [isOut])
  return principal.value?.rights ?? null
}

/** Whether who asks may do that; true until the server has said so: it is refused there in any case. */
export function useRight(right: Right): boolean {
  return useRights()?.includes(right) ?? true
}
