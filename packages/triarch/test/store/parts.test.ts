import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { TriarchError } from '../../src/index.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { circleOf } from '../../src/store/sqlite/deadlock.ts'
import { fileError, receive, send, storeError } from '../../src/store/sqlite/failure.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { patiently } from '../../src/store/sqlite/patience.ts'
import { upTo } from '../../src/store/sqlite/replay.ts'
import { handClock } from './clock.ts'

const sqliteError = (errcode: number | undefined, message: string | undefined = 'm') => ({
  code: 'ERR_SQLITE_ERROR',
  errcode,
  message,
})

describe('an error of SQLite', () => {
  it.each<[errcode: number, code: string]>([
    [5, 'STORE_BUSY'],
    [5 + 256, 'STORE_BUSY'],
    [6, 'STORE_BUSY'],
    [13, 'STORE_FULL'],
    [7, 'STORE_FULL'],
    [8, 'STORE_READ_ONLY'],
    [15, 'STORE_BUSY'],
    ...[3, 4, 5, 6, 12, 18, 19, 21].map((kind): [number, string] => [10 + 256 * kind, 'STORE_FULL']),
    [10, 'STORE_FAILED'],
    [10 + 256, 'STORE_FAILED'],
    [11, 'STORE_FAILED'],
    [19 + 256, 'STORE_FAILED'],
  ])('%d is %s', (errcode, code) => {
    const given = sqliteError(errcode)
    const error = storeError(given) as TriarchError
    expect(error).toMatchObject({ code, cause: given, message: expect.stringContaining('m') })
    expect(error.details).toEqual(code === 'STORE_BUSY' ? undefined : { sqlite: errcode })
  })

  it.each([
    new Error('x'),
    { code: 'ERR_OTHER', errcode: 5 },
    { code: 'ERR_OTHER', errcode: 14 },
    sqliteError(undefined),
  ])('is told from others: %o', (error) => {
    expect(storeError(error)).toBe(error)
    expect(fileError('p', error)).toBe(error)
  })

  it('says which file could not be opened', () => {
    for (const errcode of [14, 26, 14 + 512])
      expect(fileError('p', sqliteError(errcode))).toMatchObject({
        ...{ code: 'STORE_FAILED', details: { sqlite: errcode, path: 'p' } },
        message: 'the file "p" cannot be opened: m',
      })
    const other = sqliteError(5)
    expect(fileError('p', other)).toBe(other)
  })

  it.each<[what: string, error: unknown, told: object]>([
    [
      'with a cause and details',
      new TriarchError('STORE_FAILED', 'm', { cause: new Error('c'), details: { a: 1 } }),
      { code: 'STORE_FAILED', message: 'm', cause: 'c', details: { a: 1 } },
    ],
    [
      'with a cause that is no error',
      new TriarchError('STORE_FAILED', 'm', { cause: 'c' }),
      { code: 'STORE_FAILED', message: 'm', cause: 'c' },
    ],
    ['with neither', new TriarchError('STORE_FAILED', 'm'), { code: 'STORE_FAILED', message: 'm', cause: undefined }],
    [
      'of SQLite',
      sqliteError(13),
      { code: 'STORE_FULL', message: 'm', cause: { errcode: 13 }, details: { sqlite: 13 } },
    ],
    ['of another kind', new TypeError('t'), { message: 't' }],
  ])('%s crosses from one thread to another', (_, error, told) => {
    const sent = structuredClone(send(error))
    const received = receive(sent)
    expect({ ...received, message: received.message, cause: received.cause }).toMatchObject(told)
    expect(received instanceof TriarchError).toBe('code' in told)
    expect('cause' in received).toBe('cause' in told && told.cause !== undefined)
    if (!('details' in told)) expect((received as TriarchError).details).toBeUndefined()
  })
})

