import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatFilter } from '../../src/filter/grammar.ts'
import { MOST_NAMES } from '../../src/store/listing.ts'
import type { RowCondition } from '../../src/store/port.ts'
import { Database, type SqlValue } from '../../src/store/sqlite/database.ts'
import { BACKLOG, HELD, NEXT, QUEUE, QUEUED, QUEUED_AGENT, READY, READY_VERSION } from '../../src/store/sqlite/lines.ts'
import { list } from '../../src/store/sqlite/list.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { anyFilter } from '../filter/filters.ts'
import { queryOf, renamed } from './listing.ts'

const database = openDatabase(':memory:', 0)
database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
  INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
    submitted_at, updated_at) SELECT 't' || i, 'flow', '1', 0, 'stopped', 'success', 0, 1, 0, 0, 0, 1, i, i FROM n`)

/** Sees what is asked. */
class Seen extends Database {
  readonly asked: { sql: string; values: SqlValue[] }[] = []

  override all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    this.asked.push({ sql, values })
    return super.all(sql, ...values)
  }

  override once<Row>(sql: string, ...values: SqlValue[]): Row[] {
    this.asked.push({ sql, values })
    return super.once(sql, ...values)
  }

  override get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    this.asked.push({ sql, values })
    return super.get(sql, ...values)
  }
}

function asked(where: readonly RowCondition[], of = database): { sql: string; values: SqlValue[] }[] {
  const seen = new Seen(of.connection)
  list(seen, 0, { where, limit: 2, order: 'newest' })
  return seen.asked
}

/** How SQLite goes about the tables of tasks and tags. */
function plan(filter: string): string[] {
  return asked(queryOf({ filter }).where).flatMap(({ sql, values }) =>
    database
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => detail)
      .filter((detail) => /triarch_|tag /.test(detail) || detail.includes('TEMP B-TREE'))
      .filter((detail) => !detail.includes('VIRTUAL TABLE')),
  )
}

describe('a list on SQLite', () => {
  it.each<[filter: string, index: string]>([
    ['id:t1,t2', 'sqlite_autoindex_triarch_tasks_1 (id=?)'],
    ['id:t1*', 'sqlite_autoindex_triarch_tasks_1 (id>? AND id<?)'],
    ['tag.shop:north', 'PRIMARY KEY (name=? AND value=?)'],
    ['tag.shop:n*', 'PRIMARY KEY (name=? AND value>? AND value<?)'],
    ['tag.shop:*', 'PRIMARY KEY (name=?)'],
    ['parent:t1', 'triarch_tasks_children (parent=?)'],
    ['node:a', 'triarch_tasks_owned (locked_by=?)'],
    ['quarantined:true', 'triarch_tasks_apart'],
    ['outcome:error,cancelled', 'triarch_tasks_unhappy (result=?)'],
    ['status:paused', 'triarch_tasks_open (status=?)'],
    ['-status:stopped', 'triarch_tasks_open (status=?)'],
    ['error~declined', 'triarch_tasks_unhappy (result=?)'],
    ['cause:step', 'triarch_tasks_open (status=?)'],
    ['workflow:rare status:paused age:>2h', 'triarch_tasks_open (status=?)'],
  ])('%s is led by an index, and sorts nothing', (filter, index) => {
    const found = plan(filter)
    expect(found.some((detail) => detail.includes(index))).toBe(true)
    expect(
      found.filter((detail) => /^SCAN (?!triarch_tasks USING (?:COVERING )?INDEX triarch_tasks_apart)/.test(detail)),
    ).toEqual([])
    // Of a probe the keys are sorted: these are one look at most.
    if (!/^(?:id|tag.*\*)/.test(filter)) expect(found.filter((detail) => detail.includes('TEMP'))).toEqual([])
  })

  it('by anything else goes through the tasks in their order, no further than a look', () => {
    const [walk] = asked(queryOf({ filter: 'workflow:none' }).where)
    expect([walk?.sql, walk?.values]).toEqual([
      expect.stringMatching(
        /^SELECT found FROM \(SELECT key AS found FROM triarch_tasks WHERE TRUE ORDER BY key DESC LIMIT \? \+ 0\)/,
      ),
      [5_000, '["none"]', 2],
    ])
  })

  it('that nothing leads goes through the span of its workflow instead, if that is one look at most', () => {
    const many = openDatabase(':memory:', 0)
    many.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
      INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
        submitted_at, updated_at) SELECT 't' || i, CASE WHEN i IN (7, 20000) THEN 'rare' ELSE 'flow' END, '1', 0, 'stopped', 'success',
        0, 1, 0, 0, 0, 1, i, i FROM n`)
    const look = (filter: string) => {
      const { rows, looked } = list(many, 0, { ...queryOf({ filter, order: 'oldest' }, 100_000), limit: 50 })
      return [rows.map(({ id }) => id).slice(0, 3), looked]
    }
    expect(look('workflow:rare')).toEqual([['t7', 't20000'], null])
    expect(look('workflow:rare age:<=80s')).toEqual([['t20000'], null])
    expect(look('workflow:flow,rare outcome:success age:<1s')).toEqual([[], null])
    expect(look('workflow:flow,rare age:<=80s age:>=79998ms')).toEqual([['t20000', 't20001', 't20002'], null])
    expect(look('workflow:flow priority:9')).toEqual([[], 5_000])
    expect(look('age:<=80s age:>=79998ms')).toEqual([['t20000', 't20001', 't20002'], null])
    expect(look('age:<1s -workflow:rare')).toEqual([[], null])
    expect(look('age:<=80s priority:9')).toEqual([[], 5_000])
    const plans = (filter: string) =>
      asked(queryOf({ filter }, 100_000).where, many).flatMap(({ sql, values }) =>
        many.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail),
      )
    expect(plans('workflow:none')).toContain(
      'SEARCH triarch_tasks USING COVERING INDEX triarch_tasks_submitted (workflow=?)',
    )
    expect(plans('workflow:flow age:<1s')).toContain(
      'SEARCH triarch_tasks USING COVERING INDEX triarch_tasks_submitted (workflow=? AND submitted_at>?)',
    )
    for (const by of ['(workflow=? AND submitted_at>?)', '(workflow>?)'])
      expect(plans('age:<1s')).toContain(`SEARCH triarch_tasks USING COVERING INDEX triarch_tasks_submitted ${by}`)
    // Of more workflows than are gone through nobody knows.
    const names = (last: number) =>
      many.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
        INSERT INTO triarch_tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
          submitted_at, updated_at) SELECT 'n' || i || '-' || ${last}, 'flow ' || i, '1', 0, 'stopped', 'success', 0, 1, 0, 0, 0, 1, 0, 0 FROM n`)
    names(MOST_NAMES - 2)
    expect(look('age:<1s')).toEqual([[], null])
    names(MOST_NAMES - 1)
    expect(look('age:<1s')).toEqual([[], 5_000])
  })

  it('has its own words only: whatever the texts are, the statements are the same', () => {
    // With nothing in it, no page is full, and each list is asked to its end.
    const empty = openDatabase(':memory:', 0)
    return fc.assert(
      fc.property(anyFilter, (filter) => {
        const { where } = queryOf({ filter: formatFilter(filter) })
        const statements = (conditions: readonly RowCondition[]) => asked(conditions, empty).map(({ sql }) => sql)
        expect(statements(where)).toEqual(statements(where.map(renamed)))
      }),
      { numRuns: 300 },
    )
  })
})

describe('the lines on SQLite', () => {
  it.each([
    [HELD, ['', 10], 'triarch_locks_held'],
    [NEXT, ['x'], 'triarch_locks_line (name=? AND held=?)'],
    [QUEUED_AGENT, [''], 'triarch_work_line (agent>?)'],
    [QUEUE, ['pay'], 'triarch_work_line (agent=?)'],
    [QUEUED, ['pay', 'pay#', 'pay$', 10], 'triarch_work_line (agent>? AND agent<?)'],
    [READY, ['flow', 10], 'triarch_tasks_line (workflow=?)'],
    [READY_VERSION, ['flow', '1'], 'triarch_tasks_line ((workflow,version)>(?,?))'],
    [BACKLOG, ['flow', '1'], 'triarch_tasks_line (workflow=? AND version=?)'],
  ])('are led by an index, and sort nothing: %s', (sql, values, index) => {
    const found = database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail)
    expect(found.join()).toContain(index)
    expect(found.filter((detail) => /SCAN (?!\(subquery)|TEMP B-TREE/.test(detail))).toEqual([])
  })
})
