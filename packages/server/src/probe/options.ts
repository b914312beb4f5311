import { TriarchError } from 'triarch'
import { known } from '../options.ts'

/**
 * What is watched, and what it must be like to be up.
 * @example
 * const shop: ProbedEndpoint = {
 *   url: 'https://shop.example.com/',
 *   contains: 'Basket',
 *   within: 2_000,
 * }
 */
export interface ProbedEndpoint {
  /** Where: http or https, without credentials; 2,000 characters. */
  url: string
  /** Headers of the request, such as `authorization`; none. They go to this host alone. */
  headers?: Readonly<Record<string, string>>
  /** Distance between two probes (ms): 1,000 to 86,400,000; 30,000. */
  every?: number
  /** How long one probe may take, redirects and all (ms): 1 to 600,000; 10,000. */
  timeout?: number
  /** Slower than this is down (ms); `timeout`. */
  within?: number
  /** Statuses of an answer that is well; 200 to 299. */
  status?: readonly number[]
  /** What the first 64 KiB of the body must have in them; anything. */
  contains?: string | RegExp
  /** Redirects that are followed, to the same host and port, and never from https to http: 0 to 10; 0, so that a redirect is an answer as any other. */
  redirects?: number
  /** Days for which the certificate must be good yet: 0 to 36,500; 7. */
  certificateDays?: number
  /** Addresses that the name may lead to; any. */
  addresses?: readonly string[]
  /** Certificates (PEM) that are trusted besides those that Node trusts; none. */
  ca?: string
  /** It is `/health` of a Triarch, which must not be as bad as this: its report is read, whatever the status; it is no Triarch. */
  triarch?: 'warning' | 'critical'
  /** So many probes in a row must fail before it is down: 1 to 100; 3. */
  failures?: number
  /** So many probes in a row must be well before it is up again: 1 to 100; 2. */
  successes?: number
}

export interface Target
  extends Required<Omit<ProbedEndpoint, 'url' | 'contains' | 'addresses' | 'ca' | 'triarch' | 'status'>> {
  name: string
  url: URL
  status: readonly number[] | null
  contains: string | RegExp | null
  addresses: readonly string[] | null
  ca: string | null
  triarch: 'warning' | 'critical' | null
}

const NAME = /^[A-Za-z0-9][\w.-]{0,89}$/
const MOST_ENDPOINTS = 1_000
const LONGEST_URL = 2_000
const endpointKeys = [
  ...['url', 'headers', 'every', 'timeout', 'within', 'status', 'contains', 'redirects', 'certificateDays'],
  ...['addresses', 'ca', 'triarch', 'failures', 'successes'],
]

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function targetsOf(endpoints: Readonly<Record<string, ProbedEndpoint>>): Target[] {
  if (typeof endpoints !== 'object' || endpoints === null || Array.isArray(endpoints))
    throw refused('endpoints must be an object')
  const names = Object.keys(endpoints)
  if (names.length < 1 || names.length > MOST_ENDPOINTS) throw refused(`there must be 1 to ${MOST_ENDPOINTS} endpoints`)
  return names.map((name) => targetOf(name, endpoints[name] as ProbedEndpoint))
}

function targetOf(name: string, given: ProbedEndpoint): Target {
  if (!NAME.test(name)) throw refused(`"${name.slice(0, 100)}" is no name of an endpoint`)
  known(`createProber: ${name}`, given, endpointKeys)
  const { headers = {}, status = null, contains = null, addresses = null, ca = null, triarch = null } = given
  const whole = (key: keyof ProbedEndpoint, standard: number, least: number, most: number) =>
    wholeOf(`${name}: ${key}`, given[key] ?? standard, least, most)
  if (typeof given.url !== 'string' || given.url.length > LONGEST_URL || !URL.canParse(given.url))
    throw refused(`${name}: url must be a URL`)
  const url = new URL(given.url)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw refused(`${name}: url must be one of http or https, without credentials`)
  if (contains !== null && typeof contains !== 'string' && !(contains instanceof RegExp))
    throw refused(`${name}: contains must be a string or a RegExp`)
  for (const list of [status, addresses])
    if (list !== null && !Array.isArray(list)) throw refused(`${name}: status and addresses must be arrays`)
  if (triarch !== null && triarch !== 'warning' && triarch !== 'critical')
    throw refused(`${name}: triarch must be "warning" or "critical"`)
  if (ca !== null && typeof ca !== 'string') throw refused(`${name}: ca must be PEM`)
  if (typeof headers !== 'object' || headers === null) throw refused(`${name}: headers must be an object`)
  const timeout = whole('timeout', 10_000, 1, 600_000)
  return {
    ...{ name, url, headers, status, contains, addresses, ca, triarch, timeout },
    every: whole('every', 30_000, 1_000, 86_400_000),
    within: whole('within', timeout, 1, 600_000),
    redirects: whole('redirects', 0, 0, 10),
    certificateDays: whole('certificateDays', 7, 0, 36_500),
    failures: whole('failures', 3, 1, 100),
    successes: whole('successes', 2, 1, 100),
  }
}

export function wholeOf(what: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value)
  throw refused(`${what} must be a whole number from ${least} to ${most}`)
}

export function refused(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `createProber: ${problem}`)
}
