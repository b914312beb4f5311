import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { Address, ChannelKeys } from '../../src/environment/network.ts'
import { systemEnvironment } from '../../src/environment/system.ts'
import { tlsNetwork } from '../../src/environment/tls.ts'
import { agent, type Role, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { scratch } from '../engine/scratch.ts'
import { own, pace } from './direct.ts'

/** Nodes of this process on one file, and the requests that went into queues. */
async function scene(concurrency = 10, began: (n: number) => Promise<unknown> = async () => undefined) {
  const file = scratch()
  const it = own(began, concurrency)
  const nodes: Triarch[] = []
  const children: ChildProcess[] = []
  const queued: string[] = []
  const store: TriarchOptions['store'] = (environment) => {
    const made = file.store(environment)
    const commit = made.commit.bind(made)
    made.commit = (batch) => {
      for (const { id, work } of batch) for (const { step } of work) queued.push(`${id} ${step}`)
      return commit(batch)
    }
    return made
  }
  const node = async (roles: Role[], options: Partial<TriarchOptions> = {}): Promise<Triarch> => {
    const definitions = roles.includes('agent') ? { agents: [it.agent] } : { workflows: [it.flow] }
    const made = new Triarch({ store, ...pace, roles, ...definitions, ...options })
    nodes.push(made)
    await made.start()
    return made
  }
  /** Until a step goes out without a row. */
  const reached = async (by: Triarch): Promise<void> => {
    for (let n = 0; ; n++) {
      const before = queued.length
      expect(await (await by.submit(it.flow, n)).result()).toBe(n + 1)
      if (queued.length === before) return
    }
  }
  const child = async (role: string): Promise<ChildProcess> => {
    const made = fork(join(import.meta.dirname, 'direct.worker.ts'), [file.path, role], { execArgv: [] })
    children.push(made)
    await once(made, 'message')
    return made
  }
  return {
    ...{ ...it, file, queued, node, child, reached },
    async [Symbol.asyncDispose]() {
      for (const made of children) made.kill('SIGKILL')
      for (const made of nodes.reverse()) await made.stop({ grace: 0 })
      file[Symbol.dispose]()
    },
  }
}

async function opened(file: ReturnType<typeof scratch>): Promise<StateStore> {
  const store = file.store(systemEnvironment())
  await store.open()
  return store
}

describe('a step of an agent that another node has', () => {
  it('goes there without a row in its queue, and its answer comes straight back', async () => {
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'])
    await t.node(['agent'])
    await t.reached(scheduler)
    t.queued.length = 0
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, n) => scheduler.submit(t.flow, n)))
    // Five times as many at once as there is room for: what is too much waits in the queue.
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(tasks.map((_, n) => n + 1))
    expect(t.queued.length).toBeLessThan(50)
    await t.reached(scheduler)
    for (const task of tasks) expect((await task.status()).failures).toBe(0)
  })

  it('says in its history that it was answered from a cache there', async () => {
    const shop = agent('shop')
    const cache = { key: (n: number) => `${n}`, ttl: '1h' } as const
    const quote = shop.action('quote', { cache, run: (n: number) => n + 1 })
    const asks = workflow('asks', { run: (n: number, task) => task.run(quote, n) })
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'], { workflows: [t.flow, asks] })
    await t.node(['agent'], { agents: [t.agent, shop] })
    await t.reached(scheduler)
    t.queued.length = 0
    const marks: unknown[] = []
    for (let time = 0; time < 2; time++) {
      const task = await scheduler.submit(asks, 1)
      expect(await task.result()).toBe(2)
      marks.push((await task.steps())[0]?.cached)
    }
    expect(t.queued).toEqual([])
    expect(marks).toEqual([undefined, expect.objectContaining({ from: 'memory' })])
  })

  it('is done by its fallback where the breaker before its action is open: the one by its queue, the other without a row', async () => {
    const spare = agent('spare')
    const lend = spare.action('lend', { run: (n: number) => n + 100 })
    const first = agent('first', { circuitBreaker: {} })
    const pay = first.action('pay', { whenOpen: { fallback: lend }, run: (n: number) => n })
    const pays = workflow('pays', { run: (n: number, task) => task.run(pay, n) })
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'], { workflows: [t.flow, pays] })
    await t.node(['agent'], { agents: [first] })
    await t.node(['agent'], { agents: [t.agent, spare] })
    await t.reached(scheduler)
    expect(await (await scheduler.submit(pays, 1)).result()).toBe(1)
    await scheduler.breakers.get('first').open({ reason: 'maintenance' })
    // Its node hears of that in a moment.
    await expect.poll(async () => (await scheduler.submit(pays, 2)).result()).toBe(102)
    const task = await scheduler.submit(pays, 2, { id: 'falls-back' })
    expect(await task.result()).toBe(102)
    expect(await task.steps()).toMatchObject([{ action: 'spare.lend', fallbackOf: 'first.pay', status: 'success' }])
    expect(t.queued.filter((row) => row === 'falls-back 1')).toHaveLength(1)
    expect((await task.status()).failures).toBe(0)
  })

  it('goes by its queue where a node does not ask for more', async () => {
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'])
    await t.node(['agent'], { direct: false })
    for (let n = 0; n < 5; n++) expect(await (await scheduler.submit(t.flow, n)).result()).toBe(n + 1)
    expect(t.queued.length).toBe(5)
    const store = await opened(t.file)
    for (const { roles, runs } of await store.nodes())
      expect(runs?.direct).toEqual(
        roles.includes('scheduler') ? { host: '127.0.0.1', port: expect.any(Number) } : undefined,
      )
    await store.close()
  })

  it('goes by its queue again once the node that had it has stopped, and by hand of the next one', async () => {
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'])
    const first = await t.node(['agent'])
    await t.reached(scheduler)
    await first.stop()
    t.queued.length = 0
    const waits = await scheduler.submit(t.flow, 1)
    await t.node(['agent'])
    expect(await waits.result()).toBe(2)
    expect(t.queued.length).toBe(1)
    await t.reached(scheduler)
  })

  it.each([
    ['before', 'was killed', 'SIGKILL'],
    ['after', 'was killed', 'SIGKILL'],
    ['after', 'stands still, with its connections open', 'SIGSTOP'],
  ] as const)(
    'is done once, and its answer counts that comes %s another node has its task, whose owner %s',
    async (when, _, signal) => {
      const runs: (() => void)[] = []
      let begun = Promise.withResolvers<void>()
      await using t = await scene(10, () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        runs.push(resolve)
        begun.resolve()
        return promise
      })
      const owner = await t.child('scheduler')
      await t.node(['agent'])
      const client = await t.node([])
      const store = await opened(t.file)
      const running = async () => {
        for (;;) {
          begun = Promise.withResolvers()
          const task = await client.submit(t.flow, -1)
          await begun.promise
          if ((await store.queued(task.id)).work.length === 0) return task
          runs.at(-1)?.()
          await task.result()
        }
      }
      const task = await running()
      const had = runs.length
      owner.kill(signal)
      if (when === 'before') runs.at(-1)?.()
      const claimed = Promise.withResolvers<void>()
      const telemetry = { 'task:claimed': () => claimed.resolve() }
      await t.node(['scheduler', 'supervisor'], { telemetry })
      await claimed.promise
      runs.at(-1)?.()
      expect(await task.result()).toBe(0)
      expect(runs.length).toBe(had)
      expect((await task.status()).failures).toBe(0)
      await store.close()
    },
  )

  it('is of unknown outcome after a lease where the process is killed that runs it, and is done by another', async () => {
    await using t = await scene()
    const scheduler = await t.node(['scheduler', 'supervisor'])
    const agent = await t.child('agent')
    await t.reached(scheduler)
    t.queued.length = 0
    const began = once(agent, 'message')
    const task = await scheduler.submit(t.flow, -1)
    await began
    agent.kill('SIGKILL')
    await t.node(['agent'])
    expect(await task.result()).toBe(0)
    // Nobody knows whether the process died: its silence is what is told.
    const { records } = await task.export()
    expect(JSON.stringify(records)).toContain('nothing was heard of its agent')
  })
})

