import { describe, expect, it } from 'vitest'
import { agent, type Role, type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { codeOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** An agent with six slots, of which one action may take two; every attempt takes a minute. */
function press(environment: VirtualEnvironment) {
  const load = { now: new Map<string, number>(), most: new Map<string, number>(), order: [] as string[] }
  const run = (name: string) => async (what: string) => {
    load.order.push(what)
    for (const key of [name, 'all']) {
      const now = (load.now.get(key) ?? 0) + 1
      load.now.set(key, now)
      load.most.set(key, Math.max(now, load.most.get(key) ?? 0))
    }
    await new Promise<void>((resolve) => environment.timer(60_000, resolve))
    for (const key of [name, 'all']) load.now.set(key, (load.now.get(key) ?? 0) - 1)
  }
  const own = agent('press', { concurrency: 6 })
  const heavy = own.action('heavy', { attemptWithin: '1d', concurrency: 2, run: run('heavy') })
  const light = own.action('light', { attemptWithin: '1d', run: run('light') })
  const batch = workflow('batch', {
    async run([heavies, lights]: [number, number], task: TaskContext) {
      const of = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name} ${index}`)
      await Promise.all([
        ...of(heavies, 'heavy').map((what) => task.run(heavy, what)),
        ...of(lights, 'light').map((what) => task.run(light, what)),
      ])
    },
  })
  const ranked = workflow('ranked', {
    run: (priorities: number[], task: TaskContext) =>
      Promise.all(priorities.map((priority) => task.run(heavy, `${priority}`, { priority }))),
  })
  return { load, own, batch, ranked }
}

describe('an action with a concurrency of its own', () => {
  it.each([['one process'], ['processes of their own']])(
    'keeps to it, and leaves the other slots to others: in %s',
    async (how) => {
      using file = scratch()
      const environment = new VirtualEnvironment()
      const { load, own, batch } = press(environment)
      const common = {
        store: file.store,
        environment,
        workflows: [batch],
        poll: '100ms',
        lease: '1d',
        sweep: '1h',
      } as const
      const node = (roles: Role[]) => stage({ ...common, roles, agents: roles.includes('agent') ? [own] : [] })
      await using s = await node(how === 'one process' ? ['scheduler', 'agent', 'supervisor'] : ['scheduler'])
      await using _agent = how === 'one process' ? null : await node(['agent'])
      const task = await s.submit(batch, [7, 9])
      await s.advance('1s')
      expect([load.now.get('heavy'), load.now.get('light')]).toEqual([2, 4])
      await s.advance('5m')
      expect((await task.status()).outcome).toBe('success')
      expect(load.most).toEqual(
        new Map([
          ['heavy', 2],
          ['all', 6],
          ['light', 4],
        ]).set('light', load.most.get('light') ?? 0),
      )
      expect(load.order).toHaveLength(16)
    },
  )

  it('serves its queue by priority', async () => {
    const environment = new VirtualEnvironment()
    const { load, own, ranked } = press(environment)
    await using s = await stage({ environment, agents: [own], workflows: [ranked] })
    const task = await s.submit(ranked, [0, 1, 2, 9, 5])
    await s.advance('4m')
    expect((await task.status()).outcome).toBe('success')
    // The first two found free slots at once; the others queued.
    expect(load.order).toEqual(['0', '1', '9', '5', '2'])
  })

  it('is refused what is no number of attempts', async () => {
    const own = agent('own')
    expect(await codeOf((async () => own.action('x', { concurrency: 0, run: () => 1 }))())).toBe('INVALID_OPTION')
  })
})
