import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { Triarch, TriarchError, workflow } from '../../src/index.ts'
import { CLAIM_BOUNDS } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const waits = workflow('waits', {
  run: async (n: number, task) => {
    await task.waitForSignal('go')
    return n
  },
})

describe('long histories of many tasks', () => {
  it('are opened in portions, by two nodes that live through it, and every task is served', {
    timeout: 300_000,
  }, async () => {
    const [steps, tasks] = [2_000, 60]
    const long = workflow('long', {
      run: async (_: null, task) => {
        for (let n = 0; n < steps; n++) await task.run('step', () => n)
        await task.waitForSignal('go')
        return 'done'
      },
    })
    using file = scratch()
    const early = await stage({ store: file.store, workflows: [long] })
    const first = await early.submit(long, null, { id: 't0' })
    await early.settle()
    const events = (await first.history()).reduce((sum, record) => sum + record.events.length, 0)
    expect(events).toBeGreaterThan(2 * steps)
    await early.leave()
    {
      using database = new DatabaseSync(file.path)
      const names = (table: string) =>
        (database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[])
          .map(({ name }) => name)
          .filter((name) => !['key', 'id', 'task'].includes(name))
          .join(', ')
      database.exec('BEGIN')
      for (let n = 1; n < tasks; n++) {
        const [row, record] = [names('triarch_tasks'), names('triarch_history')]
        database.exec(
          `INSERT INTO triarch_tasks (id, ${row}) SELECT 't${n}', ${row} FROM triarch_tasks WHERE id = 't0'`,
        )
        database.exec(`INSERT INTO triarch_history (task, ${record}) SELECT last_insert_rowid(), ${record}
          FROM triarch_history WHERE task = (SELECT key FROM triarch_tasks WHERE id = 't0')`)
      }
      database.exec('COMMIT')
    }
    const ids = Array.from({ length: tasks }, (_, n) => `t${n}`)
    await using client = new Triarch({ store: sqlite(file.path), roles: [], workflows: [long] })
    for (const id of ids) await client.tasks.get(id).signal('go')
    const claims: { node: string; tasks: number; records: number; bytes: number }[] = []
    const store = seen(sqlite(file.path), (made) => ({
      claim: async (request) => {
        const answer = await made.claim(request)
        const records = answer.flatMap((it) => it.records)
        const bytes = records.reduce((sum, it) => sum + it.events.length, 0)
        if (answer.length > 0) claims.push({ node: request.node, tasks: answer.length, records: records.length, bytes })
        return answer
      },
    }))
    const nodes = ['a', 'b'].map(
      () => new Triarch({ store, workflows: [long], lease: '1s', sweep: '50ms', poll: '20ms' }),
    )
    await Promise.all(nodes.map((node) => node.start()))
    const results = await Promise.all(ids.map((id) => client.tasks.get(id).result({ timeout: '4m' })))
    expect(results).toEqual(ids.map(() => 'done'))
    const counts = await Promise.all(nodes.map((node) => node.statistics.get()))
    expect(counts.map(({ fenced }) => fenced)).toEqual([0, 0])
    expect(claims.reduce((sum, claim) => sum + claim.tasks, 0)).toBe(tasks)
    expect(new Set(claims.map(({ node }) => node)).size).toBe(2)
    for (const claim of claims.filter((it) => it.tasks > 1)) {
      expect(claim.records).toBeLessThanOrEqual(CLAIM_BOUNDS.records)
      expect(claim.bytes).toBeLessThanOrEqual(CLAIM_BOUNDS.bytes)
    }
    await Promise.all(nodes.map((node) => node.stop()))
  })
})