describe('who waits for the store', () => {
  const busy = () => {
    throw sqliteError(5)
  }

  it('tries as long as it may, at longer and longer intervals, and then says that it is busy', async () => {
    const clock = handClock()
    const tried: number[] = []
    const given = patiently(clock, 400, () => {
      tried.push(clock.monotonic())
      return busy()
    }).catch((error: unknown) => error)
    for (let n = 0; n < 500; n++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(1)
    }
    expect(await given).toMatchObject({ code: 'STORE_BUSY' })
    const waits = tried.slice(1).map((at, index) => at - (tried[index] as number))
    expect(tried.at(-1)).toBeGreaterThanOrEqual(400)
    expect(tried.at(-2)).toBeLessThan(400)
    expect(Math.max(...waits)).toBeLessThanOrEqual(50)
    expect(waits.slice(8).every((wait) => wait >= 25)).toBe(true)
    expect(waits[0]).toBeLessThanOrEqual(1)
  })

  it('does not wait at all without time, or for what else goes wrong', async () => {
    let tries = 0
    const count = (fail: () => never) => () => {
      tries++
      return fail()
    }
    await expect(patiently(handClock(), 0, count(busy))).rejects.toMatchObject({ code: 'STORE_BUSY' })
    const full = () => {
      throw sqliteError(13)
    }
    await expect(patiently(handClock(), 1_000, count(full))).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(tries).toBe(2)
  })
})

describe('a page of records', () => {
  const records = [10, 20, 30, 40].map((size, index) => ({ seq: index + 1, at: 0, size }))

  it.each([
    [{ records: 9, bytes: 1_000 }, 4],
    [{ records: 4, bytes: 1_000 }, 4],
    [{ records: 3, bytes: 1_000 }, 3],
    [{ records: 9, bytes: 31 }, 3],
    [{ records: 9, bytes: 30 }, 2],
    [{ records: 9, bytes: 1 }, 1],
    [{ records: 9, bytes: 0 }, 1],
    [{ records: 0, bytes: 0 }, 1],
  ])('of %j has %d, and one at least', (most, count) => {
    expect(upTo(records, most)).toEqual(records.slice(0, count))
  })
})

describe('a connection', () => {
  it('writes all of a transaction or nothing', () => {
    const database = new Database(new DatabaseSync(':memory:'))
    database.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)')
    const boom = new Error('boom')
    const body = (fail: boolean) => () => {
      database.run('INSERT INTO t VALUES (?)', 1)
      if (fail) throw boom
    }
    expect(() => database.transaction(body(true))).toThrow(boom)
    expect(database.all('SELECT n FROM t')).toEqual([])
    database.transaction(body(false))
    expect(database.connection.isTransaction).toBe(false)
    // What ended its transaction by itself has none to take back.
    const ends = () => {
      database.run('ROLLBACK')
      throw boom
    }
    expect(() => database.transaction(ends)).toThrow(boom)
    expect(database.insert('INSERT OR IGNORE INTO t VALUES (?)', 1)).toBeNull()
    expect(database.insert('INSERT OR IGNORE INTO t VALUES (?)', 7)).toBe(7)
  })
})

