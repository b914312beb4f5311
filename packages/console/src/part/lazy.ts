import { useEffect, useState } from 'preact/hooks'

/** A part of the console that is loaded when it is first shown. `error`: it did not come. */
export function useLazy<T>(load: () => Promise<T>): { part: T | null; error: unknown; retry: () => void } {
  const [state, set] = useState<{ part: T | null; error: unknown }>({ part: null, error: null })
  const [tries, retry] = useState(0)
  useEffect(() => {
    let isWanted = true
    load().then(
      (part) => isWanted && set({ part, error: null }),
      (error: unknown) => isWanted && set({ part: null, error }),
    )
    return () => {
      isWanted = false
    }
  }, [tries])
  return { ...state, retry: () => retry(tries + 1) }
}
