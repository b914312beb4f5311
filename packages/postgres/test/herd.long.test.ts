import { afterAll, describe, expect, it } from 'vitest'
import type { Environment } from '../../triarch/src/environment/environment.ts'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { agent, type Duration, Triarch, TriarchError, workflow } from '../../triarch/src/index.ts'
import type { NodeHeartbeat, PollRequest, StateStore } from '../../triarch/src/store/port.ts'
import { VirtualEnvironment } from '../../triarch/src/testing/index.ts'
import { type Counted, counted } from '../../triarch/test/engine/counted.ts'
import { scratch } from '../../triarch/test/engine/scratch.ts'
import { postgres } from '../src/index.ts'
import { PollInterval } from '../src/poll-interval.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

const desk = agent('desk')
const stamp = desk.action('stamp', { run: async (n: number) => n + 1 })
const flow = workflow('flow', { run: (n: number, task) => task.run(stamp, n) })
const other = workflow('other', { run: async (n: number) => n })
const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal<number>('go') })

/** Calls that are no transaction of their own. */
const silent: readonly (keyof StateStore)[] = ['changes', 'watch', 'watchEnds']

/** Nodes that do nothing by themselves for as long as a test takes, and one process that only submits. */
async function fleet(sizes: { workflows: readonly (typeof flow)[]; agents?: boolean; count: number }[]) {
  const nodes: { triarch: Triarch; calls: Counted }[] = []
  const join = async (workflows: readonly (typeof flow)[], agents: boolean, roles?: []) => {
    let calls: Counted | undefined
    const triarch = new Triarch({
      store: (environment) => {
        calls = counted(postgres({ url: serverUrl(), schema, connections: 1, reads: 1 })(environment))
        return calls.store
      },
      ...{ workflows, agents: agents ? [desk] : [], lease: '1h', sweep: '1h', grace: 0 },
      ...(roles && { roles }),
    })
    const node = { triarch, calls: calls as unknown as Counted }
    nodes.push(node)
    await triarch.start()
    return node
  }
  for (const { workflows, agents = false, count } of sizes) {
    await Promise.all(Array.from({ length: count }, () => join(workflows, agents)))
  }
  const client = await join([], false, [])
  return {
    client: client.triarch,
    /** Transactions of all, and of how many nodes. */
    spent(): { calls: number; nodes: number } {
      const each = nodes.map(({ calls }) => calls.count() - calls.count(...silent))
      return { calls: each.reduce((sum, it) => sum + it, 0), nodes: each.filter((it) => it > 0).length }
    },
    reset: () => {
      for (const { calls } of nodes) calls.reset()
    },
    nodes,
    join,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map(({ triarch }) => triarch.stop({ grace: 0 })))
    },
  }
}

type Any = typeof flow

