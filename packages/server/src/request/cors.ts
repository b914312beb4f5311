/** What a page of another origin may send besides what every page may, and what it may read besides the body. */
const SENDS = 'authorization, content-type, idempotency-key, last-event-id, triarch-token'
const READS = 'location, retry-after'
/** A browser need not ask again for so long what it may send (s). */
const REMEMBERED = '600'

/**
 * The answer, with what lets pages of these origins read it (https://fetch.spec.whatwg.org/#http-cors-protocol). Cookies are not for them: who
 * asks is said by a header.
 */
export function shared({ method, headers }: Request, response: Response, origins: ReadonlySet<string>): Response {
  if (origins.size === 0) return response
  // It is another one for another origin, whoever keeps it.
  response.headers.append('vary', 'origin')
  const origin = headers.get('origin')
  if (origin === null || !origins.has(origin)) return response
  response.headers.set('access-control-allow-origin', origin)
  if (method === 'OPTIONS' && headers.has('access-control-request-method')) {
    response.headers.set('access-control-allow-methods', response.headers.get('allow') ?? '')
    response.headers.set('access-control-allow-headers', SENDS)
    response.headers.set('access-control-max-age', REMEMBERED)
  } else response.headers.set('access-control-expose-headers', READS)
  return response
}
