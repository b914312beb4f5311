import { describe, expect, it } from 'vitest'
import { PermanentError, type TaskContext, type Workflow, workflow } from '../../src/index.ts'
import type { SqliteTransaction } from '../../src/store/sqlite/index.ts'
import { eventsOf, never, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** What a test's workflow does once the table is there; its output is what the table holds in the end. */
function booking(body: (task: TaskContext) => Promise<unknown>): Workflow<null, number[]> {
  return workflow('booking', {
    async run(_: null, task) {
      await task.transaction('table', (tx: SqliteTransaction) => tx.exec('CREATE TABLE IF NOT EXISTS rows (n)'))
      await body(task)
      return task.transaction('read', (tx: SqliteTransaction) => numbers(tx))
    },
  })
}

function numbers(tx: SqliteTransaction): number[] {
  return tx
    .prepare('SELECT n FROM rows ORDER BY rowid')
    .all()
    .map(({ n }) => Number(n))
}

function insert(tx: SqliteTransaction, n: number): void {
  tx.prepare('INSERT INTO rows VALUES (?)').run(n)
}

const look = workflow('look', { run: (_: null, task) => task.transaction('look', numbers) })

/** What the table holds, whatever became of the task. */
async function held(s: Stage): Promise<number[]> {
  const task = await s.submit(look, null)
  await s.settle()
  return task.result()
}

describe('task.transaction', () => {
  it('runs a function once and remembers what it gave', async () => {
    const flow = booking(async (task) => {
      const given = await task.transaction('book', async (tx: SqliteTransaction, step) => {
        insert(tx, 1)
        return { key: step.idempotencyKey, attempt: step.attempt }
      })
      await task.sleep('1d')
      expect(given).toEqual({ key: expect.stringMatching(/^t~[0-9a-z]+:2$/), attempt: 1 })
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null, { id: 't' })
    await s.advance('1d')
    expect(await task.result()).toEqual([1])
  })

  it('is tried again when it fails, and leaves nothing of the attempts that failed', async () => {
    const flow = booking((task) =>
      task.transaction('book', (tx: SqliteTransaction, { attempt }) => {
        insert(tx, attempt)
        if (attempt < 3) throw new Error('not yet')
      }),
    )
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await task.result()).toEqual([3])
    const failed = await eventsOf(task, 'attemptFailed')
    expect(failed.map(({ attempt, unknown }) => [attempt, unknown])).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })

  it('fails for good by a permanent error, or when its answer cannot be recorded', async () => {
    const flow = booking(async (task) => {
      const refuse = (tx: SqliteTransaction) => {
        insert(tx, 1)
        throw new PermanentError('no')
      }
      const wrong = (tx: SqliteTransaction) => {
        insert(tx, 2)
        return { n: Number.NaN }
      }
      const outcomes = await Promise.allSettled([task.transaction('no', refuse), task.transaction('wrong', wrong)])
      expect(outcomes).toMatchObject([{ reason: { attempts: 1 } }, { reason: { attempts: 1 } }])
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toEqual([])
  })

  it('is undone in a transaction, once', async () => {
    const flow = booking(async (task) => {
      const undo = (tx: SqliteTransaction, { output }: { output: number }, { attempt }: { attempt: number }) => {
        insert(tx, -output)
        if (attempt === 1) throw new Error('not yet')
        return { rows: () => [] } // as a driver's result: nothing that could be stored
      }
      const book = (tx: SqliteTransaction) => {
        insert(tx, 7)
        return 7
      }
      await task.transaction('book', book, { undo })
      throw new Error('sold out')
    })
    await using s = await stage({ workflows: [flow, look] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    expect(await held(s)).toEqual([7, -7])
  })

  it('that is too late is undone, and the next attempt begins with nothing of it', async () => {
    const flow = booking((task) =>
      task.transaction(
        'slow',
        (tx: SqliteTransaction, { attempt }) => {
          insert(tx, attempt)
          return attempt === 1 ? never() : attempt
        },
        { attemptWithin: '1s' },
      ),
    )
    using file = scratch()
    await using s = await stage({ workflows: [flow], store: file.store })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await task.result()).toEqual([2])
    expect(await eventsOf(task, 'verified')).toMatchObject([{ answer: 'not-done' }])
  })

  it('holds a SQLite file no longer than 2 s, whatever its complete-by', async () => {
    const flow = booking((task) =>
      task.transaction('stuck', () => never(), { attemptWithin: '1h', retry: { attempts: 1 } }),
    )
    using file = scratch()
    await using s = await stage({ workflows: [flow], store: file.store })
    const task = await s.submit(flow, null)
    await s.advance('3s')
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
    expect(await eventsOf(task, 'attemptFailed')).toMatchObject([{ error: { code: 'STORE_BUSY' } }])
  })

  it('whose record was lost with its process is not run again', async () => {
    let runs = 0
    const flow = booking((task) =>
      task.transaction('book', (tx: SqliteTransaction) => {
        insert(tx, ++runs)
        return runs
      }),
    )
    using file = scratch()
    const s = await stage({ workflows: [flow], store: file.store })
    // The process dies after the transaction's commit, before the step's completion is in the history.
    const transact = s.store.transact.bind(s.store)
    s.store.transact = async (effect, ...rest) => {
      const outcome = await transact(effect, ...rest)
      return 'step' in effect && effect.step === 2 ? never() : outcome
    }
    await s.submit(flow, null, { id: 't' })
    await s.settle()
    await s.kill()
    await using next = await stage({ workflows: [flow], store: file.store, environment: s.engine.environment })
    await next.advance('1m')
    const task = next.engine.tasks.get('t')
    expect(await task.result()).toEqual([1])
    expect(runs).toBe(1)
    expect(await eventsOf(task, 'stepCompleted')).toMatchObject([
      { id: 1 },
      { id: 2, by: 'verify', output: 1 },
      { id: 3 },
    ])
  })

  it('can submit a task that exists exactly when it takes effect', async () => {
    const other = workflow('other', { run: async (n: number) => n })
    const flow = booking(async (task) => {
      await task.transaction('book', async (tx: SqliteTransaction, { attempt }) => {
        await s.submit(other, attempt, { id: `other-${attempt}`, transaction: tx })
        if (attempt === 1) throw new Error('not yet')
      })
    })
    await using s = await stage({ workflows: [flow, other] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    await task.result()
    expect(await s.store.task('other-1')).toBeNull()
    expect(await s.engine.tasks.get('other-2').result()).toBe(2)
  })

  it('refuses its statements, iterators and tags, too, once the function has ended', async () => {
    let uses: (() => unknown)[] = []
    const flow = booking(async (task) => {
      await task.transaction('book', (tx: SqliteTransaction) => {
        const statement = tx.prepare('INSERT INTO rows VALUES (?)')
        const [iterator, tags] = [tx.prepare('SELECT 1').iterate(), tx.createTagStore()]
        statement.run(1)
        uses = [
          () => statement.run(2),
          () => iterator.next(),
          () => tags.run`INSERT INTO rows VALUES (2)`,
          () => tx.exec('INSERT INTO rows VALUES (2)'),
          () => tx.isTransaction,
        ]
      })
      await task.transaction('other', () => {
        for (const use of uses) expect(use).toThrow(expect.objectContaining({ code: 'TRANSACTION_ENDED' }))
      })
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toEqual([1])
    expect(uses).toHaveLength(5)
  })

  it('keeps its connection open, whatever the function tries', async () => {
    const closing = (tx: SqliteTransaction) => tx.close()
    const flow = booking(async (task) => {
      await expect(task.transaction('close', closing, { retry: { attempts: 1 } })).rejects.toMatchObject({
        cause: { code: 'TRANSACTION_ENDED' },
      })
      await task.transaction('book', (tx: SqliteTransaction) => insert(tx, 1))
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toEqual([1])
  })

  it.each([
    [{ isolation: 'none' }, 'INVALID_OPTION'],
    [{ isolate: 'serializable' }, 'UNKNOWN_OPTION'],
  ])('refuses %j', async (options, code) => {
    const flow = booking((task) => task.transaction('book', () => null, options as object))
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    await expect(task.result()).rejects.toMatchObject({ cause: { code } })
  })
})
