import type { Json } from '../kernel/json.ts'
import type { Share } from '../kernel/task/order.ts'
import { checkFunction, checkOptions } from '../value/options.ts'

/**
 * The task that waits, or whose step does, as `fairness.key` is told of it.
 * @example const fairness: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '' }
 */
export interface FairTask {
  /** Its id. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** Of its submission. */
  priority: number
  /** Of its submission. */
  tags: Readonly<Record<string, string>>
  /** Of its submission. */
  metadata: Readonly<Record<string, string>>
  /** Of its submission, as it is stored. */
  input: Json
}

/**
 * Who shares an agent's slots, or the line of ready tasks, and in which proportion. Those of one priority share: what has a higher one comes
 * first.
 * @example
 * const weight = (tenant: string) => (tenant === 'gold' ? 5 : 1)
 * const fairness: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '', weight }
 * const reports = agent('reports', { concurrency: 10, fairness })
 */
export interface FairnessOptions {
  /**
   * Whose it is: a string of at most 200 characters. It is kept in the store as it is: no secrets. What throws or gives anything
   * else counts as of ''.
   */
  key: (task: FairTask) => string
  /** How much more they get than those of weight 1, while both wait: 0.01 to 100; 1. */
  weight?: (key: string) => number
}

/** What a process says of each task: whose it is; null: nobody is asked. */
export type Sharing = ((task: FairTask) => Share) | null

const LONGEST_KEY = 200
const [LEAST_WEIGHT, MOST_WEIGHT] = [0.01, 100]

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkFairness(what: string, fairness: FairnessOptions): void {
  checkOptions(`${what}: fairness`, fairness, ['key', 'weight'])
  checkFunction(`${what}: fairness.key`, fairness.key)
  if (fairness.weight !== undefined) checkFunction(`${what}: fairness.weight`, fairness.weight)
}

/** Whose it is. Where that cannot be told it is no reason to lose it: `failed` hears why. */
export function shareOf({ key, weight }: FairnessOptions, task: FairTask, failed: (error: unknown) => void): Share {
  try {
    const own = key(task)
    const sound = typeof own === 'string' && own.length <= LONGEST_KEY && own.isWellFormed() && !/\p{Cc}/u.test(own)
    if (!sound) throw new TypeError(`fairness.key gave no string of at most ${LONGEST_KEY} characters`)
    const wanted = weight?.(own) ?? 1
    if (!(wanted >= LEAST_WEIGHT && wanted <= MOST_WEIGHT))
      throw new TypeError(`fairness.weight gave no number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`)
    return { key: own, weight: wanted }
  } catch (error) {
    failed(error)
    return { key: '', weight: 1 }
  }
}
