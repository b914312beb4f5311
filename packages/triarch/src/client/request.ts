import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'
import type { Asking } from './terms.ts'

/** Keys made for a single call; they are never reused by mistake. */
const MADE = /^(?:~|operation )/

/** The name of a request under a key. Another control, signal or step under the same key is another request. */
export function requestName(asking: Asking, key: string): string {
  const step = 'step' in asking ? [asking.step ?? ''] : []
  const name = 'name' in asking ? [asking.name] : []
  return [asking.type, ...(step.length + name.length > 0 ? [...step, ...name] : ['']), key].join(' ')
}

/** Adds the request's name, and a digest that distinguishes it from other requests of that name. */
export function namedRequest<A extends Asking>(asking: A, key: string): A & { request: string; digest: string } {
  return { ...asking, request: requestName(asking, key), digest: digestOf(asking) }
}

/** Whether the key might be used for a different request by mistake. */
export function isReusable(key: string): boolean {
  return !MADE.test(key)
}

/** `digest`: of the first request of this name, if known. Throws REQUEST_DIFFERS. */
export function checkSame(task: string, asking: Asking, digest: string | undefined): void {
  if (digest === undefined || digest === digestOf(asking)) return
  const what = asking.type === 'event' ? 'signal' : asking.type
  throw new TriarchError('REQUEST_DIFFERS', `the key of this ${what} was used for another one of task "${task}"`)
}

/** Digest of a request, regardless of the actor. */
function digestOf({ outside: _, request: __, digest: ___, actor: ____, ...asking }: Asking): string {
  return createHash('sha256').update(JSON.stringify(asking)).digest('base64url').slice(0, 22)
}
