// How agents talk to the services. All it adds to fetch: the key that makes a repeated request harmless, and a verdict on
// every failure: whether it was certainly not done, and trying again can help (transient) or not (permanent), or whether
// nobody knows (unknown outcome).
import { PermanentError, TransientError, UnknownOutcomeError } from 'triarch'

/** A step has all of these, so `post(url, body, step)` will do. */
export interface CallOptions {
  /** The same for every attempt: the service does the work once, however often it is asked. */
  idempotencyKey: string
  signal?: AbortSignal
  attempt?: number
  /** The service turns the request away if it arrives later than this. */
  completeBy?: Date | number
}

/** What became of the request with a given key. */
export type Lookup<Output> = { done: true; output: Output } | { done: false }

export function post<Output>(url: string, body: object, options: CallOptions): Promise<Output> {
  const { idempotencyKey, completeBy } = options
  const signal = options.signal ?? (completeBy === undefined ? null : timeout(completeBy))
  const headers = { ...headersOf(options), 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
  return call(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
}

/** Asks a service whether it carried out the request with this key: the way out of an unknown outcome. */
export function lookup<Output>(
  service: string,
  key: string,
  options: Omit<CallOptions, 'idempotencyKey'> = {},
): Promise<Lookup<Output>> {
  const { signal = null } = options
  return call(`${service}/by-key/${encodeURIComponent(key)}`, { headers: headersOf(options), signal })
}

/** Asks a service for something that may be asked as often as one likes. */
export function read<Output>(url: string, options: Pick<CallOptions, 'attempt' | 'completeBy'>): Promise<Output> {
  const { completeBy } = options
  return call(url, { headers: headersOf(options), signal: completeBy === undefined ? null : timeout(completeBy) })
}

function headersOf({ attempt, completeBy }: Omit<CallOptions, 'idempotencyKey'>): Record<string, string> {
  return {
    ...(attempt !== undefined && { attempt: `${attempt}` }),
    ...(completeBy !== undefined && { 'complete-by': new Date(completeBy).toISOString() }),
  }
}

async function call<Output>(url: string, init: RequestInit): Promise<Output> {
  let response: Response
  let text: string
  try {
    response = await fetch(url, init)
    text = await response.text()
  } catch (cause) {
    // A refused connection never reached the service. Any other silence says nothing about the effect: the answer was
    // lost, or came too late, or the request was, and the work may be done or not.
    if (isRefused(cause)) throw new TransientError(`nobody answers at ${url}`, { cause })
    throw new UnknownOutcomeError(`no answer from ${url}`, { cause: init.signal?.aborted ? init.signal.reason : cause })
  }
  if (response.ok) return JSON.parse(text)
  const message = `${url} answered ${response.status}: ${text}`
  // 408 (too late) and 429 (too many requests) are the two refusals that another try can turn.
  if (response.status < 500 && response.status !== 408 && response.status !== 429) throw new PermanentError(message)
  // These services answer 5xx only when they did nothing. Where that is not certain, it is an unknown outcome as well.
  const retryAfter = retryAfterOf(response.headers)
  throw new TransientError(message, retryAfter === undefined ? {} : { retryAfter })
}

/** Milliseconds to wait, as the service asked: precisely, in seconds, or not at all. */
function retryAfterOf(headers: Headers): number | undefined {
  const precise = headers.get('retry-after-ms')
  if (precise) return Number(precise)
  const seconds = headers.get('retry-after')
  // Retry-After may also be an HTTP date; no service here sends one.
  return seconds && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

function isRefused(error: unknown): boolean {
  return error instanceof TypeError && (error.cause as { code?: string } | undefined)?.code === 'ECONNREFUSED'
}

/** Fires at that instant. */
function timeout(at: Date | number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.max(0, Number(at) - Date.now()), 2 ** 31 - 1))
}
