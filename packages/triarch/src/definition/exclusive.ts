import { TriarchError } from '../error/error.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import { atOnce } from '../value/answer.ts'
import { checkOptions } from '../value/options.ts'
import { isIdentifier } from '../value/text.ts'

/** Names the lock of a task. Must answer at once. A method's type, so that any workflow is a Workflow. */
type KeyFunction<I> = { of(input: I): string }['of']

/**
 * One task at a time.
 * @example
 * const refill = workflow('refill', {
 *   exclusive: { key: (item) => `stock:${item.sku}`, ifHeld: 'reject' },
 *   run: async (item: { sku: string }) => item.sku,
 * })
 */
export interface ExclusiveOptions<I = unknown> {
  /**
   * Tasks of the same key exclude each other, whatever their workflow, and so does who holds the lock of that name. The
   * workflow's name when not given: one task of it at a time.
   */
  key?: string | KeyFunction<I>
  /**
   * `queue`: wait in line, the highest priority first, then in the order of submission. `reject`: LOCK_HELD. `replace`: the
   * holder is asked to cancel, and is undone; who waits to replace it is cancelled; then wait in line. `queue`.
   */
  ifHeld?: IfHeld
}

const modes: readonly IfHeld[] = ['queue', 'reject', 'replace']

/** The name of a lock: a well-formed text of 1 to 200 characters without control characters. Throws INVALID_NAME. */
export function checkLockName(name: unknown): string {
  if (isIdentifier(name)) return name
  throw new TriarchError(
    'INVALID_NAME',
    'the name of a lock must be a well-formed string of 1 to 200 characters without control characters',
  )
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_NAME. */
export function checkExclusive<T extends ExclusiveOptions>(what: string, given: T): T {
  checkOptions<ExclusiveOptions, ['key', 'ifHeld']>(what, given, ['key', 'ifHeld'])
  const { key, ifHeld } = given
  if (key !== undefined && typeof key !== 'function') checkLockName(key)
  if (ifHeld !== undefined && !modes.includes(ifHeld))
    throw new TriarchError('INVALID_OPTION', `${what}: ifHeld must be one of ${modes.join(', ')}`)
  return given
}

/** The locks a task of the workflow must have to begin: what the submission says, or else the workflow. */
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