describe('who waits for whom', () => {
  /** Claims: a task, what it waits for or (`+`) has; and who waits for a child that waits. */
  function circle(
    claims: string[],
    { priority = {}, parents = {} }: { priority?: Record<string, number>; parents?: Record<string, string> } = {},
  ) {
    const database = openDatabase(':memory:', 0)
    const tasks = new Map<string, number>()
    const keyOf = (id: string) => {
      const known = tasks.get(id)
      if (known !== undefined) return known
      const insert = `INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq, submitted_at, updated_at)
        VALUES (?, 'w', '1', 0, 'running', 'pending', 0, 0, 0, 0, 0, 1, 0, 0)`
      const key = database.insert(insert, id) as number
      tasks.set(id, key)
      return key
    }
    let step = 0
    let last = { task: 0, claim: 0 }
    for (const claim of claims) {
      const [, task = '', held, name = ''] = /^(\w)(\+?)(\w)$/.exec(claim) ?? []
      const sql =
        'INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since, tied) VALUES (?, ?, ?, ?, ?, ?, 0, 1)'
      const id = database.insert(
        sql,
        name,
        keyOf(task),
        ++step,
        priority[task] ?? 0,
        'queue',
        held === '+' ? 1 : 0,
      ) as number
      last = { task: keyOf(task), claim: id }
      const parent = parents[task]
      if (parent !== undefined && held !== '+')
        database.run(
          'INSERT INTO triarch_lock_parents (parent, name, rank, claim) VALUES (?, ?, ?, ?)',
          keyOf(parent),
          name,
          -(priority[task] ?? 0),
          id,
        )
    }
    const end = circleOf(database, last.task, last.claim)
    database.close()
    return [...tasks].find(([, key]) => key === end)?.[0]
  }

  it.each<[what: string, end: string | undefined, claims: string[], more?: Parameters<typeof circle>[1]]>([
    ['two that wait for each other', 'b', ['a+x', 'b+y', 'ay', 'bx']],
    ['one that waits for what it has', 'a', ['a+x', 'ax']],
    ['three in a row', undefined, ['a+x', 'b+y', 'bx', 'cy']],
    ['three in a circle', 'c', ['a+x', 'b+y', 'c+z', 'ay', 'bz', 'cx']],
    [
      'one before in a line that was looked at from further in front',
      'a',
      ['a+w', 'b+x', 'e+y', 'by', 'dy', 'dw', 'by', 'ax'],
    ],
    ['one before in line that waits for what it has', 'c', ['a+x', 'bx', 'c+y', 'by', 'cx']],
    [
      'one behind in line that waits for what it has',
      undefined,
      ['a+x', 'cx', 'c+y', 'bx', 'by'],
      { priority: { c: 0, b: -1 } },
    ],
    ['one behind in line that goes first', 'c', ['a+x', 'bx', 'c+y', 'by', 'cx'], { priority: { b: 5 } }],
    ['one before in line that goes last', undefined, ['a+x', 'bx', 'c+y', 'by', 'cx'], { priority: { c: 5 } }],
    ['one that waits for the end of a child that waits for it', 'p', ['p+x', 'cx'], { parents: { c: 'p' } }],
    [
      'a parent whose children wait for several names',
      'b',
      ['p+x', 'b+w', 'cw', 'dz', 'e+z', 'bx'],
      { parents: { c: 'p', d: 'p' } },
    ],
    [
      'a parent whose children wait for others',
      undefined,
      ['p+x', 'e+w', 'f+z', 'cw', 'dz', 'bx'],
      { parents: { c: 'p', d: 'p' } },
    ],
  ])('%s: %s', (_, end, claims, more) => {
    expect(circle(claims, more)).toBe(end)
  })

  it.each([
    [500, 1],
    [501, undefined],
  ])('is looked for among a thousand tasks and lines and no further: %d in a circle', (length, end) => {
    const database = openDatabase(':memory:', 0)
    const all = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= ${length})`
    const locks = 'INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since, tied)'
    database.exec(`
      ${all} INSERT INTO triarch_tasks (key, id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq, submitted_at, updated_at)
        SELECT i, i, 'w', '1', 0, 'running', 'pending', 0, 0, 0, 0, 0, 1, 0, 0 FROM n;
      ${locks} VALUES (2, ${length + 1}, 2, 0, 'queue', 0, 0, 1);
      ${all} ${locks} SELECT i, i, 1, 0, 'queue', 1, 0, 1 FROM n WHERE i <= ${length};
      ${all} ${locks} SELECT i % ${length} + 1, i, 2, 0, 'queue', 0, 0, 1 FROM n WHERE i <= ${length}`)
    const claim = database.get<{ id: number }>('SELECT id FROM triarch_locks WHERE task = 1 AND held = 0')?.id ?? 0
    expect(circleOf(database, 1, claim)).toBe(end)
    database.close()
  })
})