describe('a fleet', () => {
  it('wakes one node for one task, however many are idle', async () => {
    const run = async (count: number) => {
      await using t = await fleet([{ workflows: [flow], agents: true, count }])
      await (await t.client.submit(flow, 0)).result()
      t.reset()
      const tasks = 10
      for (let i = 0; i < tasks; i++) expect(await (await t.client.submit(flow, i)).result()).toBe(i + 1)
      return t.spent().calls / tasks
    }
    const alone = await run(1)
    const together = await run(20)
    expect(together - alone).toBeLessThan(6)
  })

  it('leaves alone who cannot run the task, has not its action, and does not own it', async () => {
    await using t = await fleet([
      { workflows: [flow, waiting as unknown as Any], count: 2 },
      { workflows: [other], count: 3 },
      { workflows: [], agents: true, count: 2 },
      { workflows: [], count: 3 },
    ])
    await (await t.client.submit(flow, 1)).result()
    const task = await t.client.submit(waiting, null)
    for await (const { status } of task.watch()) if (status === 'running') break
    t.reset()
    expect(await (await t.client.submit(flow, 1)).result()).toBe(2)
    await task.signal('go', 7)
    expect(await task.result()).toBe(7)
    // Schedulers of `flow`, and agents of its action; besides the client.
    for (const [index, { calls }] of t.nodes.entries()) {
      const idle = (index >= 2 && index < 5) || (index >= 7 && index < 10)
      expect([index, idle ? calls.count() - calls.count(...silent) : 0]).toEqual([index, 0])
    }
  })

  it('shares what is much, although no hint is for all', async () => {
    await using t = await fleet([{ workflows: [flow], agents: true, count: 5 }])
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, i) => t.client.submit(flow, i)))
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(tasks.map((_, i) => i + 1))
  })

  it('takes a task from a caller’s transaction as soon as that commits', async () => {
    await using t = await fleet([{ workflows: [flow], agents: true, count: 3 }])
    const id = await withClient(async (client) => {
      await client.query('BEGIN')
      const task = await t.client.submit(flow, 4, { transaction: client })
      await client.query('COMMIT')
      return task.id
    })
    expect(await t.client.tasks.get(id).result()).toBe(5)
  })

  it('gives a node that joins what was waiting for it, and what comes next', async () => {
    await using t = await fleet([{ workflows: [flow], count: 1 }])
    const first = await t.client.submit(flow, 1)
    for await (const { status } of first.watch()) if (status === 'running') break
    await t.join([], true)
    expect(await first.result()).toBe(2)
    expect(await (await t.client.submit(flow, 2)).result()).toBe(3)
  })

  it('takes what was told to a node that is no more, with the next sweep of the leader', async () => {
    await using t = await fleet([{ workflows: [flow], agents: true, count: 1 }])
    await withClient(async (client) => {
      const runs = JSON.stringify({ workflows: ['flow@1'], actions: ['desk.stamp'] })
      for (let i = 0; i < 200; i++) {
        const node = [`ghost ${i}`, '["scheduler","agent"]', 0, 4e12, runs]
        await client.query(
          `INSERT INTO "${schema}".nodes (id, roles, started_at, lease_until, runs) VALUES ($1, $2, $3, $4, $5)`,
          node,
        )
      }
    })
    const task = await t.client.submit(flow, 1)
    const leader = postgres({ url: serverUrl(), schema })(systemEnvironment())
    await leader.open()
    await withClient((client) => client.query(`UPDATE "${schema}".leases SET until = 0`))
    const token = await leader.lead({ name: 'supervisor', node: 'another', ttl: 60_000 })
    await leader.sweep({ name: 'supervisor', token: token ?? 0, limit: 10 })
    expect(await task.result()).toBe(2)
    await leader.close()
    await withClient((client) => client.query(`DELETE FROM "${schema}".nodes WHERE id LIKE 'ghost%'`))
  })

  it('of twenty at rest costs at most eleven transactions a second', async () => {
    await using t = await virtual(20)
    await t.environment.advance(60_000)
    for (const { calls } of t.nodes) calls.reset()
    await t.environment.advance(100_000)
    const spent = t.nodes.map(({ calls }) => calls.count() - calls.count(...silent))
    expect(spent.reduce((sum, it) => sum + it, 0) / 100).toBeLessThanOrEqual(11)
  })

  it.each([2, 3, 20])('of %i has another leader as soon as the term of one that died is over', async (size) => {
    await using t = await virtual(size, { lease: '10s', sweep: '1s' })
    // One dies after the other, and another comes for each.
    for (const rest of [30_000, 10_000, 10_000, 12_000, 60_000, 17_000]) {
      await t.environment.advance(rest)
      t.dead.add(await t.leader())
      await t.join()
      await t.environment.advance(10_100)
      expect([rest, t.living().includes(await t.leader())]).toEqual([rest, true])
    }
  })

  it('whose leader and its deputy died together has another one soon', async () => {
    await using t = await virtual(6, { lease: '10s', sweep: '1s' })
    await t.environment.advance(60_000)
    const leader = await t.leader()
    const [deputy = ''] = t.living().filter((id) => id !== leader)
    t.dead.add(leader).add(deputy)
    await t.environment.advance(20_000)
    expect(t.living()).toContain(await t.leader())
  })
})

/** Nodes on virtual time that may die: nothing they ask is answered any more. */
async function virtual(size: number, options: { lease?: Duration; sweep?: Duration } = {}) {
  const file = scratch()
  const environment = new VirtualEnvironment()
  const ids = new Set<string>()
  const dead = new Set<string>()
  const nodes: { triarch: Triarch; calls: Counted }[] = []
  const watcher = file.store(environment)
  await watcher.open()
  const mortal = (store: StateStore): StateStore => {
    let own: string | null = null
    return new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          if (name === 'heartbeat') {
            own = (args[0] as NodeHeartbeat).id
            ids.add(own)
          }
          if (own !== null && dead.has(own)) return Promise.reject(new TriarchError('STORE_UNAVAILABLE', 'dead'))
          return Reflect.apply(method, target, args)
        }
      },
    })
  }
  const join = async () => {
    let calls: Counted | undefined
    const triarch = new Triarch({
      store: (it) => {
        calls = counted(mortal(heard(file.store(it), it)))
        return calls.store
      },
      ...{
        environment,
        workflows: [flow],
        agents: [desk],
        grace: 0,
        onError: () => undefined,
        notices: false,
        ...options,
      },
    })
    await triarch.start()
    nodes.push({ triarch, calls: calls as unknown as Counted })
  }
  await Promise.all(Array.from({ length: size }, join))
  return {
    environment,
    nodes,
    join,
    dead,
    living: () => [...ids].filter((id) => !dead.has(id)).sort(),
    leader: async () => (await watcher.heartbeats('supervisor')).term?.holder ?? 'nobody',
    async [Symbol.asyncDispose]() {
      dead.clear()
      const stops = nodes.map(({ triarch }) => triarch.stop({ grace: 0 }))
      await environment.advance(10_000)
      await Promise.all(stops)
      await watcher.close()
      file[Symbol.dispose]()
    },
  }
}

/** A store on virtual time that is asked as seldom as one on PostgreSQL whose hints can be heard. */
function heard(store: StateStore, environment: Environment): StateStore {
  const pace = new PollInterval(environment)
  return new Proxy(store, {
    get(target, name) {
      if (name === 'paced') return true
      if (name === 'changes') return async () => pace.count(true)
      if (name === 'poll') {
        return async (request: PollRequest) => {
          const look = await target.poll(request)
          pace.living = look.living
          return look
        }
      }
      const method = Reflect.get(target, name) as unknown
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}
