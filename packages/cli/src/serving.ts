import { createHash, timingSafeEqual } from 'node:crypto'
import type { ServerOptions } from '@triarch/server'
import type { TelemetryListeners, Triarch } from 'triarch'
import type { App, Duties } from './app.ts'
import { readKey } from './argument.ts'
import { exitCodes, Failure, usage } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** What a node that is started by the command offers over HTTP. */
export interface Serving {
  port?: number
  /** Where somebody has that: the next that is free. */
  nextPort?: boolean
  metrics?: number
  host?: string
  keys?: boolean
}

/** Characters of the key of the server, which may do everything and never ends: fewer can be guessed. */
const SHORTEST = 16

/** Where others than this machine may come, only those with a key may ask; health and metrics have none. */
export function serverKey(
  { env }: Pick<Terminal, 'env'>,
  { host, keys }: Serving,
  given: ServerOptions = {},
): string | undefined {
  const file = env.TRIARCH_SERVER_KEY_FILE
  const key = env.TRIARCH_SERVER_KEY ?? (file === undefined ? undefined : readKey(file))
  if (key !== undefined && key.length < SHORTEST)
    throw usage(`the key of the server has fewer than ${SHORTEST} characters: make one with "openssl rand -base64 32"`)
  const isGuarded = keys || given.keys || given.authenticate !== undefined
  if (key === undefined && !isGuarded && host !== undefined && !/^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host))
    throw usage(`--host ${host}: others could ask: give --keys, or set TRIARCH_SERVER_KEY or TRIARCH_SERVER_KEY_FILE`)
  return key
}

/** Whether what serves tasks is installed: it is looked for, and not loaded. */
export function canServe(): boolean {
  try {
    import.meta.resolve('@triarch/server')
    return true
  } catch {
    return false
  }
}

/** Tells ours, which never fails, and then those of the user, of which the engine hears what went wrong. */
export function beside(own: TelemetryListeners, given: TelemetryListeners = {}): TelemetryListeners {
  type Listener = (event: unknown) => unknown
  const [ours, theirs] = [own, given] as Readonly<Record<string, Listener>>[]
  const both = Object.entries(ours ?? {}).map(([name, listener]): [string, Listener] => {
    const other = theirs?.[name]
    const tell = (event: unknown) => {
      listener(event)
      return other?.(event)
    }
    return [name, other === undefined ? listener : tell]
  })
  return { ...given, ...Object.fromEntries(both) }
}

/**
 * Serves tasks, as the module says beyond the command line, and heeds the signals that end the process; gives the URL, and whether the
 * console is there as well.
 */
export async function serveTasks(
  triarch: Triarch,
  { workflows, duties: { server: given = {} } = {} }: App,
  { port, host, keys, nextPort }: Serving & { port: number },
  key: string | undefined,
): Promise<AsyncDisposable & { url: string; console: boolean }> {
  const { createServer } = await wanted('--port', '@triarch/server', () => import('@triarch/server'))
  const authenticate: ServerOptions['authenticate'] = (request) =>
    isSame(request.headers.get('authorization') ?? '', `Bearer ${key}`)
      ? { id: 'key' }
      : (given.authenticate?.(request) ?? null)
  // Whoever has installed the console sees it.
  const console = await import('@triarch/console').then(({ files }) => files).catch(() => undefined)
  const server = createServer(triarch, {
    workflows,
    ...(console !== undefined && { console }),
    ...given,
    ...(key !== undefined && { authenticate }),
    ...(keys !== undefined && { keys }),
  })
  for (let at = port; ; at++)
    try {
      const { url } = await server.listen({ port: at, ...(host !== undefined && { host }) })
      const about = { url: `${url}${given.basePath ?? ''}`, console: (given.console ?? console) !== undefined }
      return { ...about, [Symbol.asyncDispose]: () => server.close() }
    } catch (error) {
      if (!nextPort || !isTaken(error) || at - port >= NEXT_PORTS || at >= 65_535) throw error
    }
}

/** Watches the endpoints of the module until the engine stops, once that is asked for. */
export async function watcher(triarch: Triarch, options: NonNullable<Duties['prober']>): Promise<() => Promise<void>> {
  const { createProber } = await wanted('prober', '@triarch/server', () => import('@triarch/server'))
  const prober = createProber({ ...options, triarch })
  return () => prober.run(new AbortController().signal)
}

/** So many ports are tried after the one that is wanted. */
const NEXT_PORTS = 100

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** What tells an exporter of this node, and who listens already, before there is the engine; and what serves it afterwards. */
export async function exporter(own: TelemetryListeners): Promise<{
  telemetry: TelemetryListeners
  listen: (triarch: Triarch, at: { port: number; host?: string | undefined }) => Promise<string>
}> {
  const module = '@triarch/opentelemetry'
  const { prometheus } = await wanted('--metrics', module, () => import('@triarch/opentelemetry/prometheus'))
  const { listeners } = await wanted('--metrics', module, () => import('@triarch/opentelemetry'))
  const prom = prometheus()
  return {
    telemetry: listeners(prom.telemetry, own),
    listen(triarch, { port, host }) {
      prom.observe(triarch)
      return prom.listen({ port, ...(host !== undefined && { host }) })
    },
  }
}

/** In a time that does not tell how much of it was right. */
function isSame(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a as Buffer, b as Buffer)
}

/** Only who serves needs it. */
async function wanted<T>(option: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const message = `${option} needs ${name}: npm install ${name}`
    throw Object.assign(new Failure(exitCodes.usage, 'NO_PACKAGE', message), { cause })
  }
}
