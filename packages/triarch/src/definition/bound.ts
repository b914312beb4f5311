import { TriarchError } from '../error/error.ts'
import { checkInteger } from '../value/options.ts'

/**
 * How much may wait in a line, over all nodes together.
 * @example const imports = workflow('import', { maxQueued: 10_000, whenFull: 'wait', run: async (n: number) => n })
 */
export interface BoundOptions {
  /** So many may wait: 1 to 1,000,000; any number when not given. Nodes that let in at the same moment may go over it by less than as much again. */
  maxQueued?: number
  /** What becomes of who comes when as many wait: refused with QUEUE_FULL, or held back until there is room. Only with `maxQueued`. */
  whenFull?: 'reject' | 'wait'
}

/** The same, checked. */
export interface QueueBound {
  readonly most: number
  /** Who finds no room is held back, not refused. */
  readonly waits: boolean
}

export const boundKeys = ['maxQueued', 'whenFull'] as const

const MOST = 1_000_000

/** Null: any number may wait. Throws INVALID_OPTION. */
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
