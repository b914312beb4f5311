import { describe, expect, it } from 'vitest'
import { type AgentOptions, agent, type StandardSchema, setting, TransientError, workflow } from '../../src/index.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { type Stage, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const why = { reason: 'a test', actor: 'ada' }
const all = ['scheduler', 'agent', 'supervisor'] as const

/** An agent of one action that does nothing before it is told to; a workflow of that; and the process's agents. */
function desk(name: string, options: AgentOptions, run: () => Promise<unknown> = () => new Promise(() => undefined)) {
  const own = agent(name, options)
  const work = own.action('work', { attemptWithin: '1d', retry: { attempts: 1_000 }, run })
  return { own, flow: workflow(name, { run: (_: unknown, task) => task.run(work, null) }) }
}

/** What status, list and explain say of why it waits. */
async function toldOf(s: Stage, id: string) {
  const { triarch } = s.engine
  const [status, { tasks }, { reasons }] = await Promise.all([
    triarch.tasks.get(id).status(),
    triarch.tasks.list({ filter: `id:${id}` }),
    triarch.tasks.get(id).explain(),
  ])
  const [listed] = tasks
  expect(listed?.waits).toEqual(status.waits)
  expect(listed?.pausedBy).toEqual(status.pausedBy)
  return { waits: status.waits, pausedBy: status.pausedBy, reasons }
}

