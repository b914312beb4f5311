import { id, now } from '../environment.ts'
import type { Principal } from '../options.ts'
import type { Route } from '../route/route.ts'

const REQUEST_ID = /^[\w.:@/+-]{1,200}$/
const LONGEST = 200

/** Who acts by a request, for the audit: who the server knows, and the name of the request (`X-Request-Id`, or a new one). */
export function actingOf(
  { headers }: Pick<Request, 'headers'>,
  principal: Principal | null,
): { actor?: string; request: string } {
  const given = headers.get('x-request-id') ?? ''
  const actor = principal?.id.slice(0, LONGEST)
  return { ...(actor && { actor }), request: REQUEST_ID.test(given) ? given : id() }
}

/** Where the path does not say it. */
const named: Readonly<Record<string, string>> = {
  PUT: 'set',
  DELETE: 'remove',
  POST: 'start',
}

/** What would have been done, by the name and on the subject that the audit has for it. */
export function actOf(
  { method, path }: Pick<Route, 'method' | 'path'>,
  params: Readonly<Record<string, string>>,
): { action: string; subject: string } {
  const [first = '', ...rest] = path.split('/').filter(Boolean)
  const kind = first === 'statistics' ? first : first.replace(/s$/, '')
  const last = rest.findLast((it) => !it.startsWith('{'))
  const verb = last ?? (kind === 'schedule' && method === 'PUT' ? 'register' : (named[method] ?? 'change'))
  const [of = ''] = Object.values(params)
  return { action: `${kind}.${verb}`, subject: `${kind}:${of}`.slice(0, LONGEST) }
}

/** Refusals of one principal that are kept in the audit, in this time (ms); principals that are told apart. */
const MOST = 20
const WITHIN = 60_000
const PRINCIPALS = 1_000

/** Which refusals go into the audit: the first ones of each principal in each minute. */
export class Refusals {
  readonly #seen = new Map<string, { since: number; count: number }>()

  counts(principal: string): boolean {
    const at = now()
    const known = this.#seen.get(principal)
    if (known && at - known.since < WITHIN) return ++known.count <= MOST
    this.#seen.delete(principal)
    this.#seen.set(principal, { since: at, count: 1 })
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= PRINCIPALS) break
      this.#seen.delete(oldest)
    }
    return true
  }
}
