// What a collector is to an exporter: it takes OTLP over HTTP, and keeps what it was sent.
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  links?: { traceId: string; spanId: string }[]
  status: { code: number; message?: string }
}

export interface ReceivedMetric {
  name: string
  unit: string
  sum?: { dataPoints: { asDouble?: number; asInt?: number; attributes: ReceivedSpan['attributes'] }[] }
  gauge?: { dataPoints: { asDouble?: number; asInt?: number; attributes: ReceivedSpan['attributes'] }[] }
  histogram?: { dataPoints: { count: number; explicitBounds: number[]; attributes: ReceivedSpan['attributes'] }[] }
}

export interface Receiver extends AsyncDisposable {
  url: string
  spans: ReceivedSpan[]
  /** As they were sent last. */
  metrics: Map<string, ReceivedMetric>
  /** Once spans of all these names have come. */
  until(...names: string[]): Promise<void>
}

interface Sent {
  resourceSpans?: { scopeSpans: { spans: ReceivedSpan[] }[] }[]
  resourceMetrics?: { scopeMetrics: { metrics: ReceivedMetric[] }[] }[]
}

export async function receiver(): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const news = new EventEmitter()
  const server = createServer(async (request, response) => {
    const { resourceSpans = [], resourceMetrics = [] } = (await json(request)) as Sent
    for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    for (const { scopeMetrics } of resourceMetrics)
      for (const metric of scopeMetrics.flatMap((scope) => scope.metrics)) metrics.set(metric.name, metric)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    news.emit('more')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, metrics },
    async until(...names) {
      while (!names.every((name) => spans.some((span) => span.name === name))) await once(news, 'more')
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']))
}
