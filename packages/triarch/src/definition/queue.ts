import { TriarchError } from '../error/error.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkFairness, type FairnessOptions } from './fairness.ts'
import { checkPriority } from './policy.ts'

/**
 * How an agent's work queue is ordered. Without any option: the highest priority first, then in order of arrival.
 * @example const reports = agent('reports', { concurrency: 10, ageing: '10m' })
 */
export interface QueueOptions {
  /**
   * Waiting requests rise one level of priority for each such span, so that nothing starves: a second to 30 days; never when not given. Not
   * with `fairness`.
   */
  ageing?: Duration
  /** Shares the slots between tenants; first come, first served when not given. Not with `ageing`. */
  fairness?: FairnessOptions
  /**
   * Divides the slots of each process by priority, in place of `concurrency`; neither pool takes the slots of the other. One pool for all
   * when not given. Not with `ageing`, and not for agents over the wire.
   */
  pools?: PoolOptions
}

/**
 * Two pools of slots, so that urgent steps do not wait for long ones, and other steps run however many urgent ones there are.
 * @example const mail = agent('mail', { pools: { high: 10, rest: 40, from: 5 } })
 */
export interface PoolOptions {
  /** Slots of one process for steps of a priority (the step's and its task's together) of `from` or more: 1 to 100,000. */
  high: number
  /** Slots of one process for all others: 1 to 100,000. */
  rest: number
  /** The lowest priority that counts as high; 1. */
  from?: number
}

/** The checked options of the pools. */
export type Pools = Readonly<Required<PoolOptions>>

/** The checked options of the queue. */
export interface QueueRule {
  readonly agent: string
  /** Null: priorities are strict (ms). */
  readonly ageing: number | null
  readonly fairness: Readonly<FairnessOptions> | null
}

export const queueKeys = ['ageing', 'fairness', 'pools'] as const

const SECOND = 1_000
const LONGEST_AGEING = 30 * 86_400_000

/** The checked span that raises a waiting request by one level of priority (ms). Throws INVALID_OPTION, INVALID_DURATION. */
export function toAgeing(what: string, ageing: Duration): number {
  const span = positiveMilliseconds(ageing, `${what}: ageing`)
  if (span >= SECOND && span <= LONGEST_AGEING) return span
  throw new TriarchError('INVALID_OPTION', `${what}: ageing must be from 1 s to 30 days`)
}

/** The checked options of an agent's queue; null: none are given. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toQueueRule(agent: string, options: QueueOptions): QueueRule | null {
  const { ageing, fairness } = options
  if (ageing === undefined && fairness === undefined) return null
  const what = `agent "${agent}"`
  const span = ageing === undefined ? null : toAgeing(what, ageing)
  if (span !== null && fairness !== undefined)
    throw new TriarchError('INVALID_OPTION', `${what}: ageing and fairness order the same queue: give one of them`)
  if (fairness !== undefined) checkFairness(what, fairness)
  return Object.freeze({
    agent,
    ageing: span,
    fairness: fairness ? Object.freeze({ ...fairness }) : null,
  })
}

const MOST_SLOTS = 100_000

/** The checked pools; null: there is one pool for all. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function toPools(agent: string, { pools, ageing }: QueueOptions): Pools | null {
  if (pools === undefined) return null
  const what = `agent "${agent}": pools`
  checkOptions(what, pools, ['high', 'rest', 'from'])
  if (ageing !== undefined)
    throw new TriarchError(
      'INVALID_OPTION',
      `${what}: pools keep each other from starving, as ageing does: give one of them`,
    )
  const slots = (name: 'high' | 'rest') => checkInteger(`${what}.${name}`, pools?.[name], 1, MOST_SLOTS)
  return Object.freeze({
    high: slots('high'),
    rest: slots('rest'),
    from: checkPriority(`${what}.from`, pools.from ?? 1),
  })
}
