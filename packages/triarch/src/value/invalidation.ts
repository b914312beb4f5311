import { TriarchError } from '../error/error.ts'
import { checkOptions } from './options.ts'
import { checkText } from './text.ts'

/**
 * Which cached answers become invalid, and why: all with a tag, all of an action, or the one of an action for a key. `reason`: kept in the
 * audit, up to 1,000 characters.
 * @example const stale: Invalidation = { action: 'bank.rate', key: 'EUR', reason: 'the bank has corrected it' }
 */
export type Invalidation = { tag: string; reason?: string } | { action: string; key?: unknown; reason?: string }

/**
 * The accepted forms of an invalidation, which include an action or its name, with a key as the next argument.
 * @example const what: Invalidated = 'bank.rate'
 */
export type Invalidated = { readonly key: string } | string | Invalidation

/**
 * The same in one form, for implementers of the interface. `key`: with `by: 'key'`, one element; else empty.
 * @example const subject = (it: StatedInvalidation): string => (it.by === 'tag' ? it.tag : it.action)
 */
export type StatedInvalidation = { reason: string | undefined } & (
  | { by: 'tag'; tag: string }
  | { by: 'key' | 'action'; action: string; key: readonly unknown[] }
)

/** The names of an agent and of an action have up to 100 characters each. */
const LONGEST_ACTION = 201

/**
 * Converts the arguments of `caches.invalidate`. Throws UNKNOWN_ACTION, UNKNOWN_OPTION, INVALID_OPTION.
 * @example const { by, reason } = invalidationOf({ tag: 'customer:7', reason: 'moved' }, [])
 */
export function invalidationOf(what: Invalidated, key: readonly unknown[]): StatedInvalidation {
  const given: Partial<Record<'tag' | 'action' | 'key' | 'reason', unknown>> =
    typeof what === 'object' && what !== null && ('tag' in what || 'action' in what) ? what : {}
  const isStated = 'tag' in given || 'action' in given
  if (isStated)
    checkOptions('caches.invalidate', given, 'tag' in given ? ['tag', 'reason'] : ['action', 'key', 'reason'])
  if (isStated && key.length > 0)
    throw new TriarchError('INVALID_OPTION', 'caches.invalidate: give the key beside the action')
  const reason = given.reason === undefined ? undefined : checkText('caches.invalidate: reason', given.reason, 1_000)
  if ('tag' in given) return { by: 'tag', tag: checkText('caches.invalidate: tag', given.tag, 200), reason }
  const action = isStated ? given.action : typeof what === 'string' ? what : (what as { key?: unknown } | null)?.key
  if (typeof action !== 'string')
    throw new TriarchError('UNKNOWN_ACTION', 'caches.invalidate: give an action, its name as agent.action, or { tag }')
  checkText('caches.invalidate: the name of an action', action, LONGEST_ACTION)
  if (!action.includes('.'))
    throw new TriarchError(
      'INVALID_OPTION',
      `caches.invalidate: "${action}" is no name of an action, such as payments.limit`,
    )
  const own = isStated ? (given.key === undefined ? [] : [given.key]) : key
  return { by: own.length > 0 ? 'key' : 'action', action, key: own, reason }
}
