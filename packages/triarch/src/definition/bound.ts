import { TriarchError } from '../error/error.ts'
import { checkInteger } from '../value/options.ts'

/**
 * How much may wait in a queue, over all nodes together.
 * @example const imports = workflow('import', { maxQueued: 10_000, whenFull: 'wait', run: async (n: number) => n })
 */
export interface BoundOptions {
  /**
   * Largest number that may wait: 1 to 1,000,000; any number when not given. Nodes that submit at the same moment may exceed it by less
   * than as much again.
   */
  maxQueued?: number
  /**
   * What happens to submissions while the queue is full: `reject` refuses them with QUEUE_FULL, `wait` holds them until there is room. Only
   * with `maxQueued`.
   */
  whenFull?: 'reject' | 'wait'
}

/** The checked options. */
export interface QueueBound {
  readonly most: number
  /** Submissions wait for room instead of being refused. */
  readonly waits: boolean
}

export const boundKeys = ['maxQueued', 'whenFull'] as const

const MOST = 1_000_000

/** The checked bound of a queue; null: any number may wait. Throws INVALID_OPTION. */
export function toQueueBound(
  what: string,
  { maxQueued, whenFull }: BoundOptions,
  usual: 'reject' | 'wait',
): QueueBound | null {
  if (whenFull !== undefined && whenFull !== 'reject' && whenFull !== 'wait')
    throw new TriarchError('INVALID_OPTION', `${what}: whenFull must be "reject" or "wait"`)
  if (maxQueued === undefined) {
    if (whenFull === undefined) return null
    throw new TriarchError('INVALID_OPTION', `${what}: whenFull says what maxQueued means: give that as well`)
  }
  return { most: checkInteger(`${what}: maxQueued`, maxQueued, 1, MOST), waits: (whenFull ?? usual) === 'wait' }
}
