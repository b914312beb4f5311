import { type ErrorCode, isTriarchError, TriarchError } from 'triarch/contract'
import { misunderstood, parsed, readText } from './answer.ts'
import type { Settings } from './options.ts'
import { errorOf, isPassing } from './problem.ts'

/** A request, and what is made of its answer. */
export interface Call<T> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api/v1, with its query. */
  path: string
  body?: string
  /** Under which the server knows it again. */
  key?: string
  /** Sent twice, it may be done twice, or be refused for its own sake: it is sent again only if it surely was not done. */
  once?: boolean
  /** Said of what is gone already. No error once a request before may have done it. */
  gone?: ErrorCode
  /** Statuses besides 2xx whose body is the answer, if it is no problem. */
  answers?: readonly number[]
  /** How long the server is asked to wait (ms). */
  wait?: number
  /** The answer is read as it comes, by who asked: for as long as `signal` lets it. */
  stream?: { known: string | undefined; opened(response: Response): void }
  signal?: AbortSignal | undefined
  /** `uncertain`: a request before this one may have been done. */
  read(body: unknown, status: number, uncertain: boolean): T
}

type Attempt = { status: number; body: unknown; after: number | null } | { lost: unknown }

/** Requests to one server, each tried until it is answered. */
export class Exchange {
  readonly settings: Settings

  constructor(settings: Settings) {
    this.settings = settings
  }

  /** Throws what the server says, SERVER_*, REQUEST_REFUSED; rejects with the signal's reason. */
  get<T>(path: string, read: (body: unknown) => T): Promise<T> {
    return this.ask({ method: 'GET', path, read })
  }

  async ask<T>(call: Call<T>): Promise<T> {
    const { attempts } = this.settings
    /** A request whose fate nobody knows may have been done. */
    let uncertain = false
    for (let number = 1; ; number++) {
      call.signal?.throwIfAborted()
      const attempt = await this.#attempt(call)
      const last = number === attempts
      if ('lost' in attempt) {
        if (last || call.once) throw unreachable(number, attempt.lost)
        uncertain = true
        await this.#pause(number, null, call.signal)
        continue
      }
      const { status, body, after } = attempt
      if (isAnswer(call, status, body)) return understood(call, body, status, uncertain)
      const error = errorOf(status, body)
      if (uncertain && error.code === call.gone) return understood(call, undefined, status, uncertain)
      const unknown = error.code === 'STORE_UNANSWERED' || error.code === 'SERVER_UNREACHABLE'
      if (last || !isPassing(status) || (unknown && call.once)) throw error
      uncertain ||= unknown
      await this.#pause(number, after, call.signal)
    }
  }

  async #attempt({ method, path, body, key, wait = 0, stream, signal }: Call<unknown>): Promise<Attempt> {
    const { url, environment, timeout, answerBytes } = this.settings
    // Before anything is waited for: what is active then is what the call is part of.
    const more = lowered(this.settings.headers())
    const token = await this.settings.token()
    const over = new AbortController()
    const stop = environment.timer(timeout + wait, () => over.abort(new Error(`no answer within ${timeout + wait} ms`)))
    const abort = () => over.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    // It may have been while the token was asked for.
    if (signal?.aborted) abort()
    let opened = false
    try {
      const response = await within(over.signal, () =>
        environment.fetch(url + path, {
          method,
          headers: {
            ...more,
            accept: `${stream ? 'text/event-stream' : 'application/json'}, application/problem+json`,
            ...(stream?.known !== undefined && { 'last-event-id': stream.known }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...(key !== undefined && { 'idempotency-key': headerOf(key) }),
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
          },
          ...(body !== undefined && { body }),
          // Wherever else it would lead, the token is for this server.
          redirect: 'manual',
          signal: over.signal,
        }),
      )
      const { status, headers } = response
      if (stream && status === 200) {
        stream.opened(response)
        opened = true
        return { status, body: undefined, after: null }
      }
      const said = await within(over.signal, () => readText(response, answerBytes))
      return { status, body: parsed(response, said), after: afterOf(headers) }
    } catch (error) {
      signal?.throwIfAborted()
      if (isTriarchError(error)) throw error
      return { lost: over.signal.aborted ? over.signal.reason : error }
    } finally {
      stop()
      if (!opened) signal?.removeEventListener('abort', abort)
    }
  }

  /** As the server says, else longer each time; so much less by chance that those who failed together do not come together. */
  async #pause(number: number, after: number | null, signal: AbortSignal | undefined): Promise<void> {
    const { first, longest, environment } = this.settings
    const wait = Math.min(after ?? first * 2 ** (number - 1), longest)
    await this.rest(after === null ? wait * (1 - environment.random() / 2) : wait, signal)
  }

  /** Rejects with the signal's reason. */
  rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        stop()
        reject(signal?.reason)
      }
      const stop = this.settings.environment.timer(ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

/** A problem has a code; what is answered with its status has none. */
function isAnswer({ answers }: Call<unknown>, status: number, body: unknown): boolean {
  if (status >= 200 && status < 300) return true
  return answers?.includes(status) === true && typeof body === 'object' && body !== null && !('code' in body)
}

/** Ends with the signal, also where what it waits for does not heed it. */
export async function within<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let abort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([act(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function understood<T>({ read }: Call<T>, body: unknown, status: number, uncertain: boolean): T {
  try {
    return read(body, status, uncertain)
  } catch (error) {
    if (isTriarchError(error)) throw error
    throw misunderstood('not what the API describes')
  }
}

export function unreachable(attempts: number, cause: unknown): TriarchError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const times = attempts === 1 ? '' : `, asked ${attempts} times`
  return new TriarchError('SERVER_UNREACHABLE', `no answer from the server${times}: ${why}`, { cause })
}

/** Milliseconds of `Retry-After`, by the server's own clock where it names an instant. */
function afterOf(headers: Headers): number | null {
  const after = headers.get('retry-after')
  if (after === null) return null
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000
  const span = Date.parse(after) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(span) ? null : Math.max(0, span)
}

/** A name that is there twice, in other letters, would be sent twice. */
function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** As a string of structured fields (RFC 9651), or, where it has other characters, as a display string. */
function headerOf(key: string): string {
  if (/^[\x20-\x7e]*$/.test(key)) return `"${key.replace(/["\\]/g, '\\$&')}"`
  return `%"${encodeURIComponent(key).replace(/%../g, (byte) => byte.toLowerCase())}"`
}
