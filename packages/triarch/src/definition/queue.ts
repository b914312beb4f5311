import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkOptions } from '../value/options.ts'

/**
 * The task whose step waits, as `fairness.key` is told of it.
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
 * Who shares an agent's slots, and in which proportion. Those of one priority share: what has a higher one comes first.
 * @example
 * const weight = (tenant: string) => (tenant === 'gold' ? 5 : 1)
 * const fairness: FairnessOptions = { key: ({ tags }) => tags.tenant ?? '', weight }
 * const reports = agent('reports', { concurrency: 10, fairness })
 */
export interface FairnessOptions {
  /**
   * Whose the step is: a string of at most 200 characters. It is kept in the store as it is: no secrets. What throws or gives anything
   * else counts as of ''.
   */
  key: (task: FairTask) => string
  /** How much more of the slots they get than those of weight 1, while both wait: 0.01 to 100; 1. */
  weight?: (key: string) => number
}

/**
 * How an agent's work queue is ordered. Without any of it: the highest priority first, then what came first.
 * @example const reports = agent('reports', { concurrency: 10, ageing: '10m' })
 */
export interface QueueOptions {
  /**
   * What waits rises one level of priority for each such span, so that nothing starves: a second to 30 days; never when not given. Not
   * with `fairness`.
   */
  ageing?: Duration
  /** Shares the slots between tenants; first come first served when not given. Not with `ageing`. */
  fairness?: FairnessOptions
}

/** The same, checked. */
export interface QueueRule {
  readonly agent: string
  /** Null: priorities are strict (ms). */
  readonly ageing: number | null
  readonly fairness: Readonly<FairnessOptions> | null
}

export const queueKeys = ['ageing', 'fairness'] as const

const SECOND = 1_000
const LONGEST_AGEING = 30 * 86_400_000

/** Null: it says nothing of its queue. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toQueueRule(agent: string, options: QueueOptions): QueueRule | null {
  const { ageing, fairness } = options
  if (ageing === undefined && fairness === undefined) return null
  const what = `agent "${agent}"`
  const span = ageing === undefined ? null : positiveMilliseconds(ageing, `${what}: ageing`)
  if (span !== null && (span < SECOND || span > LONGEST_AGEING))
    throw new TriarchError('INVALID_OPTION', `${what}: ageing must be from 1 s to 30 days`)
  if (span !== null && fairness !== undefined)
    throw new TriarchError('INVALID_OPTION', `${what}: ageing and fairness order the same queue: give one of them`)
  if (fairness !== undefined) {
    checkOptions(`${what}: fairness`, fairness, ['key', 'weight'])
    checkFunction(`${what}: fairness.key`, fairness.key)
    if (fairness.weight !== undefined) checkFunction(`${what}: fairness.weight`, fairness.weight)
  }
  return Object.freeze({
    agent,
    ageing: span,
    fairness: fairness ? Object.freeze({ ...fairness }) : null,
  })
}
