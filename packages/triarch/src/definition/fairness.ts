import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { FairShare } from '../kernel/task/order.ts'
import { atOnce } from '../value/answer.ts'
import { checkFunction, checkOptions } from '../value/options.ts'

/**
 * The waiting task, or the task of a waiting step, as passed to `fairness.key`.
 * @example const fairness: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '' }
 */
export interface FairTask {
  /** Its id. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The version of its workflow. */
  version: string
  /** The priority of its submission. */
  priority: number
  /** The tags of its submission. */
  tags: Readonly<Record<string, string>>
  /** The metadata of its submission. */
  metadata: Readonly<Record<string, string>>
  /** The input of its submission, as it is stored. */
  input: Json
}

/**
 * How tenants share an agent's slots, or the order of ready tasks. Entries of one priority share; entries of a higher priority come first.
 * @example
 * const weight = (tenant: string) => (tenant === 'gold' ? 5 : 1)
 * const fairness: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '', weight }
 * const reports = agent('reports', { concurrency: 10, fairness })
 */
export interface FairnessOptions {
  /**
   * The tenant of a task: a string of at most 200 characters. It is kept in the store as it is, so it must not be secret. If the function
   * throws or returns anything else, the tenant is ''.
   */
  key: (task: FairTask) => string
  /** The tenant's share relative to tenants of weight 1, while both wait: 0.01 to 100; 1. */
  weight?: (key: string) => number
}

/**
 * Weights that operators set while the system runs, by key; they override `fairness.weight`.
 * @example const weights: FairnessWeights = { gold: 5, free: 0.5 }
 */
export type FairnessWeights = Readonly<Record<string, number>>

/** Computes a task's share in this process; null: fairness is not used. */
export type Sharing = ((task: FairTask) => FairShare) | null

const LONGEST_KEY = 200
const [LEAST_WEIGHT, MOST_WEIGHT] = [0.01, 100]
/** Largest number of keys with a weight set by operators. */
const MOST_WEIGHTS = 1_000

/** Checks the options. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkFairness(what: string, fairness: FairnessOptions): void {
  checkOptions(`${what}: fairness`, fairness, ['key', 'weight'])
  checkFunction(`${what}: fairness.key`, fairness.key)
  if (fairness.weight !== undefined) checkFunction(`${what}: fairness.weight`, fairness.weight)
}

/** Returns the weights if they are valid. Throws INVALID_OPTION. */
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

/** The share of a task. If it cannot be computed, the task gets the share of '' and `failed` gets the error, so that no task is lost. */
export function shareOf(
  { key, weight }: FairnessOptions,
  task: FairTask,
  failed: (error: unknown) => void,
  said: FairnessWeights = {},
): FairShare {
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
