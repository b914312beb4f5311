import { describe, expect, it } from 'vitest'
import { type AgentOptions, agent, PermanentError, TransientError, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** A service that does so many things at a time, and the rest ever more slowly. */
function service(options: AgentOptions) {
  const environment = new VirtualEnvironment()
  const state = { capacity: 8, down: false, refuses: false, running: 0, most: 0, calls: 0 }
  const pay = agent('bank', options)
  const charge = pay.action('charge', {
    retry: { attempts: 1_000, backoff: { initial: '100ms', factor: 1 } },
    async run() {
      state.calls++
      state.most = Math.max(state.most, ++state.running)
      const ms = 100 * Math.max(1, state.running / state.capacity)
      await new Promise<void>((resolve) => void environment.timer(ms, () => resolve()))
      state.running--
      if (state.refuses) throw new PermanentError('no such account')
      if (state.down) throw new TransientError('down')
    },
  })
  const flow = workflow('flow', { run: (_: null, task) => task.run(charge).catch(() => undefined) })
  return {
    ...{ environment, state },
    async start(store?: StoreFactory) {
      const s = await stage({ environment, ...(store && { store }), workflows: [flow], agents: [pay], lease: '6s' })
      return Object.assign(s, {
        submitted: (count: number) =>
          s.engine.triarch.submitMany(
            flow,
            Array.from({ length: count }, () => ({ input: null })),
          ),
        /** The most that ran at a time in the next seconds. */
        async level(span = '5s') {
          state.most = 0
          await s.advance(span as '5s')
          return state.most
        },
      })
    },
  }
}

describe('an agent whose concurrency adapts itself', () => {
  it('finds what its service is well with, and follows it down and up again', async () => {
    const of = service({ concurrency: { each: 100, adaptive: true } })
    await using s = await of.start()
    await s.submitted(6_000)
    await s.advance('20s')
    const well = await s.level()
    expect(well).toBeGreaterThanOrEqual(of.state.capacity)
    expect(well).toBeLessThan(2 * of.state.capacity)
    of.state.capacity = 2
    await s.advance('20s')
    const sick = await s.level()
    expect(sick).toBeLessThan(well / 1.5)
    of.state.capacity = 40
    await s.advance('3s')
    expect(await s.level()).toBeGreaterThan(well)
  })

  it('knows from its beginning what attempts take that do not wait, where other processes know it', async () => {
    using file = scratch()
    const of = service({ concurrency: { each: 100, adaptive: true } })
    await using first = await of.start(file.store)
    await first.submitted(3_000)
    await first.advance('20s')
    await using _second = await of.start(file.store)
    await first.advance('10s')
    const usual = (await first.store.nodes()).map(({ runs }) => runs?.load?.agents.bank?.usual)
    // Beside the first process it would have measured more.
    expect(usual).toEqual([{ 'run bank.charge': 100 }, { 'run bank.charge': 100 }])
  })

  it('leaves a service that is ill to the least, and goes on when it is well', async () => {
    const of = service({ concurrency: { each: 50, adaptive: { least: 2 } } })
    await using s = await of.start()
    await s.submitted(3_000)
    await s.advance('10s')
    of.state.down = true
    await s.advance('20s')
    expect(await s.level()).toBe(2)
    of.state.down = false
    await s.advance('10s')
    expect(await s.level()).toBeGreaterThan(4)
  })

  it('takes refusals for no illness', async () => {
    const of = service({ concurrency: { each: 6, adaptive: true } })
    of.state.refuses = true
    await using s = await of.start()
    await s.submitted(200)
    await s.advance('30s')
    expect(of.state.calls).toBe(200)
  })

  it('never runs more than it may, and says to nobody that more processes would help once it is throttled', async () => {
    const of = service({ concurrency: { each: 5, adaptive: { least: 3 } } })
    await using s = await of.start()
    await s.submitted(2_000)
    expect(await s.level('20s')).toBe(5)
    of.state.down = true
    await s.advance('20s')
    const { agents } = await s.engine.triarch.nodes.demand()
    expect(agents).toMatchObject([{ agent: 'bank', has: { slots: 3, processes: 1 }, held: { by: 'concurrency' } }])
  })

  it('is switched on and off while it runs, by a setting', async () => {
    const of = service({ concurrency: 10 })
    await using s = await of.start()
    of.state.down = true
    await s.submitted(2_000)
    expect(await s.level()).toBe(10)
    const setting = s.engine.triarch.settings.get('triarch.agent.bank')
    await setting.set({ concurrency: { each: 10, adaptive: true } }, { reason: 'the bank is ill' })
    await s.advance('20s')
    expect(await s.level()).toBe(1)
    await setting.set({ concurrency: { each: 10, adaptive: false } }, { reason: 'let it see' })
    await s.advance('5s')
    expect(await s.level()).toBe(10)
  })

  it.each([
    [{ adaptive: true }, 'bank": concurrency: needs shared or each'],
    [{ each: 5, adaptive: { least: 6 } }, 'adaptive.least'],
    [{ each: 5, adaptive: 'yes' }, 'adaptive must be'],
    [{ each: 5, key: () => '' }, 'needs shared'],
  ])('is refused where it makes no sense: %j', (concurrency, message) => {
    expect(() => agent('bank', { concurrency: concurrency as never })).toThrow(message)
  })

  it('is the agent’s own, not an action’s', () => {
    const concurrency = { each: 5, adaptive: true }
    expect(() => agent('bank').action('charge', { concurrency, run: () => null })).toThrow(
      'only the concurrency of an agent',
    )
  })
})
