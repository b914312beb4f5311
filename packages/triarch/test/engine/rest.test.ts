import { describe, expect, it } from 'vitest'
import { agent, type TaskContext, TransientError, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

const common = { poll: '100ms', lease: '1d', sweep: '1h' } as const

/** An agent without a rate limit, whose service asks for a rest of so long now and then (ms). */
function shop(environment: VirtualEnvironment, options: Parameters<typeof agent>[1] = {}) {
  const begun: { what: string; at: number }[] = []
  const rests = new Map<string, number>()
  const desk = agent('desk', { concurrency: 5, ...options })
  const run = (what: string) => {
    begun.push({ what, at: environment.now() })
    const rest = rests.get(what)
    rests.delete(what)
    if (rest !== undefined) throw new TransientError('too many requests', { retryAfter: rest })
    return what
  }
  const serve = desk.action('serve', { run })
  const other = desk.action('other', { run })
  const visit = workflow('visit', { run: (what: string, task: TaskContext) => task.run(serve, what) })
  const look = workflow('look', { run: (what: string, task: TaskContext) => task.run(other, what) })
  const since = (at: number) => begun.filter((it) => it.at >= at).map(({ what }) => what)
  return { begun, rests, since, agents: [desk], workflows: [visit, look], visit, look }
}

describe('a service that asks for a rest, of an agent without a rate limit', () => {
  it('is left alone by the whole agent on all nodes, and what waited begins when it is over', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const { begun, rests, since, visit, look, agents, workflows } = shop(environment)
    const given = { ...common, store: file.store, environment, agents, workflows }
    const heard: { node: string | null; queue: string }[] = []
    const telemetry = { 'agent:rests': (event: { node: string | null; queue: string }) => void heard.push(event) }
    await using s = await stage({ ...given, telemetry })
    await using other = await stage({ ...given, telemetry })
    rests.set('first', 10_000)
    await s.submit(visit, 'first')
    await s.advance('1s')
    const at = environment.now()
    expect(begun).toHaveLength(1)
    expect(new Set(heard.map(({ node }) => node)).size).toBe(2)
    const here = await s.submit(look, 'here')
    const there = await other.submit(visit, 'there')
    await s.advance('5s')
    expect(since(at)).toEqual([])
    for (const task of [here, there]) {
      const { reasons } = await task.explain()
      expect(reasons).toMatchObject([{ code: 'rate-limit', limit: 'desk' }])
      expect(reasons[0]?.text).toContain('the service of desk asked for a rest, so that nothing begins before')
    }
    await s.advance('6s')
    expect(since(at).sort()).toEqual(['first', 'here', 'there'])
    expect((await there.status()).outcome).toBe('success')
    // Nothing is left of it in the store.
    await s.advance('2s')
    expect(await s.store.breakers({ refs: [{ kind: 'rest', name: 'desk' }], count: 0 })).toMatchObject([{ version: 0 }])
  })

  it('has its rest by its key, where steps wait by keys', async () => {
    const environment = new VirtualEnvironment()
    const { rests, since, visit, agents, workflows } = shop(environment, {
      circuitBreaker: { key: (what: unknown) => String(what).slice(0, 1), failureRate: 1, minimum: 100 },
    })
    await using s = await stage({ ...common, environment, agents, workflows })
    rests.set('a', 10_000)
    await s.submit(visit, 'a')
    await s.advance('1s')
    const at = environment.now()
    await s.submit(visit, 'a2')
    await s.submit(visit, 'b')
    await s.advance('5s')
    expect(since(at)).toEqual(['b'])
    await s.advance('6s')
    expect(since(at).sort()).toEqual(['a', 'a2', 'b'])
  })

  it('that is over before others could hear of it is not written', async () => {
    const environment = new VirtualEnvironment()
    const { rests, begun, visit, agents, workflows } = shop(environment)
    await using s = await stage({ ...common, environment, agents, workflows })
    rests.set('first', 50)
    const task = await s.submit(visit, 'first')
    await s.advance('5s')
    expect((await task.status()).outcome).toBe('success')
    expect(begun).toHaveLength(2)
    expect(await s.store.breakers({ kind: 'rest', after: '', limit: 10, count: 0 })).toEqual([])
  })
})
