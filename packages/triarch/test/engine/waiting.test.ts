import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Waiters } from '../../src/client/waiting.ts'
import { Register } from '../../src/environment/register.ts'
import { type Role, TriarchError, workflow } from '../../src/index.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { type Counted, counted } from './counted.ts'
import { codeOf, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const flow = workflow('flow', { run: async (n: number, task) => n + ((await task.waitForSignal<number>('go')) ?? 0) })

/** A process that only waits, and one that runs the tasks, over one file. */
async function apart() {
  const file = scratch()
  const environment = new VirtualEnvironment()
  let seen: Counted | undefined
  const counting: StoreFactory = (it) => {
    seen = counted(file.store(it))
    return seen.store
  }
  const node = (store: StoreFactory, roles: Role[], workflows = [flow]): Promise<Stage> =>
    stage({ store, environment, roles, workflows, lease: '1h', sweep: '1s', poll: '25ms' })
  const client = await node(counting, [], [])
  const worker = await node(file.store, ['scheduler', 'supervisor'])
  return {
    ...{ client, worker, environment, calls: seen as Counted },
    async [Symbol.asyncDispose]() {
      await client.kill()
      await worker.kill()
      await client[Symbol.asyncDispose]()
      await worker[Symbol.asyncDispose]()
      file[Symbol.dispose]()
    },
  }
}

describe('a process that waits for tasks elsewhere', () => {
  it('asks for all of them together, however many wait', async () => {
    await using t = await apart()
    const tasks = await Promise.all(Array.from({ length: 1_000 }, (_, i) => t.client.submit(flow, i, { id: `t${i}` })))
    await t.client.advance('6s') // whether somebody runs them is looked up once
    t.calls.reset()
    const results = Promise.all(tasks.map((task) => task.result()))
    await t.client.advance('1m')
    // A first look, a few quick ones, then one each 250 ms.
    expect(t.calls.count('taskVersions')).toBeLessThan(4 * 60 + 20)
    expect(t.calls.count('task')).toBe(0)
    await Promise.all(tasks.map((task) => task.signal('go', 1)))
    await t.client.advance('5s')
    expect(await results).toEqual(tasks.map((_, i) => i + 1))
  })

  it('asks together although they began to wait one after the other', async () => {
    await using t = await apart()
    const waits: Promise<number>[] = []
    for (let i = 0; i < 200; i++) {
      waits.push((await t.client.submit(flow, i, { id: `t${i}` })).result() as Promise<number>)
      await t.client.advance(7)
    }
    await t.client.advance('5s')
    t.calls.reset()
    await t.client.advance('1m')
    expect(t.calls.count('taskVersions')).toBeLessThan(10 * 60)
    for (let i = 0; i < 200; i++) await t.worker.engine.tasks.get(`t${i}`).signal('go', 0)
    await t.client.advance('5s')
    expect(await Promise.all(waits)).toHaveLength(200)
  })

  it('sees the end as soon as ever, and each change of what it watches', async () => {
    await using t = await apart()
    const task = await t.client.submit(flow, 1)
    const seen: string[] = []
    const watching = (async () => {
      for await (const { status } of task.watch()) seen.push(status)
    })()
    await t.client.advance('1s')
    await task.pause()
    await t.client.advance('1s')
    await task.resume()
    await t.client.advance('1s')
    await task.signal('go', 1)
    await t.client.advance('1s')
    await watching
    expect(seen.filter((status, i) => status !== seen[i - 1])).toEqual([
      'pending',
      'running',
      'paused',
      'running',
      'stopped',
    ])
    expect(await task.result()).toBe(2)
  })

  it('goes on when the store was out of reach, until its own time is over', async () => {
    await using t = await apart()
    const task = await t.client.submit(flow, 1)
    const wait = task.result()
    const hasty = codeOf(task.result({ timeout: '10s' }))
    await t.client.advance('1s')
    t.calls.failing.set('taskVersions', new TriarchError('STORE_UNAVAILABLE', 'gone'))
    t.calls.failing.set('task', new TriarchError('STORE_UNAVAILABLE', 'gone'))
    await t.client.advance('20s')
    expect(await hasty).toBe('STORE_UNAVAILABLE')
    t.calls.failing.clear()
    await task.signal('go', 1)
    await t.client.advance('2s')
    expect(await wait).toBe(2)
  })

  it('hears of an error that will not pass, and of one that lasts', async () => {
    await using t = await apart()
    const task = await t.client.submit(flow, 1)
    const first = codeOf(task.result())
    await t.client.advance('1s')
    t.calls.failing.set('taskVersions', new TriarchError('STORE_FAILED', 'broken'))
    await t.client.advance('1s')
    expect(await first).toBe('STORE_FAILED')
    t.calls.failing.set('taskVersions', new TriarchError('STORE_BUSY', 'busy'))
    const second = codeOf(task.result())
    await t.client.advance('2m')
    expect(await second).toBe('STORE_BUSY')
    t.calls.failing.clear()
    await task.cancel({ force: true })
    await t.client.advance('1s')
  })

  it('lets go of what nobody waits for any more', async () => {
    await using t = await apart()
    const task = await t.client.submit(flow, 1)
    const stop = new AbortController()
    const wait = codeOf(task.result({ signal: stop.signal }))
    const late = codeOf(task.result({ timeout: '3s' }))
    await t.client.advance('1s')
    stop.abort(new TriarchError('NODE_STOPPED', 'enough'))
    expect(await wait).toBe('NODE_STOPPED')
    await t.client.advance('5s') // whether somebody runs it is looked up once
    expect(await late).toBe('WAIT_TIMEOUT')
    t.calls.reset()
    await t.client.advance('1m')
    expect(t.calls.count('taskVersions', 'task')).toBe(0)
    expect(await codeOf(t.client.engine.tasks.get('nobody').result())).toBe('UNKNOWN_TASK')
    await task.cancel({ force: true })
    await t.client.advance('1s')
  })
})

describe('a store that says only that something ended', () => {
  /** One that answers when the test says so, and in which 100 tasks are waited for; those of this process are quiet. */
  async function scene() {
    const environment = new VirtualEnvironment()
    const looks: { ids: readonly string[]; answer: () => void }[] = []
    let ended: (ids: readonly string[] | null) => void = () => undefined
    const store = {
      watchEnds: (told: typeof ended) => {
        ended = told
        return false
      },
      taskVersions: (ids: readonly string[]) =>
        new Promise((resolve) =>
          looks.push({ ids, answer: () => resolve(ids.map((id) => ({ id, ended: false, mark: '1' }))) }),
        ),
    }
    const waiters = new Waiters(store as never, environment, 250, (id) => id.startsWith('own'))
    for (let n = 0; n < 50; n++) for (const id of [`own${n}`, `other${n}`]) waiters.listen(id, { until: 'end' })
    /** The look that is under way is answered; what it asked for. */
    const look = async () => {
      await environment.advance(0)
      const { ids, answer } = looks.shift() ?? { ids: [], answer: () => undefined }
      answer()
      await environment.advance(0)
      return ids
    }
    await look()
    return { look, tell: () => ended(null), environment, looks }
  }

  it('has them looked at once, however often it says so, and moves nobody who waits for what ends here', async () => {
    const { look, tell } = await scene()
    const moved = vi.spyOn(Register.prototype, 'set')
    onTestFinished(() => moved.mockRestore())
    for (let n = 0; n < 1_000; n++) tell()
    expect(await look()).toHaveLength(50)
    expect(await look()).toEqual([])
    expect(moved.mock.calls.length).toBeLessThanOrEqual(2 * 50)
  })

  it('has them looked at again where it says so during a look', async () => {
    const { look, tell, environment, looks } = await scene()
    tell()
    await environment.advance(0)
    tell()
    expect([(await look()).length, looks.length]).toEqual([50, 1])
    expect([(await look()).length, looks.length]).toEqual([50, 0])
  })
})

describe('who waits for a task that was submitted here', () => {
  /** What a store says of tasks, and how often it is asked. */
  async function waiters() {
    const environment = new VirtualEnvironment()
    let ended: (ids: readonly string[] | null) => void = () => undefined
    const looks: string[][] = []
    let says = true
    const store = {
      watchEnds: (told: typeof ended) => {
        ended = told
        return says
      },
      taskVersions: async (ids: readonly string[]) => {
        looks.push([...ids])
        return ids.map((id) => ({ id, ended: false, mark: '1' }))
      },
    }
    const made = new Waiters(store as never, environment, 250, () => false)
    // Somebody waits already, and has looked.
    const other = made.listen('other', { until: 'end' })
    await environment.advance(0)
    looks.length = 0
    return {
      ...{ made, environment, looks },
      tell: (ids: readonly string[] | null) => ended(ids),
      silence: () => (says = false),
      /** Nobody waits any more. After how long that is forgotten (ms). */
      leave: () => {
        other.stop()
        return 4_001
      },
    }
  }

  it('does not look as long as the store says what ends', async () => {
    const { made, environment, tell, looks } = await waiters()
    const { heard } = made.listen('t', { until: 'end', missed: made.missed })
    await environment.advance(4)
    expect(looks.flat()).not.toContain('t')
    tell(['t'])
    expect(await heard).toEqual({})
    made.listen('u', { until: 'end', missed: made.missed })
    await environment.advance(5)
    expect(looks.flat()).toContain('u')
  })

  it.each<[what: string, end: (it: Awaited<ReturnType<typeof waiters>>) => unknown]>([
    ['one that nobody waited for', ({ tell }) => tell(['t'])],
    ['some', ({ tell }) => tell(null)],
    ['some, maybe, for nobody here waited for long', ({ environment, leave }) => environment.advance(leave())],
    ['some, maybe, for not all say so', ({ silence }) => silence()],
    ['one that this process ran', ({ made }) => made.moved({ id: 't', status: 'stopped' } as TaskState)],
  ])('looks at once when it was heard meanwhile that tasks ended: %s', async (_, end) => {
    const it = await waiters()
    const { made, environment, looks } = it
    const { missed } = made
    await end(it)
    looks.length = 0
    made.listen('t', { until: 'end', missed })
    await environment.advance(0)
    expect(looks.flat()).toContain('t')
  })
})
