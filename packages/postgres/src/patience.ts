import { delay, type Environment } from 'triarch/store'
import { ruleOf, storeError } from './failure.ts'

const FIRST_WAIT = 5
const LONGEST_WAIT = 1_000

/**
 * Retries until the attempt succeeds or fails for good, for at most `limit` ms. The waits are random, so that calls
 * that collided, or that wait for the server, do not collide again. `failed` is called with each error before the next
 * try.
 */
export async function patiently<T>(
  environment: Environment,
  limit: number,
  attempt: () => Promise<T>,
  failed: (error: unknown) => void = () => undefined,
): Promise<T> {
  const until = environment.monotonic() + limit
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      return await attempt()
    } catch (error) {
      failed(error)
      if (ruleOf(error).verdict === 'fail' || environment.monotonic() >= until) throw storeError(error)
    }
    await delay(environment, wait / 2 + (wait / 2) * environment.random())
  }
}