/** Keys of a store whose first secret is made of this byte. */
function keyed(byte: number): ChannelKeys {
  const key = Buffer.alloc(32, byte)
  return { current: () => ({ number: 1, key }), numbered: (number) => (number === 1 ? key : null) }
}

describe('a node that listens', () => {
  it('is heard by nobody who does not know the secret of its store', async () => {
    const network = tlsNetwork()
    const accepted: string[] = []
    const secret = keyed(1)
    const listening = await network.listen({ host: '127.0.0.1', port: 0 }, secret, () => {
      accepted.push('somebody')
      return { heard: () => undefined, closed: () => undefined }
    })
    const at: Address = { host: '127.0.0.1', port: listening.port }
    const refused = (other: ChannelKeys) =>
      new Promise<string>((resolve) => {
        network.dial(at, other, { opened: () => resolve('opened'), heard: () => undefined, closed: resolve })
      })
    expect(await refused(keyed(2))).not.toBe('opened')
    const plain = connect({ ...at, rejectUnauthorized: false })
    const [error] = await once(plain, 'error')
    expect(error).toBeInstanceOf(Error)
    expect(accepted).toEqual([])
    expect(await refused(secret)).toBe('opened')
    listening.close()
  })

  it('carries texts whole and in order, however long', async () => {
    const network = tlsNetwork()
    const secret = keyed(1)
    const texts = ['', 'ä', 'x'.repeat(3_000_000), JSON.stringify({ n: 1 })]
    const heard: string[] = []
    const all = Promise.withResolvers<void>()
    const over = Promise.withResolvers<string>()
    const listening = await network.listen({ host: '127.0.0.1', port: 0 }, secret, (channel) => ({
      heard: (text) => channel.send(text),
      closed: over.resolve,
    }))
    const channel = network.dial({ host: '127.0.0.1', port: listening.port }, secret, {
      opened: () => {
        for (const text of texts) channel.send(text)
      },
      heard: (text) => {
        if (heard.push(text) === texts.length) all.resolve()
      },
      closed: all.reject,
    })
    await all.promise
    expect(heard.map((text) => text.length)).toEqual(texts.map((text) => text.length))
    expect(heard[1]).toBe('ä')
    channel.close()
    expect(await over.promise).toBe('the other side ended it')
    listening.close()
  })
})

it.each([
  [{ host: '' }, 'INVALID_OPTION'],
  [{ host: '0.0.0.0' }, 'INVALID_OPTION'],
  [{ port: 65_536 }, 'INVALID_OPTION'],
  [{ address: 'x' }, 'UNKNOWN_OPTION'],
])('the option direct does not take %j: %s', (direct, code) => {
  const make = () => new Triarch({ store: scratch().store, direct: direct as never })
  expect(make).toThrow(expect.objectContaining({ code }))
})

it('a node in a world without a network refuses to be direct', async () => {
  using file = scratch()
  const triarch = new Triarch({ store: file.store, environment: new VirtualEnvironment(), direct: true })
  await expect(triarch.start()).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await triarch.stop({ grace: 0 })
})
