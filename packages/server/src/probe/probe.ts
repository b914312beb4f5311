import { type IncomingMessage, request as plain } from 'node:http'
import { request as secure } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type ProbeProblem, type ProbeProblemCode, type ProbeResult, readJson } from 'triarch'
import { monotonic, now, timer } from '../environment.ts'
import type { Target } from './options.ts'

/** Bytes of a body that are read; of the report of a Triarch, so many. */
const BODY = 64 * 1024
const REPORT = 1024 * 1024
const DAY = 86_400_000

class Wrong extends Error {
  readonly code: ProbeProblemCode

  constructor(code: ProbeProblemCode, message: string) {
    super(message)
    this.code = code
  }
}

interface ProbeResponse {
  status: number
  location: string | undefined
  body: string
}

/** Looks once, by connections of its own, so that name, address and certificate are looked at each time. Never rejects. */
export async function probe(target: Target, stop: AbortSignal): Promise<ProbeResult> {
  const from = monotonic()
  const result: ProbeResult = { at: new Date(now()), ms: 0, redirects: [] }
  const over = new AbortController()
  const late = timer(target.timeout, () => over.abort())
  const signal = AbortSignal.any([over.signal, stop])
  try {
    await look(target, result, signal)
    const took = monotonic() - from
    if (took > target.within) throw new Wrong('slow', `it took ${Math.round(took)} ms, more than ${target.within}`)
  } catch (error) {
    result.problem = problemOf(error, over.signal.aborted ? target.timeout : null)
  } finally {
    late()
  }
  result.ms = Math.round(monotonic() - from)
  return result
}

async function look(target: Target, result: ProbeResult, signal: AbortSignal): Promise<void> {
  let { url } = target
  for (;;) {
    const { status, location, body } = await ask(target, url, result, signal)
    result.status = status
    const isRedirect = status >= 300 && status < 400 && location !== undefined
    if (target.redirects === 0 || !isRedirect) return judge(target, status, body)
    if (result.redirects.length >= target.redirects)
      throw new Wrong('redirect', `more than ${target.redirects} redirects`)
    const next = URL.canParse(location, url.href) ? new URL(location, url) : null
    // Headers may have secrets in them, and only this host and port were said to be asked.
    if (!next || next.host !== url.host || !isAsSafe(url, next))
      throw new Wrong('redirect', `it leads elsewhere: ${location.slice(0, 200)}`)
    result.redirects.push(next.href)
    url = next
  }
}

function isAsSafe(from: URL, to: URL): boolean {
  return to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:')
}

function ask(target: Target, url: URL, result: ProbeResult, signal: AbortSignal): Promise<ProbeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeResponse>()
  const { headers, ca } = target
  const options = {
    method: 'GET',
    headers: { ...headers, 'accept-encoding': 'identity' },
    agent: false as const,
    signal,
  }
  const request =
    url.protocol === 'https:' ? secure(url, { ...options, ...(ca !== null && { ca }) }) : plain(url, options)
  const fail = (error: unknown) => {
    reject(error)
    request.destroy()
  }
  request.on('error', reject)
  request.on('socket', (socket: Socket) => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      try {
        connected(target, socket, result)
      } catch (error) {
        fail(error)
      }
    })
  })
  request.on('response', (response: IncomingMessage) => {
    const most = target.triarch === null ? BODY : REPORT
    const chunks: Buffer[] = []
    let bytes = 0
    const { statusCode: status = 0, headers: told } = response
    const done = () => {
      resolve({ status, location: told.location, body: Buffer.concat(chunks).subarray(0, most).toString('utf8') })
      response.destroy()
    }
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes >= most) done()
    })
    response.on('end', done)
    response.on('error', reject)
  })
  request.end()
  return promise
}

function connected({ addresses, certificateDays }: Target, socket: Socket, result: ProbeResult): void {
  const { remoteAddress } = socket
  if (remoteAddress !== undefined) result.address = remoteAddress
  if (addresses !== null && !addresses.includes(remoteAddress ?? ''))
    throw new Wrong('address', `the name leads to ${remoteAddress}, and not to ${addresses.join(', ').slice(0, 300)}`)
  if (!(socket instanceof TLSSocket)) return
  const until = new Date(socket.getPeerCertificate().valid_to)
  result.certificateUntil = until
  const days = (until.getTime() - now()) / DAY
  if (!(days >= certificateDays))
    throw new Wrong(
      'certificate',
      `the certificate is good until ${until.toISOString()}, for less than ${certificateDays} days`,
    )
}

function judge({ status: expected, contains, triarch }: Target, status: number, body: string): void {
  if (triarch !== null) return judgeReport(triarch, status, body)
  const isWell = expected === null ? status >= 200 && status < 300 : expected.includes(status)
  if (!isWell) throw new Wrong('status', `the status is ${status}`)
  if (contains === null) return
  const found = typeof contains === 'string' ? body.includes(contains) : new RegExp(contains).test(body)
  if (!found) throw new Wrong('content', `the body does not have ${String(contains).slice(0, 100)} in it`)
}

/** What another Triarch says of itself. */
function judgeReport(bad: 'warning' | 'critical', status: number, body: string): void {
  const read = readJson(body)
  if ('problem' in read) throw new Wrong('status', `the status is ${status}, without a report`)
  const report = read.value as { status?: unknown; checks?: unknown } | null
  const said = report?.status
  if ((status !== 200 && status !== 503) || (said !== 'ok' && said !== 'warning' && said !== 'critical'))
    throw new Wrong('status', `the status is ${status}, without a report`)
  if (said !== 'critical' && said !== bad) return
  const checks = Array.isArray(report?.checks)
    ? (report.checks as { name?: unknown; status?: unknown; message?: unknown }[])
    : []
  const names = checks
    .filter((check) => check?.status === said)
    .map((check) => `${check.name}: ${check.message ?? said}`)
  throw new Wrong('health', `it is ${said}: ${names.join('; ')}`.slice(0, 1_000))
}

/** Codes of Node and OpenSSL, by what they are about. */
function problemOf(error: unknown, timeout: number | null): ProbeProblem {
  if (error instanceof Wrong) return { code: error.code, message: error.message }
  if (timeout !== null) return { code: 'timeout', message: `no answer within ${timeout} ms` }
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const said = (message || code || 'no answer').slice(0, 1_000)
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) return { code: 'dns', message: said }
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) return { code: 'certificate', message: said }
  if (/^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code)) return { code: 'tls', message: said }
  return { code: 'connect', message: said }
}
