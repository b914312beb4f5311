import type { Environment } from '../environment/environment.ts'

/** Resolves when the workflow's code has gone as far as it can without further outcomes. */
export function microtasksDrained(environment: Environment): Promise<void> {
  return new Promise((resolve) => environment.drain(resolve))
}
