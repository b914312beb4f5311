import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Api, get, isLockedOut } from './client.ts'

export type Right = Api['Principal']['rights'][number]

/** Who asks, once the server has said so; one answer for the whole page. */
const principal = signal<Api['Principal'] | null>(null)
let isAsking = false

async function ask(): Promise<void> {
  if (isAsking || principal.value) return
  isAsking = true
  try {
    principal.value = await get<Api['Principal']>('/principal')
  } catch {
    // Whoever needs it next asks again; meanwhile the server refuses what may not be done.
  }
  isAsking = false
}

/** Somebody else may come in at the door. */
isLockedOut.subscribe((it) => {
  if (it) principal.value = null
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
