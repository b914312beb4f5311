import { TriarchError } from '../error/error.ts'
import { legible, objectOf } from '../store/legible.ts'
import type { ProbeRow, StateStore } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText, isStorable } from '../value/text.ts'

/**
 * What is wrong with an endpoint. `dns`: the name does not resolve; `connect`: no connection; `timeout`: no answer in time; `tls`,
 * `certificate`: the connection cannot be trusted, or will soon not be; `address`: the name resolves to another address; `redirect`: one
 * that is not followed, or too many; `status`, `slow`, `content`: the answer is not as required; `health`: the Triarch reports that it is
 * not well.
 * @example const mine: readonly ProbeProblemCode[] = ['certificate', 'content']
 */
export type ProbeProblemCode =
  | ('dns' | 'connect' | 'timeout' | 'tls' | 'certificate' | 'address')
  | ('redirect' | 'status' | 'slow' | 'content' | 'health')

/** A problem with an endpoint. */
export interface ProbeProblem {
  /** The kind of the problem. */
  code: ProbeProblemCode
  /** The problem as text. */
  message: string
}

/**
 * The result of one probe of an endpoint.
 * @example const slow = (result: ProbeResult) => result.ms > 1_000
 */
export interface ProbeResult {
  /** When the probe began. */
  at: Date
  /** The whole duration (ms). */
  ms: number
  /** The problem; absent: none. */
  problem?: ProbeProblem
  /** HTTP status of the last answer; absent: there was none. */
  status?: number
  /** The address to which the name resolved. */
  address?: string
  /** When the certificate expires. */
  certificateUntil?: Date
  /** The redirects that were followed, in order. */
  redirects: string[]
}

/**
 * The state of an endpoint: `unknown` until enough probes in a row had the same result.
 * @example const isWell = (state: EndpointState) => state !== 'down'
 */
export type EndpointState = 'unknown' | 'up' | 'down'

/**
 * The current state of an endpoint.
 * @example const [shop]: EndpointInfo[] = prober.endpoints()
 */
export interface EndpointInfo {
  /** Its name. */
  name: string
  /** Its URL. */
  url: string
  /** Its state. */
  state: EndpointState
  /** When it entered this state. */
  since: Date
  /** Number of consecutive probes with the same result as the last. */
  streak: number
  /** The last probe; absent: there was none. */
  last?: ProbeResult
}

/**
 * An endpoint as its prober has stored it.
 * @example const silent = ({ lateAt }: KeptEndpoint) => lateAt < new Date()
 */
export interface KeptEndpoint extends EndpointInfo {
  /** When the next probe is late. */
  lateAt: Date
  /** The last probes, oldest first: 100 at most. Absent in a list, unless requested. */
  history?: ProbeResult[]
}

/**
 * A selection of endpoints, and the page of the list.
 * @example const { endpoints } = await triarch.health.probes({ names: ['shop'], history: true })
 */
export interface ProbesOptions {
  /** Their names, 1,000 at most, or 100 with their history; over HTTP as many as a URL holds; all, a page at a time. */
  names?: readonly string[]
  /** Includes their last probes; false. */
  history?: boolean
  /** `next` of the previous page. */
  cursor?: string
  /** Endpoints per page, at most: 1 to 1,000, or to 100 with their history; 100. */
  limit?: number
}

/**
 * A page of endpoints, by name.
 * @example
 * const page: ProbePage = await triarch.health.probes({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.health.probes({ cursor: page.next })
 */
