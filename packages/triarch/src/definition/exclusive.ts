import { TriarchError } from '../error/error.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import { atOnce } from '../value/answer.ts'
import { checkOptions } from '../value/options.ts'
import { isIdentifier } from '../value/text.ts'

/** Computes the name of a task's lock, synchronously. It has the type of a method, so that any workflow is assignable to Workflow. */
type KeyFunction<I> = { of(input: I): string }['of']

/**
 * Runs one task at a time.
 * @example
 * const refill = workflow('refill', {
 *   exclusive: { key: (item) => `stock:${item.sku}`, ifHeld: 'reject' },
 *   run: async (item: { sku: string }) => item.sku,
 * })
 */
export interface ExclusiveOptions<I = unknown> {
  /**
   * Tasks with the same key exclude each other, whatever their workflow, and also any holder of the lock of that name; the workflow's name:
   * one task of the workflow at a time.
   */
  key?: string | KeyFunction<I>
  /**
   * `queue`: the task waits, by priority, then in the order of submission. `reject`: LOCK_HELD. `replace`: the holder is asked to cancel
   * and is undone, tasks that wait to replace it are cancelled, then the task waits. `queue`.
   */
  ifHeld?: IfHeld
}

const modes: readonly IfHeld[] = ['queue', 'reject', 'replace']

/** Returns the name of a lock if it is valid: a well-formed text of 1 to 200 characters without control characters. Throws INVALID_NAME. */
export function checkLockName(name: unknown): string {
  if (isIdentifier(name)) return name
  throw new TriarchError(
    'INVALID_NAME',
    'the name of a lock must be a well-formed string of 1 to 200 characters without control characters',
  )
}

/** Checks the options. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_NAME. */
export function checkExclusive<T extends ExclusiveOptions>(what: string, given: T): T {
  checkOptions<ExclusiveOptions, ['key', 'ifHeld']>(what, given, ['key', 'ifHeld'])
  const { key, ifHeld } = given
  if (key !== undefined && typeof key !== 'function') checkLockName(key)
  if (ifHeld !== undefined && !modes.includes(ifHeld))
    throw new TriarchError('INVALID_OPTION', `${what}: ifHeld must be one of ${modes.join(', ')}`)
  return given
}

/** The locks that a task of the workflow must hold to begin: those of the submission, or else of the workflow. */
export function exclusiveKeys(
  { name, definition }: { readonly name: string; readonly definition: { readonly exclusive?: ExclusiveOptions } },
  input: unknown,
  given: ExclusiveOptions | undefined,
): { key: string; ifHeld: IfHeld }[] {
  if (!given && !definition.exclusive) return []
  const { key, ifHeld = 'queue' } = { ...definition.exclusive, ...given }
  const text = typeof key === 'function' ? atOnce(key(input)) : (key ?? name)
  return [{ key: checkLockName(text), ifHeld }]
}
