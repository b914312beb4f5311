import { delay, type Environment } from '../../environment/environment.ts'
import { isTriarchError } from '../../error/error.ts'
import { storeError } from './failure.ts'

const FIRST_WAIT = 1
const LONGEST_WAIT = 50

/**
 * Retries until the write lock is free, for at most `limit` ms, without blocking the thread in between: this same
 * process may hold the lock across its awaits. The waits are random, so that two waiting connections do not collide
 * again.
 */
export async function patiently<T>(environment: Environment, limit: number, attempt: () => T | Promise<T>): Promise<T> {
  const until = environment.monotonic() + limit
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      return await attempt()
    } catch (thrown) {
      const error = storeError(thrown)
      if (!isTriarchError(error, 'STORE_BUSY') || environment.monotonic() >= until) throw error
    }
    await delay(environment, wait / 2 + (wait / 2) * environment.random())
  }
}
