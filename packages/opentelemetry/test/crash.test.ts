import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, propagation, trace } from '@opentelemetry/api'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, expect, it } from 'vitest'
import { attributesOf, receiver } from './receiver.ts'
import { reset, sdk } from './sdk.ts'
import { shop } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-otel-'))
afterAll(() => {
  reset()
  rmSync(folder, { recursive: true, force: true })
})

it('a process that is killed in the middle of an attempt leaves one whole trace', async () => {
  await using collector = await receiver()
  const file = join(folder, 'shop.db')
  const { otel, provider } = sdk(collector.url)
  const { order } = shop()
  await using triarch = new Triarch({
    store: sqlite(file),
    workflows: [order],
    roles: [],
    middleware: [otel.middleware],
  })
  const start = () => {
    const program = join(import.meta.dirname, 'node.ts')
    return spawn(process.execPath, [program, file, collector.url], { stdio: ['ignore', 'inherit', 'inherit'] })
  }
  const root = provider.getTracer('web').startSpan('POST /orders')
  const baggage = propagation.createBaggage({ tenant: { value: 'acmé, inc' } })
  const inside = propagation.setBaggage(trace.setSpan(context.active(), root), baggage)
  const task = await context.with(inside, () => triarch.submit(order, { marker: join(folder, 'died') }, { id: 'o-1' }))
  root.end()
  const [, signal] = await once(start(), 'exit')
  expect(signal).toBe('SIGKILL')
  const second = start()
  expect(await task.result({ timeout: '2m' })).toBe('acmé, inc shipped')
  second.kill('SIGTERM')
  await once(second, 'exit')
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
  expect(spans.map(({ spanId }) => pathOf(spanId)).sort()).toEqual(
    [
      ...['POST /orders', 'POST /orders > submit order', above],
      ...[`${above} > payments.charge`, `${above} > payments.charge > run payments.charge`],
      `${above} > payments.charge > run payments.charge > ask the bank`,
      ...[`${above} > payments.ship`, `${above} > payments.ship > run payments.ship`],
      `${above} > payments.ship > run payments.ship`,
      `${above} > payments.ship > run payments.ship > ask the bank`,
      `${above} > payments.ship > run payments.ship > ask the bank`,
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
