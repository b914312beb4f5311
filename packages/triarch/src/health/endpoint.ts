import { TriarchError } from '../error/error.ts'
import { legible, objectOf } from '../store/legible.ts'
import type { ProbeRow, StateStore } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText, isStorable } from '../value/text.ts'

/**
 * What was wrong. `dns`: the name leads nowhere; `connect`: nobody answers there; `timeout`: not soon enough; `tls`, `certificate`: the
 * connection cannot be trusted, or soon no more; `address`: the name leads elsewhere; `redirect`: one that is not followed, or too many;
 * `status`, `slow`, `content`: the answer is not as it must be; `health`: the Triarch says that it is not well.
 * @example const mine: readonly ProbeProblemCode[] = ['certificate', 'content']
 */
export type ProbeProblemCode =
  | ('dns' | 'connect' | 'timeout' | 'tls' | 'certificate' | 'address')
  | ('redirect' | 'status' | 'slow' | 'content' | 'health')

/** What was wrong with an endpoint. */
export interface ProbeProblem {
  /** Which of the things that can be wrong. */
  code: ProbeProblemCode
  /** In words. */
  message: string
}

/**
 * One look at an endpoint.
 * @example const slow = (result: ProbeResult) => result.ms > 1_000
 */
export interface ProbeResult {
  /** When it began. */
  at: Date
  /** How long it took, all in all (ms). */
  ms: number
  /** What was wrong; absent: nothing. */
  problem?: ProbeProblem
  /** Of the last answer; absent: none came. */
  status?: number
  /** Where the name led to. */
  address?: string
  /** Until when the certificate is good. */
  certificateUntil?: Date
  /** Where it was led to, in order; empty: nowhere else. */
  redirects: string[]
}

/**
 * How an endpoint is: `unknown` until enough probes were of one mind.
 * @example const isWell = (state: EndpointState) => state !== 'down'
 */
export type EndpointState = 'unknown' | 'up' | 'down'

/**
 * An endpoint as it stands.
 * @example const [shop]: EndpointInfo[] = prober.endpoints()
 */
export interface EndpointInfo {
  /** Its name. */
  name: string
  /** Where it is. */
  url: string
  /** How it is. */
  state: EndpointState
  /** Since when. */
  since: Date
  /** Probes in a row that were of the same mind as the last. */
  streak: number
  /** The last look; absent: there was none. */
  last?: ProbeResult
}

/**
 * An endpoint as whoever probes has kept it.
 * @example const silent = ({ lateAt }: KeptEndpoint) => lateAt < new Date()
 */
export interface KeptEndpoint extends EndpointInfo {
  /** When the next look is late. */
  lateAt: Date
  /** The last looks, the oldest first: 100 at most. Absent in a list, unless it was asked for. */
  history?: ProbeResult[]
}

/**
 * Which endpoints to list.
 * @example const { endpoints } = await triarch.probes({ names: ['shop'], history: true })
 */
export interface ProbesOptions {
  /** These, 1,000 at most, or 100 with their history; over HTTP as many as a URL holds. All, a page at a time. */
  names?: readonly string[]
  /** With their last looks; false. */
  history?: boolean
  /** `next` of the page before. */
  cursor?: string
  /** Endpoints a page, at most: 1 to 1,000, or to 100 with their history; 100. */
  limit?: number
}

/**
 * Some of the endpoints, by name.
 * @example
 * const page: ProbePage = await triarch.probes({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.probes({ cursor: page.next })
 */
export interface ProbePage {
  /** The endpoints of this page. */
  endpoints: KeptEndpoint[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/** Instants are ms since the epoch. */
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
/** Looks that are kept of each, and characters of them. */
const MOST_RESULTS = 100
const LONGEST_RESULTS = 64 * 1024
/** Characters of what was wrong, of an address, and redirects: what is more is cut. */
const LONGEST_TEXT = 500
const MOST_REDIRECTS = 10

/** Pages of one list that somebody looks through. */
export const PROBE_PAGE = 1_000
/** With their histories: some MiB. */
const HISTORY_PAGE = 100

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function listProbes(
  store: () => Promise<Pick<StateStore, 'probes'>>,
  options: ProbesOptions,
): Promise<ProbePage> {
  checkOptions('probes', options, ['names', 'history', 'cursor', 'limit'])
  const { names, history = false, cursor = '', limit = 100 } = options
  if (typeof history !== 'boolean') throw invalid('probes: history must be true or false')
  const most = history ? HISTORY_PAGE : PROBE_PAGE
  checkInteger('probes: limit', limit, 1, most)
  checkText('probes: cursor', cursor, 100)
  if (names !== undefined && !isNames(names, most)) throw invalid(`probes: names must be ${most} strings at most`)
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

/** Null: it cannot be read. */
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

/** Throws INVALID_OPTION. */
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

/** Throws INVALID_OPTION. */
export function droppedProbes(names: readonly string[]): readonly string[] {
  if (isNames(names, MOST_ENDPOINTS)) return names
  throw invalid(`keep: dropped must be ${MOST_ENDPOINTS} names at most`)
}

/** The latest that there is room for. */
function resultsText(name: string, history: readonly ProbeResult[]): string {
  const texts = history.slice(-MOST_RESULTS).map((one) => JSON.stringify(storedResult(name, one)))
  let length = texts.reduce((sum, text) => sum + text.length + 1, 2)
  while (length > LONGEST_RESULTS) length -= (texts.shift()?.length ?? 0) + 1
  return `[${texts.join(',')}]`
}

/** Without what may be secret in it. */
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
