import { describe, expect, it } from 'vitest'
import { MAX_ROWS_EXAMINED as PIECE } from '../../src/store/listing.ts'
import type { Database } from '../../src/store/sqlite/database.ts'
import { list } from '../../src/store/sqlite/list.ts'
import { dropGates, openGates, sweepLocks } from '../../src/store/sqlite/lock.ts'
import { lead } from '../../src/store/sqlite/nodes.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { prune } from '../../src/store/sqlite/prune.ts'
import { submit } from '../../src/store/sqlite/submit.ts'
import { sweep } from '../../src/store/sqlite/sweep.ts'
import { type ListChoice, queryOf } from './listing.ts'
import { newTask } from './samples.ts'

const MANY = PIECE + 1_000

/** So many tasks that have stopped, each with a lock of its own. */
function filled(tasks: number, locks = 0): Database {
  const database = openDatabase(':memory:', 0)
  const to = (count: number) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  if (tasks > 0)
    database.exec(`${to(tasks)}
    INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
      submitted_at, updated_at)
    SELECT 't' || i, 'flow', '1', 0, ${locks > 0 ? "'running'" : "'stopped'"}, 'success', 0, 1, 0, 0, 0, 1, i, i FROM n`)
  if (locks > 0)
    database.exec(`${to(locks)}
      INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since) SELECT 'l' || i, 1, i, 0, 'queue', 1, 0 FROM n`)
  return database
}

describe('a list', () => {
  const database = filled(MANY)
  const look = (choice: ListChoice) => {
    const { rows, looked } = list(database, 0, queryOf({ limit: 10, order: 'oldest', ...choice }))
    return [rows.map(({ key }) => key), looked]
  }

  it('by what an index knows is one look, however much else there is', () => {
    expect(look({ status: ['running', 'paused'] })).toEqual([[], null])
    expect(look({ outcome: 'error' })).toEqual([[], null])
    expect(look({ filter: 'error~declined' })).toEqual([[], null])
    expect(look({ filter: 'id:t600*' })).toEqual([[600, 6_000], null])
    expect(look({ filter: 'id:t5999,t6000,t7000' })).toEqual([[5_999, 6_000], null])
    expect(look({ limit: 1_000, after: PIECE })).toEqual([Array.from({ length: 1_000 }, (_, i) => PIECE + 1 + i), null])
  })

  it('by anything else is done with a full page, or says how far it looked', () => {
    expect(look({ version: 'none' })).toEqual([[], PIECE])
    expect(look({ version: 'none', after: PIECE })).toEqual([[], null])
    // Its span says so at once.
    expect(look({ workflow: 'none' })).toEqual([[], null])
    expect(look({ workflow: 'flow', limit: 2, order: 'newest' })).toEqual([[MANY, MANY - 1], null])
    expect(look({ filter: 'id:t*', after: 3, limit: 2 })).toEqual([[4, 5], null])
    expect(look({ filter: '-id:t1*', limit: 3 })).toEqual([[2, 3, 4], null])
  })

  it('that is led by what many have is led by what few have instead', () => {
    const many = filled(MANY)
    many.exec(`INSERT INTO triarch_tags SELECT 'shop', 'north', key FROM triarch_tasks`)
    many.exec(`UPDATE triarch_tasks SET status = 'paused', result = 'pending' WHERE key % 2500 = 0`)
    const query = queryOf({ tags: { shop: 'north' }, filter: 'status:paused workflow:flow', order: 'oldest', limit: 9 })
    const { rows, looked } = list(many, 0, query)
    expect([rows.map(({ key }) => key), looked]).toEqual([[2_500, 5_000], null])
    many.exec(`UPDATE triarch_tasks SET status = 'paused', workflow = 'other' WHERE key % 2500 > 0`)
    expect(list(many, 0, query)).toMatchObject({ rows: [{ key: 2_500 }, { key: 5_000 }], looked: PIECE })
  })

  it('of several parts goes as far as all of them were looked at, so that nothing is left out in between', () => {
    const mixed = filled(0)
    const make = (id: string, version: string, status: string) =>
      mixed.run(
        `INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
          submitted_at, updated_at) VALUES (?, 'flow', ?, 0, ?, 'pending', 0, 1, 0, 0, 0, 1, 0, 0)`,
        id,
        version,
        status,
      )
    // Half a look goes to each status: that of the first ends before it has passed over all that do not fit.
    make('a', '1', 'running')
    for (let n = 0; n < PIECE / 2 + 1; n++) make(`x${n}`, '2', 'running')
    make('b', '1', 'paused')
    make('c', '1', 'running')
    const choice = { version: '1', status: ['running', 'paused'], order: 'oldest', limit: 3 } as const
    const first = list(mixed, 0, queryOf(choice))
    expect([first.rows.map(({ id }) => id), first.looked]).toEqual([['a'], PIECE / 2])
    const rest = list(mixed, 0, queryOf({ ...choice, after: PIECE / 2 }))
    expect([rest.rows.map(({ id }) => id), rest.looked]).toEqual([['b', 'c'], null])
  })
})

