import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SpanContext } from '@opentelemetry/api'
import { Counter, Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client'
import { type TelemetryListeners, TriarchError } from 'triarch'
import { type MetricName, metrics, prometheusName } from './metric/catalogue.ts'
import { FRESH, Gauges, type Observed } from './metric/gauges.ts'
import { recorder } from './metric/recorder.ts'
import type { Labels, Sink } from './metric/sink.ts'
import { parseTraceparent } from './trace/carrier.ts'

/**
 * Where Prometheus asks a node by itself.
 * @example const at: MetricsListenOptions = { host: '0.0.0.0', port: 9464 }
 */
export interface MetricsListenOptions {
  /** 0 takes a free one; 9464. */
  port?: number
  /** The address; '127.0.0.1'. */
  host?: string
}

/**
 * Metrics for Prometheus to fetch.
 * @example
 * const prom: Prometheus = prometheus()
 * const triarch = new Triarch({ store: sqlite('shop.db'), telemetry: prom.telemetry })
 * prom.observe(triarch)
 * await prom.listen({ port: 9464 })
 */
export interface Prometheus extends AsyncDisposable {
  /** For `telemetry`. With others: `listeners(prom.telemetry, otel.telemetry)`. */
  readonly telemetry: TelemetryListeners
  /**
   * Looks at the store whenever somebody fetches (every 5 s at most), for what waits there. Gives what ends that.
   * @example const end = prom.observe(triarch)
   */
  observe(triarch: Observed): () => void
  /**
   * Answers a request with all metrics: as OpenMetrics, with exemplars, if it accepts that, else as text. Never rejects.
   * @example const text = await (await prom.respond(new Request('http://localhost/metrics'))).text()
   */
  respond(request: Request): Promise<Response>
  /**
   * Serves `/metrics`, and nothing else, to whoever reaches the address; gives its URL. Throws INVALID_OPTION when it listens already.
   * @example const url = await prom.listen({ port: 9464 })
   */
  listen(options?: MetricsListenOptions): Promise<string>
  /**
   * Listens no more, and looks at nothing.
   * @example await prom.close()
   */
  close(): Promise<void>
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * The metrics of an engine for Prometheus, by prom-client.
 * @example const prom = prometheus()
 */
export function prometheus(options: { onError?: (error: unknown) => void } = {}): Prometheus {
  return new Exporter(options.onError ?? (() => undefined))
}

class Exporter implements Prometheus, Sink {
  readonly telemetry: TelemetryListeners
  readonly #registry = new Registry<OpenMetricsContentType>()
  readonly #counters = new Map<MetricName, Counter>()
  readonly #gauges = new Map<MetricName, Gauge>()
  readonly #histograms = new Map<MetricName, Histogram>()
  readonly #observed = new Set<Gauges>()
  readonly #failed: (error: unknown) => void
  #server: Server | null = null
  /** One at a time: what is observed is set anew for each. */
  #last: Promise<string> = Promise.resolve('')

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
    this.#registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    for (const name of Object.keys(metrics) as MetricName[]) this.#register(name)
    // What a collector can look up: the span that submitted the task, whose trace has all the others.
    const example = ({ traceparent }: { traceparent: string | null }) => {
      const span = parseTraceparent(traceparent)
      return span && span.traceFlags !== 0 ? span : null
    }
    this.telemetry = recorder(this, { task: example, step: example, attempt: example })
  }

  #register(name: MetricName): void {
    const { kind, description: help, attributes, buckets } = metrics[name]
    const labelNames = attributes.map(labelOf)
    const common = { name: prometheusName(name), help, labelNames, registers: [this.#registry] }
    if (kind === 'counter') this.#counters.set(name, new Counter(common))
    else if (kind === 'histogram') {
      const made = new Histogram({ ...common, buckets: [...(buckets ?? [])], enableExemplars: true })
      this.#histograms.set(name, made)
    } else this.#gauges.set(name, new Gauge(common))
  }

  add(name: MetricName, value: number, labels: Labels): void {
    this.#counters.get(name)?.inc(labelled(labels), value)
    this.#gauges.get(name)?.inc(labelled(labels), value)
  }

  record(name: MetricName, value: number, labels: Labels, span: SpanContext | null): void {
    const exemplarLabels = span ? { exemplarLabels: { trace_id: span.traceId, span_id: span.spanId } } : {}
    this.#histograms.get(name)?.observe({ labels: labelled(labels), value, ...exemplarLabels } as never)
  }

  observe(triarch: Observed): () => void {
    const gauges = new Gauges(triarch, this.#failed)
    this.#observed.add(gauges)
    return () => {
      this.#observed.delete(gauges)
      gauges.close()
    }
  }

  async respond(request: Request): Promise<Response> {
    const isOpen = (request.headers.get('accept') ?? '').includes('application/openmetrics-text')
    try {
      this.#last = this.#last.then(
        () => this.#collect(),
        () => this.#collect(),
      )
      const open = await this.#last
      const type = isOpen ? Registry.OPENMETRICS_CONTENT_TYPE : TEXT
      const body = request.method === 'HEAD' ? null : isOpen ? open : plain(open)
      return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
    } catch (error) {
      this.#failed(error)
      return new Response('the metrics could not be collected\n', { status: 500 })
    }
  }

  async #collect(): Promise<string> {
    for (const [name, gauge] of this.#gauges) if (metrics[name].kind === 'gauge') gauge.reset()
    for (const gauges of this.#observed)
      for (const { name, value, labels } of await gauges.read()) this.#gauges.get(name)?.set(labelled(labels), value)
    return this.#registry.metrics()
  }

  async listen({ port = 9464, host = '127.0.0.1' }: MetricsListenOptions = {}): Promise<string> {
    if (this.#server) throw new TriarchError('INVALID_OPTION', 'prometheus: it listens already')
    const server = createServer((incoming, outgoing) => {
      const url = `http://${host}${incoming.url ?? '/'}`
      const isMetrics = incoming.url === '/metrics' && (incoming.method === 'GET' || incoming.method === 'HEAD')
      if (!isMetrics) return void outgoing.writeHead(404).end('metrics are at /metrics\n')
      const accept = incoming.headers.accept ?? ''
      void this.respond(new Request(url, { method: incoming.method ?? 'GET', headers: { accept } })).then(
        async (response) => {
          outgoing.writeHead(response.status, Object.fromEntries(response.headers))
          outgoing.end(await response.text())
        },
      )
    })
    server.headersTimeout = FRESH
    server.requestTimeout = FRESH
    server.maxConnections = MOST_CONNECTIONS
    this.#server = server
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject).listen(port, host, resolve)
    try {
      await promise
    } catch (error) {
      this.#server = null
      throw error
    }
    // Metrics keep no process alive.
    server.unref()
    const at = server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${at.port}/metrics`
  }

  async close(): Promise<void> {
    for (const gauges of this.#observed) gauges.close()
    this.#observed.clear()
    const server = this.#server
    this.#server = null
    if (!server) return
    const { promise, resolve } = Promise.withResolvers<void>()
    server.close(() => resolve())
    server.closeAllConnections()
    await promise
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Connections of one listen(), at the same time. */
const MOST_CONNECTIONS = 100

function labelOf(attribute: string): string {
  return attribute.replaceAll('.', '_')
}

function labelled(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [labelOf(name), value]))
}

/** OpenMetrics as the older text: counters carry their suffix in their names, and there are no exemplars. */
function plain(open: string): string {
  const counters = new Set([...open.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name))
  return open
    .replace(/^(# (?:TYPE|HELP)) (\S+) /gm, (line, what, name) =>
      counters.has(name) ? `${what} ${name}_total ` : line,
    )
    .replace(/^([^#\n].*?) # \{[^\n]*$/gm, '$1')
    .replace(/# EOF\n$/, '')
}
