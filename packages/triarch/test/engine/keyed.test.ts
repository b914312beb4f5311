import { describe, expect, it } from 'vitest'
import { type AgentOptions, agent, type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { stage } from './harness.ts'

interface Visit {
  who: string
  region: string
}

const REGIONS = Array.from({ length: 40 }, (_, n) => `region ${n}`)
const common = { poll: '100ms', lease: '1d', sweep: '1h', limits: { tasks: 2_000 } } as const
const keys = (input: unknown) => (input as Visit).region
const tenants = { key: ({ tags }: { tags: Readonly<Record<string, string>> }) => tags.tenant ?? '' }

/** An agent with two slots, each of whose attempts takes a second, whose steps wait in a queue for each region. */
function shop(environment: VirtualEnvironment, options: AgentOptions) {
  const begun: string[] = []
  const desk = agent('desk', { concurrency: 2, ...options })
  const serve = desk.action('serve', {
    attemptWithin: '1d',
    run: async ({ who }: Visit) => {
      begun.push(who)
      await new Promise<void>((resolve) => environment.timer(1_000, resolve))
    },
  })
  const visit = workflow('visit', { run: (it: Visit, task: TaskContext) => task.run(serve, it) })
  // Another agent has slots while this one has none.
  const idle = agent('idle')
  idle.action('rest', { run: () => null })
  return { begun, agents: [desk, idle], workflows: [visit], visit }
}

const policies: [string, AgentOptions][] = [
  ['a circuit breaker', { circuitBreaker: { key: keys } }],
  ['a rate limit', { rateLimit: { limit: 1_000, per: '1s', key: keys } }],
  ['a bound over all nodes', { concurrency: { shared: 50, each: 2, key: keys } }],
]

describe('an agent whose steps wait by keys', () => {
  it.each(policies)('lets one step of a quiet tenant wait for a few services, with %s', async (_, policy) => {
    const environment = new VirtualEnvironment()
    const { begun, visit, ...defined } = shop(environment, { ...policy, fairness: tenants })
    await using s = await stage({ ...common, environment, ...defined })
    const loud = { tags: { tenant: 'loud' } }
    for (const region of [...REGIONS, ...REGIONS]) await s.submit(visit, { who: 'loud', region }, loud)
    await s.advance('3s')
    const before = begun.length
    for (const region of ['region 7', 'elsewhere'])
      await s.submit(visit, { who: 'quiet', region }, { tags: { tenant: `quiet in ${region}` } })
    await s.advance('5s')
    expect(before).toBeGreaterThan(3)
    expect(begun.slice(before, before + 8).filter((who) => who === 'quiet')).toHaveLength(2)
    expect(begun.length).toBeGreaterThan(before + 6)
  })

  it('gives tenants their weights, in however many queues theirs are', async () => {
    const environment = new VirtualEnvironment()
    const fairness = { ...tenants, weight: (tenant: string) => (tenant === 'gold' ? 3 : 1) }
    const { begun, visit, ...defined } = shop(environment, { circuitBreaker: { key: keys }, fairness })
    await using s = await stage({ ...common, environment, ...defined })
    for (let n = 0; n < 120; n++) {
      const region = REGIONS[n % 40] as string
      await s.submit(visit, { who: 'plain', region }, { tags: { tenant: 'plain' } })
      await s.submit(visit, { who: 'gold', region: `of gold ${n % 2}` }, { tags: { tenant: 'gold' } })
    }
    await s.advance('42s')
    const share = begun.slice(4, 84).filter((who) => who === 'gold').length
    expect(share).toBeGreaterThanOrEqual(55)
    expect(share).toBeLessThanOrEqual(65)
  })

  it.each(policies)(
    'takes what has the higher priority first, whichever queue it is in, with %s',
    async (_, policy) => {
      const environment = new VirtualEnvironment()
      const { begun, visit, ...defined } = shop(environment, policy)
      await using s = await stage({ ...common, environment, ...defined })
      for (const region of [...REGIONS, ...REGIONS]) await s.submit(visit, { who: 'usual', region })
      await s.advance('3s')
      const before = begun.length
      for (const region of ['region 3', 'elsewhere', 'region 9', 'far'])
        await s.submit(visit, { who: 'urgent', region }, { priority: 5 })
      await s.advance('4s')
      expect(begun.slice(before, before + 6).filter((who) => who === 'urgent')).toHaveLength(4)
    },
  )

  it('gives queues their turns where nobody shares', async () => {
    const environment = new VirtualEnvironment()
    const { begun, visit, ...defined } = shop(environment, { rateLimit: { limit: 1_000, per: '1s', key: keys } })
    await using s = await stage({ ...common, environment, ...defined })
    for (let n = 0; n < 100; n++) await s.submit(visit, { who: 'many', region: 'one' })
    await s.advance('2s')
    const before = begun.length
    for (let n = 0; n < 4; n++) await s.submit(visit, { who: 'few', region: 'other' })
    await s.advance('6s')
    expect(begun.slice(before, before + 11).filter((who) => who === 'few')).toHaveLength(4)
  })
})
