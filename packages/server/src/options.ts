import { type Right, TriarchError, type Workflow } from 'triarch'
import { ConsoleFiles } from './console.ts'

/**
 * Who asks, as `authenticate` found out.
 * @example const principal: Principal = { id: 'billing', rights: ['read', 'start'] }
 */
export interface Principal {
  /** Names who asks: a user, a service. */
  readonly id: string
  /** What they may do: all else is 403 FORBIDDEN; all. */
  readonly rights?: readonly Right[]
  /** Until when: they hand out no API key for longer; for good. */
  readonly expiresAt?: Date
}

/**
 * How much one request may ask for.
 * @example const limits: ServerLimits = { bytes: 64 * 1024, wait: 20_000 }
 */
export interface ServerLimits {
  /** Bytes of a body; 1 MiB. */
  bytes?: number
  /** How deep the JSON of a body may be nested: 1 to 1,000; 100. */
  depth?: number
  /** Items of one array, and members of one object, in a body; 10,000. */
  items?: number
  /** Characters of a URL; 8,192. */
  url?: number
  /** Longest `wait` of a request (ms), whatever it asks for; 60,000. */
  wait?: number
  /** Requests that wait at the same time. One more is answered without a wait; 1,000. */
  waiting?: number
  /** Reads that are answered at the same time, of one caller 4. One more waits for its turn, and after 5 s is 429; 16. */
  reads?: number
  /** Bytes of answers and events that wait for clients to read them, of one caller a quarter. Beyond it a request is 429, and a stream ends; 64 MiB. */
  held?: number
  /** Streams of events at the same time, of one caller a quarter; the last tenth is for callers with the right `control`. One more is 503; 1,000. */
  streams?: number
  /** Bytes of events that may wait for one client to read them. One more, and its stream ends; 1 MiB. */
  buffered?: number
  /** How long a client may leave lines of a log that it follows unread (ms). Longer, and its stream ends; 30,000. */
  stalled?: number
  /** Connections of one listen(), at the same time. One more takes the place of the one that has been silent the longest; 10,000. */
  connections?: number
}

/**
 * What answers a request for metrics.
 * @example const metrics: MetricsSource = { respond: async () => new Response('up 1\n') }
 */
export interface MetricsSource {
  /**
   * Answers with all metrics.
   * @example
   * const metrics: MetricsSource = { respond: async () => new Response('up 1\n') }
   * const response = await metrics.respond(new Request('http://localhost/metrics'))
   */
  respond(request: Request): Promise<Response>
}

/**
 * What the server offers, and to whom.
 * @example
 * const options: ServerOptions = {
 *   workflows: [fulfil],
 *   authenticate: ({ headers }) => (headers.get('x-key') === 's3cret' ? { id: 'shop' } : null),
 * }
 */
export interface ServerOptions {
  /**
   * Those that can be started from outside; none. Of several versions of one name the last in the list is started, unless the
   * request names a version.
   */
  workflows?: readonly Workflow[]
  /**
   * Who asks; null: nobody that is known, and the answer is 401. Without it everybody is let in, and listen() takes loopback
   * only. Resuming a step by its token asks nobody: the token is the right.
   */
  authenticate?: (request: Request) => Principal | null | Promise<Principal | null>
  /**
   * Nobody is asked who they are: everybody who reaches this server, mounted as `fetch`, `node` or `upgrade`, may do everything. Said where there is
   * neither `authenticate` nor `keys`; without it such a server refuses to be mounted. Requests must name it by an IP address, by a name of
   * loopback or by one of these names (`['tasks.internal']`), so that no page of another name is led to it. False.
   */
  open?: boolean | readonly string[]
  /**
   * API keys of the store are taken as well (`Authorization: Bearer triarch_…`), each with its rights, or alone where there is no `authenticate`:
   * then all others are 401; false.
   */
  keys?: boolean
  /** What the paths of incoming requests begin with where the server is mounted, unless the framework removes it: '/triarch'; ''. */
  basePath?: string
  /** Pages of other origins that may ask with a browser's help, such as 'https://console.example.com': what changes something, and to read answers (CORS); none. */
  origins?: readonly string[]
  /** How much one request may ask for. */
  limits?: ServerLimits
  /**
   * What answers `GET /metrics`, below `basePath`, for those that `authenticate` lets in: what `prometheus()` of
   * `@triarch/opentelemetry/prometheus` returned; there is no such path.
   */
  metrics?: MetricsSource
  /**
   * The console, below `basePath`: `files` of `@triarch/console`, or the folder where they are; none. Anybody may load it, and sees what
   * `authenticate` lets them: it asks for a token, and sends it as `Authorization: Bearer`.
   */
  console?: URL | string
  /**
   * Where the console leads for the trace of a task, `{traceId}` for its id: 'https://traces.example.com/trace/{traceId}'; nowhere. Only tasks
   * that were submitted with a `traceparent` have one.
   */
  traceUrl?: string
  /** How bad the worst check must be for `GET /health` to answer 503: 'warning' or 'critical'; 'critical'. */
  unhealthyAt?: 'warning' | 'critical'
  /** Hears of each error that a client was told no more of than that there was one; a warning of the process. */
  onError?: (error: unknown) => void
}

