import { checkFairness, type FairnessOptions } from '../definition/fairness.ts'
import { toAgeing } from '../definition/queue.ts'
import { TriarchError } from '../error/error.ts'
import type { Duration } from '../value/duration.ts'

/** How the queue of ready tasks is ordered, besides by priority and age. */
export interface LineRule {
  fairness: Readonly<FairnessOptions> | null
  /** Waiting this long raises a task by one level of priority (ms). */
  ageing: number | null
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function lineRuleOf({ fairness, ageing }: { fairness?: FairnessOptions; ageing?: Duration }): LineRule {
  if (fairness !== undefined) checkFairness('Triarch', fairness)
  if (fairness !== undefined && ageing !== undefined)
    throw new TriarchError('INVALID_OPTION', 'Triarch: ageing and fairness order the same line: give one of them')
  return {
    fairness: fairness ? Object.freeze({ ...fairness }) : null,
    ageing: ageing === undefined ? null : toAgeing('Triarch', ageing),
  }
}