describe('why something waits', () => {
  it('is known to status and list as it is to explain: breakers, limits, seats, slots, pauses, and that nobody can do it', async () => {
    const ill = desk('ill', { circuitBreaker: { minimum: 2, failureRate: 0.5, open: '1h' } }, () =>
      Promise.reject(new TransientError('ill')),
    )
    const slow = desk('slow', { rateLimit: { limit: 1, per: '1d' } }, async () => null)
    const shared = desk('shared', { concurrency: { each: 10, shared: 1 } })
    const busy = desk('busy', { concurrency: 1 })
    const off = desk('off', {})
    const nobody = desk('nobody', {})
    const here = [ill, slow, shared, busy, off]
    await using s = await stage({
      workflows: [...here, nobody].map(({ flow }) => flow),
      agents: here.map(({ own }) => own),
    })
    const { triarch } = s.engine
    await triarch.settings.get('triarch.agent.off').set({ paused: 'inventory' }, why)
    for (const { flow } of [...here, nobody])
      for (const n of [1, 2, 3]) await s.submit(flow, null, { id: `${flow.name}-${n}` })
    await s.advance('10s')
    const told = async (id: string) => {
      const { waits, reasons } = await toldOf(s, id)
      expect(reasons.map(({ code }) => code)).toEqual(waits?.map(({ code }) => code))
      return waits
    }
    expect(await told('ill-3')).toMatchObject([{ code: 'breaker', of: 'ill', until: expect.any(Date) }])
    expect(await told('slow-3')).toMatchObject([{ code: 'rate-limit', of: 'slow', until: expect.any(Date) }])
    expect(await told('shared-3')).toMatchObject([{ code: 'concurrency', of: 'shared' }])
    expect(await told('busy-3')).toMatchObject([
      { code: 'step-queued', of: 'busy.work', text: 'waits for a free slot' },
    ])
    expect(await told('off-3')).toMatchObject([{ code: 'agent-paused', of: 'off' }])
    expect(await told('nobody-3')).toMatchObject([{ code: 'no-agent', of: 'nobody.work' }])
    // What runs waits for nothing of the kind, nor does what has stopped.
    expect((await toldOf(s, 'busy-1')).waits).toBeUndefined()
    expect((await toldOf(s, 'slow-1')).waits).toBeUndefined()
    const { tasks } = await triarch.tasks.list({ limit: 100 })
    const kept = tasks.flatMap(({ id, waits = [] }) => waits.map(({ code }) => `${id} ${code}`))
    expect(kept).toHaveLength(15)
    await s.kill()
  })

  it('is known of tasks that nobody has taken up', async () => {
    const environment = new VirtualEnvironment()
    using file = scratch()
    const [one, two, three] = [desk('one', {}), desk('two', {}), desk('three', {})]
    const common = { environment, store: file.store, agents: [one.own, two.own, three.own] }
    // Room for one task only.
    await using s = await stage({ ...common, workflows: [one.flow, two.flow], limits: { tasks: 1 } })
    await using _submits = await stage({ ...common, workflows: [three.flow], roles: [] })
    const { triarch } = s.engine
    await triarch.settings.get('triarch.workflow.two').set({ paused: 'stocktaking' }, why)
    await s.submit(one.flow, null, { id: 'one-1' })
    await s.settle()
    await s.submit(one.flow, null, { id: 'one-2' })
    await s.submit(two.flow, null, { id: 'two-1' })
    await _submits.submit(three.flow, null, { id: 'three-1' })
    await s.settle()
    expect((await toldOf(s, 'one-2')).waits).toMatchObject([{ code: 'queued', of: 'one' }])
    expect((await toldOf(s, 'two-1')).waits).toMatchObject([{ code: 'workflow-paused', of: 'two' }])
    expect((await toldOf(s, 'three-1')).waits).toMatchObject([{ code: 'no-scheduler', of: 'three' }])
    await s.kill()
  })

  it('is read once for a page, however many tasks it has, and not at all where nothing waits', async () => {
    const calls: string[] = []
    const counted = seen(memory(), (store) =>
      Object.fromEntries(
        (['parked', 'queued', 'nodes', 'breakers', 'permits', 'settings', 'settingChanges'] as const).map((name) => [
          name,
          (...given: unknown[]) => {
            calls.push(name)
            return (store[name] as (...given: unknown[]) => unknown).apply(store, given)
          },
        ]),
      ),
    )
    const busy = desk('busy', { concurrency: 40 })
    await using s = await stage({ store: counted, workflows: [busy.flow], agents: [busy.own] })
    const { triarch } = s.engine
    for (let n = 0; n < 40; n++) await s.submit(busy.flow, null)
    await s.settle()
    const reads = async () => {
      calls.length = 0
      const { tasks } = await triarch.tasks.list({ limit: 1_000 })
      return { waiting: tasks.filter(({ waits }) => waits).length, calls: [...calls].sort() }
    }
    expect(await reads()).toEqual({ waiting: 0, calls: ['parked'] })
    for (let n = 0; n < 100; n++) await s.submit(busy.flow, null)
    await s.settle()
    const once = ['breakers', 'nodes', 'parked', 'permits', 'settings']
    expect(await reads()).toEqual({ waiting: 100, calls: once })
    await s.kill()
  })
})

