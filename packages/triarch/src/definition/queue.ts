import { TriarchError } from '../error/error.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFairness, type FairnessOptions } from './fairness.ts'

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
  if (fairness !== undefined) checkFairness(what, fairness)
  return Object.freeze({
    agent,
    ageing: span,
    fairness: fairness ? Object.freeze({ ...fairness }) : null,
  })
}