export interface Settings {
  workflows: readonly Workflow[]
  authenticate: ServerOptions['authenticate']
  keys: boolean
  /** Null: it may not be mounted where nobody is asked. */
  open: ReadonlySet<string> | null
  basePath: string
  origins: ReadonlySet<string>
  limits: Required<ServerLimits>
  metrics: MetricsSource | undefined
  console: ConsoleFiles | undefined
  unhealthyAt: 'warning' | 'critical'
  onError: (error: unknown) => void
}

const standard: Required<ServerLimits> = {
  bytes: 1024 * 1024,
  depth: 100,
  items: 10_000,
  url: 8_192,
  wait: 60_000,
  waiting: 1_000,
  reads: 16,
  held: 64 * 1024 * 1024,
  streams: 1_000,
  buffered: 1024 * 1024,
  stalled: 30_000,
  connections: 10_000,
}
const most: Required<ServerLimits> = {
  bytes: 1024 ** 3,
  depth: 1_000,
  items: 10_000_000,
  url: 1024 ** 2,
  wait: 3_600_000,
  waiting: 1_000_000,
  reads: 10_000,
  held: 1024 ** 4,
  streams: 1_000_000,
  buffered: 1024 ** 3,
  stalled: 3_600_000,
  connections: 1_000_000,
}
const names = [
  'workflows',
  'authenticate',
  'keys',
  'open',
  'basePath',
  'origins',
  'limits',
  'metrics',
  'console',
  'traceUrl',
  'unhealthyAt',
  'onError',
]

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function settingsOf(options: ServerOptions): Settings {
  known('createServer', options, names)
  const { workflows = [], authenticate, basePath = '', origins = [], limits = {}, metrics, onError } = options
  const { unhealthyAt = 'critical', keys = false, open = false } = options
  known('createServer: limits', limits, Object.keys(standard))
  if (!Array.isArray(workflows) || workflows.some((one) => typeof one?.definition !== 'object'))
    throw invalid('workflows must be what workflow() returned')
  if (authenticate !== undefined && typeof authenticate !== 'function') throw invalid('authenticate must be a function')
  if (typeof keys !== 'boolean') throw invalid('keys must be true or false')
  if (typeof open !== 'boolean' && !(Array.isArray(open) && open.every((name) => /^[\w.-]+$/.test(name))))
    throw invalid('open must be true, false, or names of hosts without ports')
  if (open !== false && (keys || authenticate !== undefined))
    throw invalid('open is for a server that asks nobody who they are: leave it out, or `authenticate` and `keys`')
  if (onError !== undefined && typeof onError !== 'function') throw invalid('onError must be a function')
  if (metrics !== undefined && typeof metrics?.respond !== 'function')
    throw invalid('metrics must be what prometheus() returned')
  const files = options.console
  if (files !== undefined && typeof files !== 'string' && !(files instanceof URL))
    throw invalid('console must be `files` of @triarch/console, or a folder')
  const { traceUrl = '' } = options
  if (
    traceUrl !== '' &&
    !(typeof traceUrl === 'string' && /^https?:\/\//.test(traceUrl) && traceUrl.includes('{traceId}'))
  )
    throw invalid("traceUrl must be such as 'https://traces.example.com/trace/{traceId}'")
  if (unhealthyAt !== 'critical' && unhealthyAt !== 'warning')
    throw invalid('unhealthyAt must be "warning" or "critical"')
  if (!/^(?:\/[\w.~-]+)*$/.test(basePath)) throw invalid('basePath must be such as "/triarch", or empty')
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalid('origins must be such as "https://example.com"')
  for (const name of Object.keys(standard) as (keyof ServerLimits)[]) {
    const value = limits[name] ?? 1
    if (!Number.isSafeInteger(value) || value < 1 || value > most[name])
      throw invalid(`limits.${name} must be a whole number from 1 to ${most[name]}`)
  }
  return {
    ...{
      workflows: [...workflows],
      authenticate,
      keys,
      metrics,
      open: namesOf(open),
      unhealthyAt,
      basePath,
      origins: new Set(origins),
    },
    console: files === undefined ? undefined : new ConsoleFiles(files, basePath, traceUrl),
    limits: { ...standard, ...limits },
    onError: guarded(onError ?? warn),
  }
}

export function known(what: string, given: object, allowed: readonly string[]): void {
  if (typeof given !== 'object' || given === null)
    throw new TriarchError('INVALID_OPTION', `${what}: the options must be an object`)
  const unknown = Object.keys(given).find((key) => !allowed.includes(key))
  if (unknown !== undefined)
    throw new TriarchError('UNKNOWN_OPTION', `${what}: unknown option "${unknown}", known: ${allowed.join(', ')}`)
}

export function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `createServer: ${problem}`)
}

/** Whatever it does, the request goes on. */
function guarded(onError: (error: unknown) => unknown): (error: unknown) => void {
  return (error) => {
    try {
      const answer = onError(error)
      if (answer instanceof Promise) answer.catch(warn)
    } catch (failure) {
      warn(failure)
    }
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)))
}

function namesOf(open: boolean | readonly string[]): ReadonlySet<string> | null {
  if (open === false) return null
  return new Set(open === true ? [] : open.map((name) => name.toLowerCase()))
}
