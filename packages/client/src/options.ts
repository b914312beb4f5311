import { type Duration, milliseconds, TriarchError } from 'triarch/contract'
import { type Environment, systemEnvironment } from './environment.ts'

/**
 * How requests are tried again that got no answer, or one that says "later" (408, 425, 429, 502, 503, 504).
 * @example const retry: ConnectRetryOptions = { attempts: 10, longest: '10s' }
 */
export interface ConnectRetryOptions {
  /** How often a request is sent, at most: 1 to 100; 6. */
  attempts?: number
  /** Before the second attempt; each later one waits twice as long, and all of them up to half less, by chance; 100 ms. */
  first?: Duration
  /** Longest wait between two attempts, whatever the server asks for by `Retry-After`; 5 s. */
  longest?: Duration
}

/**
 * Who asks, and how patiently.
 * @example const options: ConnectOptions = { token: 's3cret', timeout: '10s', retry: { attempts: 10 } }
 */
export interface ConnectOptions {
  /** Sent as `Authorization: Bearer`; a function is asked before each request, for tokens that expire; none. */
  token?: string | (() => string | Promise<string>)
  /** Asked before each request, for headers besides those of the client, which win: where a trace goes on, for instance; none. */
  headers?: () => Readonly<Record<string, string>>
  /** In place of the global `fetch`: for a proxy, for certificates of your own, in tests. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How long one attempt of a request may take, besides the time that it is to wait for a task: up to a day; 30 s. */
  timeout?: Duration
  /** How requests are tried again; false: they are sent once. */
  retry?: ConnectRetryOptions | false
  /** The token may go over http: to other machines than this one, where everybody on the way can read it; false. */
  insecure?: boolean
  /** Bytes of an answer. A larger one is SERVER_ANSWER_INVALID; 16 MiB. */
  answerBytes?: number
}

export interface Settings {
  /** Of the API, without a slash at its end. */
  url: string
  token: () => string | undefined | Promise<string>
  headers: () => Readonly<Record<string, string>>
  timeout: number
  attempts: number
  first: number
  longest: number
  answerBytes: number
  environment: Environment
}

const DAY = 86_400_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function settingsOf(url: string, options: ConnectOptions, environment?: Environment): Settings {
  const { token, headers = () => ({}), fetch, timeout = 30_000, retry = {}, ...other } = options
  const { answerBytes = 16 * 1024 * 1024, insecure = false, ...rest } = other
  known('connect', rest)
  const { attempts = 6, first = 100, longest = 5_000, ...more } = retry === false ? { attempts: 1 } : retry
  known('connect: retry', more)
  if (fetch !== undefined && typeof fetch !== 'function') throw invalid('fetch must be a function')
  if (typeof headers !== 'function') throw invalid('headers must be a function')
  if (typeof insecure !== 'boolean') throw invalid('insecure must be true or false')
  if (token !== undefined && !insecure && isReadable(parsed(url)))
    throw invalid(
      'the token would go to another machine over http:, where everybody on the way can read it: use https:, or say `insecure: true`',
    )
  return {
    headers,
    url: `${baseOf(url)}/api/v1`,
    token: tokenOf(token),
    timeout: whole('timeout', milliseconds(timeout, 'connect: timeout'), DAY),
    attempts: whole('retry.attempts', attempts, 100),
    first: whole('retry.first', milliseconds(first, 'connect: retry.first'), DAY),
    longest: whole('retry.longest', milliseconds(longest, 'connect: retry.longest'), DAY),
    answerBytes: whole('answerBytes', answerBytes, 2 ** 31),
    environment: environment ?? systemEnvironment(fetch),
  }
}

/** Throws UNKNOWN_OPTION where something is left of the options. */
export function known(what: string, rest: object): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw new TriarchError('UNKNOWN_OPTION', `${what}: there is no option "${unknown.slice(0, 100)}"`)
}

/** Throws INVALID_OPTION. */
export function checkSignal(what: string, signal: AbortSignal | undefined): void {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return
  throw new TriarchError('INVALID_OPTION', `${what}: signal must be an AbortSignal`)
}

function baseOf(given: string): string {
  const { protocol, origin, pathname, search, hash, username, password } = parsed(given)
  if (protocol !== 'http:' && protocol !== 'https:') throw invalid('the URL must begin with http: or https:')
  if (search !== '' || hash !== '') throw invalid('the URL must have no "?" and no "#"')
  if (username !== '' || password !== '') throw invalid('the URL must have no password: give a `token`')
  return origin + pathname.replace(/\/+$/, '')
}

/** Whether others than this machine see what is sent there. */
function isReadable({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

function parsed(given: string): URL {
  try {
    return new URL(given)
  } catch {
    throw invalid('the URL must be such as "https://tasks.example.com"')
  }
}

function tokenOf(token: ConnectOptions['token']): Settings['token'] {
  if (token === undefined) return () => undefined
  if (typeof token === 'function') return token
  // As headers may have it: what they refuse would be told of with the token in it.
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw invalid('token must be a string of visible ASCII characters')
  return () => token
}

function whole(name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value
  throw invalid(`${name} must be a whole number from 1 to ${most}`)
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `connect: ${problem}`)
}
