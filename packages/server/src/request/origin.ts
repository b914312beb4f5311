import { isIP } from 'node:net'
import { Refused } from '../problem/problem.ts'

/**
 * A page of another origin may not change anything with a browser's help, whatever the browser would send along. What is no browser sends
 * neither header. Throws CROSS_ORIGIN.
 */
export function checkOrigin({ headers }: Request, origins: ReadonlySet<string>): void {
  const origin = headers.get('origin')
  if (origin !== null && origins.has(origin)) return
  const site = headers.get('sec-fetch-site')
  const foreign =
    site === null ? origin !== null && !isOwn(origin, headers.get('host')) : site !== 'same-origin' && site !== 'none'
  if (foreign) throw new Refused('CROSS_ORIGIN', 'a page of another origin may not change anything')
}

function isOwn(origin: string, host: string | null): boolean {
  return host !== null && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

/** Names of this machine that no other can take: what a page that has its own name lead to it does not say. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname)
}

/** Throws MISDIRECTED. */
export function checkLoopback(request: Request): void {
  if (!isLoopback(hostOf(request)))
    throw new Refused('MISDIRECTED', 'this server is asked by the names of loopback only')
}

/** Where nobody is asked who they are: a page of another name that is led to this address says that name. Throws MISDIRECTED. */
export function checkName(request: Request, names: ReadonlySet<string>): void {
  const host = hostOf(request)
  if (isLoopback(host) || isIP(host.replace(/^\[|\]$/g, '')) !== 0 || names.has(host)) return
  throw new Refused('MISDIRECTED', 'this server is not known by this name: see the option `open` of createServer')
}

function hostOf({ headers, url }: Request): string {
  const host = headers.get('host') ?? new URL(url).host
  const [, hostname = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.toLowerCase()) ?? []
  return hostname
}
