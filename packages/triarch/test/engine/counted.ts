import type { StateStore } from '../../src/store/port.ts'

/** A store whose calls are counted by name, and may be made to fail. */
export interface Counted {
  store: StateStore
  /** How often each method was called since the last reset. */
  calls: Map<string, number>
  /** Calls of these names, or all. */
  count(...names: (keyof StateStore)[]): number
  reset(): void
  /** Calls of this name reject with this error while it is set. */
  failing: Map<keyof StateStore, Error>
}

export function counted(store: StateStore): Counted {
  const calls = new Map<string, number>()
  const failing = new Map<keyof StateStore, Error>()
  const watched = new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1)
        const error = failing.get(name as keyof StateStore)
        return error ? Promise.reject(error) : Reflect.apply(method, target, args)
      }
    },
  })
  return {
    store: watched,
    calls,
    failing,
    count: (...names) => {
      const wanted = names.length === 0 ? [...calls.keys()] : names
      return wanted.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0)
    },
    reset: () => calls.clear(),
  }
}
