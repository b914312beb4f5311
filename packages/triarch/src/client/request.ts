import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'
import type { Asking } from './terms.ts'

/** Keys that were made for one call: nothing else is ever asked for under them. */
const MADE = /^(?:~|operation )/

/** What it is known by when it is asked for under this key: another control, signal or step under the same key is another request. */
export function requestOf(asking: Asking, key: string): string {
  const step = 'step' in asking ? [asking.step ?? ''] : []
  const name = 'name' in asking ? [asking.name] : []
  return [asking.type, ...(step.length + name.length > 0 ? [...step, ...name] : ['']), key].join(' ')
}

/** The same with its name, and with what tells it from another that is asked for under that. */
export function named<A extends Asking>(asking: A, key: string): A & { request: string; digest: string } {
  return { ...asking, request: requestOf(asking, key), digest: digestOf(asking) }
}

/** Whether another thing may be asked for under this key by mistake. */
export function isReusable(key: string): boolean {
  return !MADE.test(key)
}

/** `digest`: of what was asked for first under its name, if that is known. Throws REQUEST_DIFFERS. */
export function checkSame(task: string, asking: Asking, digest: string | undefined): void {
  if (digest === undefined || digest === digestOf(asking)) return
  const what = asking.type === 'event' ? 'signal' : asking.type
  throw new TriarchError('REQUEST_DIFFERS', `the key of this ${what} was used for another one of task "${task}"`)
}

/** Of what is asked for, whoever asks. */
function digestOf({ outside: _, request: __, digest: ___, actor: ____, ...asking }: Asking): string {
  return createHash('sha256').update(JSON.stringify(asking)).digest('base64url').slice(0, 22)
}