describe('a task whose turn fails while thousands of letters wait', () => {
  it.each(['inline', 'auto'] as const)('keeps neither timers nor others waiting (%s)', async (writer) => {
    using file = scratch()
    const asked = { inbox: 0, refused: 0 }
    const store = seen(sqlite(file.path, { writer }), (made) => ({
      commit: (batch) => {
        if (!batch.some(({ id, events }) => id === 'bad' && events?.includes('signalReceived')))
          return made.commit(batch)
        asked.refused++
        return Promise.reject(new TriarchError('STORE_BUSY', 'not now'))
      },
      inbox: (...of) => {
        // A loop that never ends would never let this test say so.
        if (++asked.inbox > 5_000) return new Promise(() => undefined)
        return made.inbox(...of)
      },
    }))
    const s = await stage({ store, workflows: [waits], lease: '10s', sweep: '1s', poll: '100ms' })
    await s.submit(waits, 1, { id: 'bad' })
    const good = await s.submit(waits, 2)
    await s.settle()
    const message = { type: 'event', name: 'other', payload: 'x' } as const
    await s.store.post(Array.from({ length: 600 }, () => ({ task: 'bad', message, control: false })))
    await s.advance('2s')
    expect(asked.refused).toBeGreaterThan(0)
    await good.signal('go')
    await s.advance('1s')
    expect(await good.result()).toBe(2)
    expect(asked.inbox).toBeLessThan(1_000)
    s.errors.length = 0
    await s.kill()
  })
})

describe('a replay that takes too long', () => {
  it('sets its task apart, which an operator may end; the others go on', async () => {
    using file = scratch()
    const real = new VirtualEnvironment()
    let leap = 0
    const slow = { now: false }
    const environment = new Proxy(real, {
      get(target, key) {
        if (key === 'monotonic') return () => target.monotonic() + leap
        const own = Reflect.get(target, key, target) as unknown
        return typeof own === 'function' ? own.bind(target) : own
      },
    })
    const heavy = workflow('heavy', {
      run: async (_: null, task) => {
        for (let n = 0; n < 50; n++) {
          await task.run('step', () => n)
          if (slow.now) leap += 30_000 // what computes for so long between two steps
        }
        await task.waitForSignal('go')
      },
    })
    const common = { environment, store: file.store, workflows: [heavy, waits] }
    const early = await stage(common)
    await early.submit(heavy, null, { id: 'bad' })
    await early.submit(waits, 5, { id: 'good' })
    await early.leave()
    slow.now = true
    const s = await stage(common)
    const [bad, good] = [s.engine.tasks.get('bad'), s.engine.tasks.get('good')]
    await Promise.all([bad.signal('go'), good.signal('go')])
    await s.settle()
    expect(await good.result()).toBe(5)
    expect(s.alerts).toMatchObject([{ code: 'TASK_QUARANTINED', task: 'bad' }])
    expect((await bad.status()).pause?.error).toMatchObject({
      details: { cause: 'replay' },
      cause: { code: 'REPLAY_TOO_LONG' },
    })
    await bad.cancel({ force: true })
    expect(await codeOf(bad.result())).toBe('TASK_CANCELLED')
    await s.kill()
  })
})

describe('a history that is too large for one node', () => {
  it('is left for a larger one, and the smaller one goes on with what it can', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const common = {
      environment,
      store: file.store,
      workflows: [waits],
      lease: '10s',
      sweep: '1s',
      poll: '100ms',
    } as const
    const early = await stage(common)
    const large = await early.submit(waits, 1, { id: 'large' })
    for (let n = 0; n < 50; n++) await large.signal('other', 'x'.repeat(200_000))
    await early.submit(waits, 2, { id: 'light' })
    await early.leave()
    // First, for a node that knows of no larger one sets the task apart.
    const roomy = await stage({ ...common, roles: ['scheduler'] })
    const small = await stage({ ...common, roles: ['scheduler'], limits: { memory: 2_000_000 } })
    const end = Promise.all(['large', 'light'].map((id) => small.engine.tasks.get(id).result()))
    for (const id of ['large', 'light']) await small.engine.tasks.get(id).signal('go')
    await small.advance('5s')
    expect(await end).toEqual([1, 2])
    expect([...small.alerts, ...roomy.alerts]).toEqual([])
    await Promise.all([small.kill(), roomy.kill()])
  })
})