describe('a pause that is not of the engine’s own setting', () => {
  const schema: StandardSchema<{ off: string }, { off: string }> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as { off: string } }) },
  }
  const paused = ({ off }: { off: string }) => (off === '' ? {} : { paused: off })

  it('is told of an agent and of a workflow: what their code makes of a setting, by whom it was set, and since when', async () => {
    const limits = setting('shop.limits', schema, { off: '' })
    const flows = setting('shop.flows', schema, { off: '' })
    const shop = desk('shop', { policy: limits.as(paused) })
    const other = workflow('other', { policy: flows.as(paused), run: async () => null })
    await using s = await stage({ workflows: [shop.flow, other], agents: [shop.own] })
    const { triarch } = s.engine
    const since = new Date(await s.store.now())
    await triarch.settings.get(limits).set({ off: 'the till is broken' }, why)
    await triarch.settings.get(flows).set({ off: 'stocktaking' }, why)
    await s.advance('5s')
    await s.submit(shop.flow, null, { id: 'step' })
    await s.submit(other, undefined, { id: 'line' })
    await s.settle()
    const [step, line] = [await toldOf(s, 'step'), await toldOf(s, 'line')]
    const till = { setting: 'shop.limits', name: 'shop', reason: 'the till is broken', actor: 'ada', since }
    expect(step.pausedBy).toEqual([till])
    expect(step.waits).toMatchObject([{ code: 'agent-paused', of: 'shop' }])
    expect(step.reasons).toMatchObject([
      { code: 'agent-paused', agent: 'shop', reason: till.reason, actor: 'ada', since },
    ])
    const stock = { setting: 'shop.flows', name: 'other', reason: 'stocktaking', actor: 'ada', since }
    expect(line.pausedBy).toEqual([stock])
    expect(line.reasons).toMatchObject([{ code: 'workflow-paused', workflow: 'other', actor: 'ada', since }])
    expect((await triarch.agents.list()).agents).toMatchObject([{ name: 'shop', pausedBy: till }])
    expect((await triarch.workflows.list()).workflows).toMatchObject([
      { name: 'other', pausedBy: stock },
      { name: 'shop' },
    ])
    await triarch.settings.get(limits).set({ off: '' }, why)
    await triarch.settings.get(flows).set({ off: '' }, why)
    await s.advance('5s')
    expect((await toldOf(s, 'step')).waits).toBeUndefined()
    expect(await s.engine.triarch.tasks.get('line').status()).toMatchObject({ status: 'stopped', outcome: 'success' })
    await s.kill()
  })

  it('is told of code alone: since its nodes began', async () => {
    const shop = desk('shop', { policy: setting('shop.limits', schema, { off: 'not open yet' }).as(paused) })
    await using s = await stage({ workflows: [shop.flow], agents: [shop.own] })
    await s.submit(shop.flow, null, { id: 'step' })
    await s.settle()
    const [node] = await s.engine.triarch.nodes.list()
    const { pausedBy } = await toldOf(s, 'step')
    expect(pausedBy).toMatchObject([{ reason: 'not open yet', actor: 'code', since: node?.startedAt }])
    await s.kill()
  })

  it('is told while it is on trial: of some nodes beside the slot that is waited for, of all as what keeps it', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const shop = desk('shop', { concurrency: 1 })
    const common = { environment, store: file.store, workflows: [shop.flow], agents: [shop.own] }
    await using s = await stage({ ...common, roles: [...all], labels: { zone: 'eu' } })
    await using other = await stage({ ...common, roles: ['agent'], labels: { zone: 'us' } })
    for (const n of [1, 2, 3]) await s.submit(shop.flow, null, { id: `shop-${n}` })
    await s.advance('2s')
    const handle = s.engine.triarch.settings.get('triarch.agent.shop')
    const since = new Date(await s.store.now())
    await handle.set({ paused: 'is it worth it?' }, { ...why, stages: [{ labels: { zone: 'us' } }, { share: 1 }] })
    await s.advance('2s')
    const text = `agent shop is paused since ${since.toISOString().slice(0, 10)}`
    const some = await toldOf(s, 'shop-3')
    expect(some.pausedBy).toBeUndefined()
    expect(some.waits).toMatchObject([
      { code: 'step-queued', text: expect.stringContaining(`on 1 of 2 nodes ${text}`) },
    ])
    expect(some.reasons).toMatchObject([
      { code: 'step-queued', text: expect.stringContaining(`on 1 of 2 nodes ${text}`) },
    ])
    await handle.advance(why)
    await s.advance('2s')
    const every = await toldOf(s, 'shop-3')
    expect(every.pausedBy).toMatchObject([{ reason: 'is it worth it?', actor: 'ada', since }])
    expect(every.reasons).toMatchObject([{ code: 'agent-paused' }])
    await handle.rollback(why)
    await s.advance('2s')
    expect((await toldOf(s, 'shop-3')).waits).toMatchObject([{ code: 'step-queued', text: 'waits for a free slot' }])
    await other.kill()
    await s.kill()
  })
})
