import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { Triarch, TriarchError, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { counted } from './counted.ts'

const flow = workflow('flow', { run: async (n: number) => n })

/** A process that only submits. */
function client({ poison, file = ':memory:' }: { poison?: string; file?: string } = {}) {
  let calls: ReturnType<typeof counted> | undefined
  const engine = new Triarch({
    ...{ workflows: [flow], roles: [], notices: false },
    store: (environment) => {
      const store = sqlite(file)(environment)
      const submit = store.submit.bind(store)
      store.submit = async (tasks) => {
        if (tasks.some(({ id }) => id === poison)) throw new TriarchError('STORE_FAILED', 'not this one')
        return submit(tasks)
      }
      calls = counted(store)
      return calls.store
    },
  })
  const count = (name: keyof StateStore) => calls?.count(name) ?? 0
  return { engine, calls: count, submits: () => count('submit') }
}

describe('a list of tasks', () => {
  it('is read and submitted a thousand at a time, however long it is', async () => {
    const { engine, submits } = client()
    await using _ = engine
    let read = 0
    function* entries() {
      for (; read < 2_500; read++) {
        expect(submits() * 1_000).toBeGreaterThanOrEqual(read - 1_000)
        yield { input: read, id: `t-${read}` }
      }
    }
    const results = await engine.submitMany(flow, entries())
    expect(results.map((it) => it.status === 'fulfilled' && it.value.id)).toEqual(
      Array.from({ length: 2_500 }, (_, n) => `t-${n}`),
    )
    expect(submits()).toBeLessThanOrEqual(7)
    expect((await engine.tasks.count({ filter: 'workflow:flow' })).count).toBe(2_500)
  })

  it('goes into a transaction of the caller, a thousand in one call', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-submissions-'))
    const { engine, calls } = client({ file: join(folder, 'a.db') })
    await engine.open()
    using database = new DatabaseSync(join(folder, 'a.db'))
    const entries = Array.from({ length: 1_500 }, (_, n) => ({ input: n, id: `t-${n % 1_400}` }))
    for (const end of ['ROLLBACK', 'COMMIT']) {
      database.exec('BEGIN IMMEDIATE')
      const results = await engine.submitMany(flow, [...entries, { input: 0, id: 'a~b' }], { transaction: database })
      // 100 are there already, as other tasks.
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_400)
      database.exec(end)
      expect((await engine.tasks.count({ filter: 'workflow:flow' })).count).toBe(end === 'COMMIT' ? 1_400 : 0)
    }
    // Two for each list; one more where a task was held up because the settings had to be read again.
    expect(calls('submitIn')).toBeGreaterThanOrEqual(4)
    expect(calls('submitIn')).toBeLessThanOrEqual(8)
    expect(calls('submit')).toBe(0)
    const own = [{ input: 1, transaction: database } as never]
    const [refused] = await engine.submitMany(flow, own)
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'INVALID_OPTION' } })
    await expect(engine.submitMany(flow, [], { other: 1 } as never)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(client().engine.submitMany(flow, [], { transaction: database })).rejects.toMatchObject({
      code: 'STORE_TRANSACTION_INVALID',
    })
    await engine.stop()
    rmSync(folder, { recursive: true })
  })

  it('that fails to be read ends with that; what was submitted stays', async () => {
    const { engine } = client()
    await using _ = engine
    function* entries() {
      for (let n = 0; n < 1_000; n++) yield { input: n }
      throw new Error('the file ends here')
    }
    await expect(engine.submitMany(flow, entries())).rejects.toThrow('the file ends here')
    expect((await engine.tasks.count({ filter: 'workflow:flow' })).count).toBe(1_000)
  })
})

describe('tasks that are submitted at the same time', () => {
  it('share transactions, and each is answered on its own', async () => {
    const { engine, submits } = client()
    await using _ = engine
    const ids = Array.from({ length: 300 }, (_, n) => `t-${n % 200}`)
    const tasks = await Promise.all(ids.map((id) => engine.submit(flow, 1, { id })))
    expect(tasks.map(({ id }) => id)).toEqual(ids)
    expect(tasks.filter(({ isNew }) => isNew)).toHaveLength(200)
    expect(submits()).toBeLessThanOrEqual(3)
    expect((await engine.tasks.count({ filter: 'workflow:flow' })).count).toBe(200)
  })

  it('are not refused with one that is another task of the same id', async () => {
    const { engine } = client()
    await using _ = engine
    await engine.submit(flow, 1, { id: 'taken' })
    const made = await Promise.allSettled(
      ['a', 'taken', 'b'].map((id) => engine.submit(flow, id === 'taken' ? 2 : 1, { id })),
    )
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((made[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'TASK_EXISTS' })
  })

  it('do not share the fate of one that the store cannot take', async () => {
    const { engine } = client({ poison: 'poison' })
    await using _ = engine
    const made = await Promise.allSettled(['a', 'poison', 'b'].map((id) => engine.submit(flow, 1, { id })))
    expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((made[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'STORE_FAILED' })
    expect((await engine.tasks.count({ filter: 'workflow:flow' })).count).toBe(2)
  })
})
