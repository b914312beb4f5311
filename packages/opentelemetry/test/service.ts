// Somebody else's service, which knows OpenTelemetry and nothing of Triarch: service.ts RECEIVER. It says where it is, and when it ships.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { global, sdk } from './sdk.ts'

const { provider } = global(sdk(process.argv[2] ?? '', { durable: false }))
const tracer = trace.getTracer('service')
let shipments = 0

const server = createServer((request, response) => {
  request.resume()
  const above = propagation.extract(context.active(), request.headers)
  const span = tracer.startSpan(`POST ${request.url}`, { kind: SpanKind.SERVER }, above)
  const tenant = propagation.getBaggage(above)?.getEntry('tenant')?.value
  tracer.startSpan('look it up', {}, trace.setSpan(above, span)).end()
  response.once('close', () => span.end())
  // Whoever asks first dies before there is an answer.
  if (request.url === '/ship' && ++shipments === 1) console.log('ships')
  else response.end(request.url === '/hook' ? JSON.stringify(tenant) : request.url?.slice(1))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', async () => {
  await provider.forceFlush()
  process.exit(0)
})
