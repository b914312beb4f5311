import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Share } from '../kernel/task/order.ts'
import { atOnce } from '../value/answer.ts'
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

/**
 * What operators say of weights while all runs, by the keys: over what `fairness.weight` says.
 * @example const weights: FairnessWeights = { gold: 5, free: 0.5 }
 */
export type FairnessWeights = Readonly<Record<string, number>>

/** What a process says of each task: whose it is; null: nobody is asked. */
export type Sharing = ((task: FairTask) => Share) | null

const LONGEST_KEY = 200
const [LEAST_WEIGHT, MOST_WEIGHT] = [0.01, 100]
/** Keys that operators give a weight. */
const MOST_WEIGHTS = 1_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkFairness(what: string, fairness: FairnessOptions): void {
  checkOptions(`${what}: fairness`, fairness, ['key', 'weight'])
  checkFunction(`${what}: fairness.key`, fairness.key)
  if (fairness.weight !== undefined) checkFunction(`${what}: fairness.weight`, fairness.weight)
}

/** Throws INVALID_OPTION. */
export function checkWeights(what: string, weights: unknown): FairnessWeights {
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights))
    throw new TriarchError('INVALID_OPTION', `${what} must be an object: numbers by the keys of fairness`)
  const given = Object.entries(weights)
  if (given.length > MOST_WEIGHTS)
    throw new TriarchError('INVALID_OPTION', `${what} may have ${MOST_WEIGHTS.toLocaleString('en')} keys at most`)
  for (const [key, weight] of given) {
    if (!isKey(key)) throw new TriarchError('INVALID_OPTION', `${what}: a key has at most ${LONGEST_KEY} characters`)
    if (!isWeight(weight))
      throw new TriarchError('INVALID_OPTION', `${what}: a weight is a number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`)
  }
  return weights as FairnessWeights
}

function isKey(key: unknown): key is string {
  return typeof key === 'string' && key.length <= LONGEST_KEY && key.isWellFormed() && !/\p{Cc}/u.test(key)
}

function isWeight(weight: unknown): weight is number {
  return typeof weight === 'number' && weight >= LEAST_WEIGHT && weight <= MOST_WEIGHT
}

/** Whose it is. Where that cannot be told it is no reason to lose it: `failed` hears why. */
export function shareOf(
  { key, weight }: FairnessOptions,
  task: FairTask,
  failed: (error: unknown) => void,
  said: FairnessWeights = {},
): Share {
  try {
    const own = atOnce(key(task))
    if (!isKey(own)) throw new TypeError(`fairness.key gave no string of at most ${LONGEST_KEY} characters`)
    const wanted = Object.hasOwn(said, own) ? said[own] : weight === undefined ? 1 : atOnce(weight(own))
    if (!isWeight(wanted)) throw new TypeError(`fairness.weight gave no number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`)
    return { key: own, weight: wanted }
  } catch (error) {
    failed(error)
    return { key: '', weight: 1 }
  }
}
