import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { context, propagation, trace } from '@opentelemetry/api'
import { connect } from '@triarch/client'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, expect, it } from 'vitest'
import { traceHeaders } from '../src/index.ts'
import { attributesOf, receiver } from './receiver.ts'
import { reset, sdk } from './sdk.ts'
import { shop } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-otel-'))
const children = new Set<ChildProcess>()
afterAll(() => {
  reset()
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A process, and what it says, line by line. */
async function start(program: string, ...given: string[]) {
  const path = join(import.meta.dirname, program)
  const child = spawn(process.execPath, [path, ...given], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => (await lines.next()).value ?? expect.fail(`${program} said nothing`)
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return { line, end, said: (await line()) as string }
}

it('scheduler, agent and service are one trace from the submission over HTTP on, though both that run the task are killed in it', async () => {
  await using collector = await receiver()
  const service = await start('service.ts', collector.url)
  const file = join(folder, 'shop.db')
  const node = (role: string) => start('node.ts', role, file, collector.url, service.said)
  const [scheduler, agent] = await Promise.all([node('scheduler'), node('agent')])
  const { provider } = sdk(collector.url)
  const { order } = shop(service.said)
  const root = provider.getTracer('web').startSpan('POST /orders')
  const baggage = propagation.createBaggage({ tenant: { value: 'acmé, inc' } })
  const inside = propagation.setBaggage(trace.setSpan(context.active(), root), baggage)
  const client = connect(scheduler.said, { headers: traceHeaders })
  await context.with(inside, () => client.submit(order, null, { id: 'o-1' }))
  root.end()
  expect(await service.line()).toBe('ships')
  // What they had told of by then.
  await collector.until('submit order', 'payments.charge', 'run payments.charge')
  await Promise.all([agent.end('SIGKILL'), scheduler.end('SIGKILL')])
  const others = await Promise.all([node('scheduler'), node('agent')])
  await using triarch = new Triarch({ store: sqlite(file), workflows: [order], roles: [] })
  expect(await triarch.tasks.get('o-1').result({ timeout: '2m' })).toEqual(['acmé, inc charge', 'ship', 'acmé, inc'])
  await Promise.all([...others, service].map((one) => one.end('SIGTERM')))
  await provider.forceFlush()

  const { spans } = collector
  const known = new Map(spans.map((span) => [span.spanId, span]))
  expect(known.size).toBe(spans.length)
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([root.spanContext().traceId]))
  const pathOf = (id: string | undefined): string => {
    const span = known.get(id ?? '')
    return span ? [pathOf(span.parentSpanId), span.name].filter(Boolean).join(' > ') : id ? 'MISSING' : ''
  }
  const above = 'POST /orders > submit order > order'
  const called = (path: string, way: string) => [`${path} > ${way}`, `${path} > ${way} > look it up`]
  const step = (action: string) => `${above} > ${action} > run ${action}`
  const shipped = [step('payments.ship'), ...called(step('payments.ship'), 'POST /ship')]
  expect(spans.map(({ spanId }) => pathOf(spanId)).sort()).toEqual(
    [
      ...['POST /orders', 'POST /orders > submit order', above],
      ...[`${above} > payments.charge`, step('payments.charge'), `${step('payments.charge')} > ask the bank`],
      ...called(`${step('payments.charge')} > ask the bank`, 'POST /charge'),
      ...[`${above} > payments.ship`, ...shipped, ...shipped],
      ...[`${above} > crm.upsert`, step('crm.upsert'), ...called(step('crm.upsert'), 'POST /hook')],
    ].sort(),
  )
  const attempts = spans.filter(({ name }) => name === 'run payments.ship').map(attributesOf)
  expect(attempts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ 'triarch.attempt': 1, 'triarch.lost': 'death' }),
      expect.objectContaining({ 'triarch.attempt': 2 }),
    ]),
  )
})
