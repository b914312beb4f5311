import {
  agent,
  PermanentError,
  type TelemetryEvents,
  type TelemetryListeners,
  type TelemetryName,
  TransientError,
  telemetryNames,
  workflow,
} from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { StateStore } from '../../src/store/port.ts'
import { type TestEngine, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'
import { scratch } from '../engine/scratch.ts'

/** What was told, by its name, in order. */
export type Heard = { [N in TelemetryName]: TelemetryEvents[N][] }

export function ear(): { heard: Heard; listeners: TelemetryListeners } {
  const heard = Object.fromEntries(telemetryNames.map((name) => [name, [] as unknown[]])) as Heard
  const hear = (name: TelemetryName) => [name, (event: unknown) => void heard[name].push(event as never)]
  return { heard, listeners: Object.fromEntries(telemetryNames.map(hear)) }
}

const shop = agent('shop', { circuitBreaker: { failureRate: 1, minimum: 1_000 } })
const crowd = agent('crowd', { concurrency: { each: 20, adaptive: true } })
const push = crowd.action('push', { run: (_: null) => null })
const spare = agent('spare').action('look', { run: (_: null) => 1 })
const look = shop.action('look', { whenOpen: { fallback: spare }, run: (_: null) => 1 })
const looking = workflow('looking', { run: (_: null, task) => task.run(look, null) })
const tries = new Map<string, number>()
const tired = agent('tired').action('ask', {
  run(_: null, { attempt }) {
    if (attempt === 1) throw new TransientError('too many requests', { retryAfter: 2_000 })
  },
})
const weary = workflow('weary', { run: (_: null, task) => task.run(tired, null) })
const flaky = shop.action('flaky', {
  retry: { attempts: 3, backoff: { initial: '1s', jitter: false } },
  run(id: string) {
    const count = (tries.get(id) ?? 0) + 1
    tries.set(id, count)
    if (count === 1) throw new Error('not yet')
    return id
  },
  undo: () => undefined,
})
const waits = shop.action('waits', {
  run: (_: null, step, event) => event ?? step.suspend({ timeout: '1h', signals: [{ name: 'go', in: '1m' }] }),
})
const refuses = shop.action('refuses', {
  retry: { attempts: 1 },
  run: (_: null) => {
    throw new PermanentError('no')
  },
})
const rate = shop.action('rate', { cache: { ttl: '1h' }, run: (_: null) => 1 })
const item = workflow('item', {
  run: async (n: number) => {
    if (n === 1) throw new PermanentError('no')
  },
})
const items = shop.batch('items', {
  workflow: item,
  failFast: true,
  items: (_: null, { offset }) => (offset === 0 ? [0, 1, 2] : []),
})

const undone = workflow('undone', {
  rescue: 'compensate',
  async run(id: string, task) {
    await task.run(flaky, id)
    await task.run(refuses, null)
  },
})
const local = workflow('local', {
  async run(_: null, task) {
    await task.run('count', () => 1)
    await task.run(waits, null)
  },
})
const kept = workflow('kept', {
  async run(_: null, task) {
    await task.run(rate, null)
    await task.run(rate, null)
  },
})
const plan = workflow('plan', { plan: (_: null, plan) => void plan.step(items, null) })
const again = workflow('again', {
  async run(n: number, task) {
    await task.call(item, 0)
    return n > 0 ? task.continueAsNew(n - 1) : n
  },
})
const many = workflow('many', {
  run: async (n: number, task) => void (await Promise.all(Array.from({ length: n }, () => task.run(push, null)))),
})
const failing = workflow('failing', { run: (_: null, task) => task.run(refuses, null) })
const held = workflow('held', { rescue: 'pause', run: (_: null, task) => task.run(refuses, null) })
const sleeper = workflow('sleeper', { run: (_: null, task) => task.sleep('4s') })
const narrow = agent('narrow', { rateLimit: { limit: 1, per: '10s' } })
const drip = narrow.action('drip', { run: (_: null) => null })
const drips = workflow('drips', {
  run: async (_: null, task) => void (await Promise.all([1, 2, 3].map(() => task.run(drip, null)))),
})
const bounded = workflow('bounded', { maxQueued: 1, run: async () => null })
const workflows = [weary, drips, bounded, looking, sleeper, many, undone, local, kept, plan, again, failing, held, item]

/**
 * One of everything on a store in a file: a node that schedules, its successor, and one with the agents. What they told, and what
 * went wrong.
 */
export async function scene(): Promise<{ scheduler: Heard; agent: Heard; errors: unknown[] }> {
  using file = scratch()
  tries.clear()
  const environment = new VirtualEnvironment()
  const [whole, hands] = [ear(), ear()]
  const errors: unknown[] = []
  const stores: StateStore[] = []
  const store: StoreFactory = (of) => {
    const made = file.store(of)
    stores.push(made)
    return made
  }
  const onError = (error: unknown) => errors.push(error)
  const shared = { store, environment, onError, lease: '10s', sweep: '1s', poll: '1s' } as const
  const scheduling = { ...shared, workflows, roles: ['scheduler', 'supervisor'], telemetry: whole.listeners } as const
  const cache = { shared: { get: () => Promise.reject(new Error('down')), set: () => undefined } }
  const hosting = {
    ...shared,
    cache,
    agents: [shop, crowd, narrow, spare.agent, tired.agent],
    roles: ['agent'],
  } as const
  await using _ = await testEngine({ ...hosting, telemetry: hands.listeners })
  const first = await testEngine(scheduling)
  await act(first)
  await first.stop()
  await using second = await testEngine(scheduling)
  await second.advance('2m')
  await second.submit(sleeper, null, { id: 'sleeper' })
  await second.settle()
  const [node] = (await second.triarch.nodes.list()).filter(({ roles }) => roles.includes('scheduler'))
  await stores.at(-1)?.declareDead([node?.id ?? ''])
  await stores.at(-1)?.heartbeat({ id: 'gone', roles: ['agent'], lease: 5_000 })
  await second.advance('30s')
  return { scheduler: whole.heard, agent: hands.heard, errors }
}

async function act(engine: TestEngine): Promise<void> {
  const { triarch } = engine
  triarch.on('alert', () => {
    throw new Error('a listener')
  })
  void triarch.leaders.lead('exporter', () => null)
  await triarch.settings.get('triarch.agent.other').set({ concurrency: 5 }, { reason: 'a scene' })
  await triarch.schedules.get('often').register({ workflow: item, input: 0, every: '1m' })
  await engine.submit(undone, 'a', { id: 'undone' })
  await engine.submit(local, null, { id: 'local' })
  await engine.submit(weary, null, { id: 'weary' })
  await engine.submit(kept, null, { id: 'kept' })
  await engine.submit(plan, null, { id: 'plan' })
  await engine.submit(again, 1, { id: 'again' })
  await engine.submit(failing, null, { id: 'failing' })
  await engine.submit(held, null, { id: 'held' })
  await engine.submit(item, 0, { id: 'later', startAt: new Date(engine.now().getTime() + 90_000) })
  await engine.advance('5s')
  await triarch.tasks.get('local').pause()
  await engine.settle()
  await triarch.tasks.get('local').resume()
  await triarch.tasks.get('failing').retry()
  void triarch.caches.invalidate(rate)
  await engine.submit(many, 60, { id: 'many' })
  await engine.submit(drips, null, { id: 'drips' })
  await Promise.allSettled(['b-1', 'b-2', 'b-3'].map((id) => engine.submit(bounded, null, { id })))
  await triarch.breakers.get('shop').open({ reason: 'a scene' })
  await engine.advance('1s')
  await engine.submit(looking, null, { id: 'looking' })
  await engine.settle()
  await triarch.breakers.get('shop').reset({ reason: 'a scene' })
  await engine.advance('70s')
}