describe('what is dropped', () => {
  it('is nothing while the store is full: that is no task’s fault', () => {
    const database = filled(1)
    const token = lead(database, 0, { name: 's', node: 'n', ttl: 10_000 }) ?? 0
    const rules = [{ workflow: null, result: 'success', age: 1 } as const]
    const full = Object.assign(new Error('full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
    const run = database.run.bind(database)
    database.run = (sql, ...values) => {
      if (sql.startsWith('DELETE FROM triarch_tasks')) throw full
      return run(sql, ...values)
    }
    expect(() => prune(database, 5_000, { name: 's', token, rules, limit: 1, records: 1 })).toThrow(full)
    expect(database.connection.isTransaction).toBe(false)
  })
})

describe('a sweep of claims on locks', () => {
  const at = (database: Database) =>
    database.get<{ value: number }>(`SELECT value FROM triarch_lock_counters WHERE name = 'swept'`)?.value ?? 0

  it('goes on where the one before it ended, and begins anew behind the last', () => {
    const database = filled(1, 5)
    const seen = Array.from({ length: 4 }, () => {
      sweepLocks(database, 0, 2)
      return at(database)
    })
    expect(seen).toEqual([2, 4, 0, 2])
    sweepLocks(database, 0, 3)
    expect(at(database)).toBe(5)
  })

  /** Claims in their order, of running tasks or (`!`) stopped ones; `+`: held. Gives what is left of them, in the same words. */
  function after(claims: string[], change: (database: Database, keyOf: (task: string) => number) => void): string[] {
    const database = filled(0)
    const keys = new Map<string, number>()
    for (const [step, claim] of claims.entries()) {
      const [, task = '', stopped, held, name = ''] = /^(\w)(!?)(\+?)(\w)$/.exec(claim) ?? []
      if (!keys.has(task)) keys.set(task, submit(database, 0, [newTask(task)])[0]?.key ?? 0)
      if (stopped) database.run(`UPDATE triarch_tasks SET status = 'stopped' WHERE id = ?`, task)
      const sql = `INSERT INTO triarch_locks (name, task, step, priority, if_held, held, since, tied) VALUES (?, ?, ?, 0, 'queue', ?, 0, 1)`
      database.run(sql, name, keys.get(task) ?? 0, step, held ? 1 : 0)
    }
    change(database, (task) => keys.get(task) ?? 0)
    const left = `SELECT t.id || CASE t.status WHEN 'stopped' THEN '!' ELSE '' END || CASE held WHEN 1 THEN '+' ELSE '' END || name AS claim
      FROM triarch_locks l JOIN triarch_tasks t ON t.key = l.task ORDER BY l.id`
    return database.all<{ claim: string }>(left).map(({ claim }) => claim)
  }

  it.each<[what: string, limit: number, claims: string[], left: string[]]>([
    ['takes from the line who has stopped', 9, ['a+x', 'b!x', 'cx'], ['a+x', 'cx']],
    ['gives a free name to the first in line', 9, ['ax', 'bx'], ['a+x', 'bx']],
    ['gives to the next what one has that has stopped', 1, ['a!+x', 'bx'], ['b+x']],
    ['refuses who waits in a circle', 3, ['a+x', 'b+y', 'ay', 'bx'], ['a+x', 'b+y', 'bx']],
    ['takes no lock from who has it, in a circle or not', 2, ['a+x', 'b+y', 'ay', 'bx'], ['a+x', 'b+y', 'ay', 'bx']],
  ])('%s', (_, limit, claims, left) => {
    expect(after(claims, (database) => sweepLocks(database, 0, limit))).toEqual(left)
  })

  it('need not come first: a lock that is given back goes to the next that has not stopped', () => {
    const back = after(['a+x', 'b!x', 'c!x', 'dx'], (database, keyOf) =>
      openGates(database, 0, keyOf('a'), { locks: [], unlocks: [0] }),
    )
    expect(back).toEqual(['d+x'])
  })

  it('looks at no more than a sweep may, and at two hundred', () => {
    const database = filled(1, 300)
    const token = lead(database, 0, { name: 's', node: 'n', ttl: 1_000 }) ?? 0
    sweep(database, 0, { name: 's', token, limit: 10 })
    expect(at(database)).toBe(10)
    sweep(database, 0, { name: 's', token, limit: 1_000 })
    expect(at(database)).toBe(210)
  })

  it('is not needed for a task that is dropped: it comes after nobody any more', () => {
    const database = filled(1, 1)
    const [made] = submit(database, 0, [newTask('x', { gates: { locks: [], after: ['t1'] } })])
    const followers = () => database.get('SELECT count(*) AS n FROM triarch_followers')
    expect(followers()).toEqual({ n: 1 })
    dropGates(database, 0, made?.key ?? 0)
    expect(followers()).toEqual({ n: 0 })
  })
})