export interface ProbePage {
  /** The endpoints of this page. */
  endpoints: KeptEndpoint[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/** The stored form; instants are ms since the epoch. */
interface StoredEndpoint extends Omit<EndpointInfo, 'name' | 'since' | 'last'> {
  format: 1
  since: number
  lateAt: number
  last?: StoredResult
}
type StoredResult = Omit<ProbeResult, 'at' | 'certificateUntil' | 'redirects'> & {
  at: number
  certificateUntil?: number
  redirects?: string[]
}

export const MOST_ENDPOINTS = 1_000
const NAME = /^[A-Za-z0-9][\w.-]{0,89}$/
/** Largest number of stored probes per endpoint, and of their characters. */
const MOST_RESULTS = 100
const LONGEST_RESULTS = 64 * 1024
/** Longest stored text of a problem or address (characters), and most redirects; more is cut. */
const LONGEST_TEXT = 500
const MOST_REDIRECTS = 10

/** Endpoints per page in internal listings. */
export const PROBE_PAGE = 1_000
/** The same with histories, which make a page some MiB large. */
const HISTORY_PAGE = 100

/** Lists endpoints. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function listProbes(
  store: () => Promise<Pick<StateStore, 'probes'>>,
  options: ProbesOptions,
): Promise<ProbePage> {
  checkOptions('health.probes', options, ['names', 'history', 'cursor', 'limit'])
  const { names, history = false, cursor = '', limit = 100 } = options
  if (typeof history !== 'boolean') throw invalid('health.probes: history must be true or false')
  const most = history ? HISTORY_PAGE : PROBE_PAGE
  checkInteger('health.probes: limit', limit, 1, most)
  checkText('health.probes: cursor', cursor, 100)
  if (names !== undefined && !isNames(names, most))
    throw invalid(`health.probes: names must be ${most} strings at most`)
  const results = history
  const rows = await (await store()).probes(names ? { names, results } : { after: cursor, limit: limit + 1, results })
  const isLong = names === undefined && rows.length > limit
  const page = isLong ? rows.slice(0, limit) : rows
  const last = page.at(-1)
  return { endpoints: page.flatMap((row) => keptEndpoint(row) ?? []), ...(isLong && last && { next: last.name }) }
}

function isNames(names: unknown, most: number): boolean {
  return (
    Array.isArray(names) && names.length <= most && names.every((name) => typeof name === 'string' && isStorable(name))
  )
}

/** The view of a row; null: it cannot be read. */
export function keptEndpoint({ name, state: text, results, undecoded }: ProbeRow): KeptEndpoint | null {
  const stored = undecoded ? null : objectOf<StoredEndpoint>(text)
  if (stored?.format !== 1) return null
  const { url, state, since, streak, lateAt, last } = stored
  const looks = legible(results)
  return {
    ...{ name, url, state, since: new Date(since), streak, lateAt: new Date(lateAt) },
    ...(last && { last: resultOf(last) }),
    ...(Array.isArray(looks) && { history: (looks as StoredResult[]).map(resultOf) }),
  }
}

/** The rows of endpoints. Throws INVALID_OPTION. */
export function probeRows(endpoints: readonly KeptEndpoint[]): { name: string; state: string; results: string }[] {
  if (!Array.isArray(endpoints) || endpoints.length > MOST_ENDPOINTS)
    throw invalid(`keep: there may be ${MOST_ENDPOINTS} endpoints`)
  return endpoints.map(({ name, url, state, since, streak, lateAt, last, history = [] }) => {
    if (typeof name !== 'string' || !NAME.test(name))
      throw invalid(`keep: "${String(name).slice(0, 100)}" is no name of an endpoint`)
    if (!['unknown', 'up', 'down'].includes(state)) throw invalid(`keep: ${name}: state`)
    const stored: StoredEndpoint = {
      ...{ format: 1, url: placeOf(name, url), state, since: instant(name, since), streak },
      ...{ lateAt: instant(name, lateAt), ...(last && { last: storedResult(name, last) }) },
    }
    return { name, state: JSON.stringify(stored), results: resultsText(name, history) }
  })
}

/** Checks the names of endpoints to delete. Throws INVALID_OPTION. */
export function droppedProbes(names: readonly string[]): readonly string[] {
  if (isNames(names, MOST_ENDPOINTS)) return names
  throw invalid(`keep: dropped must be ${MOST_ENDPOINTS} names at most`)
}

/** The latest probes that fit within the bounds. */
function resultsText(name: string, history: readonly ProbeResult[]): string {
  const texts = history.slice(-MOST_RESULTS).map((one) => JSON.stringify(storedResult(name, one)))
  let length = texts.reduce((sum, text) => sum + text.length + 1, 2)
  while (length > LONGEST_RESULTS) length -= (texts.shift()?.length ?? 0) + 1
  return `[${texts.join(',')}]`
}

/** The URL without parts that may be secret. */
function placeOf(name: string, url: string): string {
  if (!URL.canParse(url)) throw invalid(`keep: ${name}: url`)
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

function storedResult(
  name: string,
  { at, ms, problem, status, address, certificateUntil, redirects = [] }: ProbeResult,
): StoredResult {
  const text = (it: string) => it.slice(0, LONGEST_TEXT).toWellFormed()
  return {
    ...{ at: instant(name, at), ms },
    ...(problem && { problem: { code: problem.code, message: text(problem.message) } }),
    ...(status !== undefined && { status }),
    ...(address !== undefined && { address: text(address) }),
    ...(certificateUntil && { certificateUntil: instant(name, certificateUntil) }),
    ...(redirects.length > 0 && { redirects: redirects.slice(0, MOST_REDIRECTS).map(text) }),
  }
}

function resultOf({ at, certificateUntil, redirects = [], ...rest }: StoredResult): ProbeResult {
  const until = certificateUntil !== undefined && { certificateUntil: new Date(certificateUntil) }
  return { ...rest, at: new Date(at), redirects, ...until }
}

function instant(name: string, at: Date): number {
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at.getTime()
  throw invalid(`keep: ${name}: an instant must be a valid date`)
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', problem)
}
