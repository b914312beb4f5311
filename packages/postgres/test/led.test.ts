import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatFilter } from '../../triarch/src/filter/grammar.ts'
import { listingOf, MOST_NAMES } from '../../triarch/src/store/listing.ts'
import type { ListQuery, RowCondition } from '../../triarch/src/store/port.ts'
import { anyFilter } from '../../triarch/test/filter/filters.ts'
import { handClock } from '../../triarch/test/store/clock.ts'
import { queryOf, renamed } from '../../triarch/test/store/listing.ts'
import { fewStatement, type ListStatement, listStatement, probeStatement } from '../src/list.ts'
import { BACKLOGS, QUEUED_FOR, READY } from '../src/reads.ts'
import { inSchema } from '../src/schema.ts'
import { dropSchema, freshSchema, subjectIn, withClient } from './database.ts'

const schema = freshSchema()

beforeAll(async () => {
  const store = (await subjectIn(schema)()).store(handClock())
  await store.open()
  await store.close()
  await withClient(async (client) => {
    await client.query(
      inSchema(
        `INSERT INTO triarch.tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned, base_seq,
           submitted_at, updated_at, parent, locked_by, quarantined)
         SELECT 't' || i, 'flow', '1', 0, CASE WHEN i % 100 = 0 THEN 'paused' WHEN i % 100 = 1 THEN 'running' ELSE 'stopped' END,
           CASE WHEN i % 100 < 2 THEN 'pending' WHEN i % 100 = 2 THEN 'error' ELSE 'success' END, 0, 1, false, false, false, 1, i, i,
           CASE WHEN i % 100 = 3 THEN 't1' END, CASE WHEN i % 100 = 1 THEN 'a' END, i % 1000 = 4
         FROM generate_series(1, 30000) i;
         UPDATE triarch.tasks SET workflow = 'rare' WHERE key IN (7, 20000);
         INSERT INTO triarch.tags SELECT 'land', 'x', i FROM generate_series(1, 30000) i;
         INSERT INTO triarch.tags SELECT 'shop', 'n' || i % 300, i FROM generate_series(1, 30000) i;
         ANALYZE triarch.tasks; ANALYZE triarch.tags`,
        schema,
      ),
    )
  })
})
afterAll(() => dropSchema(schema))

/** How the server goes about it. */
async function plan({ sql, values }: ListStatement): Promise<string> {
  return withClient(async (client) => {
    const { rows } = await client.query(`EXPLAIN ${inSchema(sql, schema)}`, values)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

function statements({ where, ...page }: Pick<ListQuery, 'where'>): ListStatement[] {
  const { probe, ...listing } = listingOf(where)
  const query = { ...page, limit: 50, order: 'newest' } as const
  return [
    ...(probe ? [probeStatement(probe)] : []),
    ...(listing.parts.length > 0 ? [listStatement(query, listing)] : []),
  ]
}

describe('a list on PostgreSQL', () => {
  it.each<[filter: string, index: string]>([
    ['id:t1,t2', 'tasks_id_key'],
    ['id:t19*', 'tasks_id_key'],
    ['tag.shop:n7', 'tags_pkey'],
    ['tag.shop:n29*', 'tags_pkey'],
    ['parent:t1', 'tasks_children'],
    ['node:a', 'tasks_owned'],
    ['quarantined:true', 'tasks_apart'],
    ['outcome:error,cancelled', 'tasks_unhappy'],
    ['status:paused', 'tasks_open'],
    ['-status:stopped', 'tasks_open'],
    ['error~declined', 'tasks_unhappy'],
    ['cause:step', 'tasks_open'],
    ['workflow:rare status:paused age:>2h', 'tasks_open'],
    ['workflow:rare', 'tasks_pkey'],
  ])('%s is led by an index, and scans no table', async (filter, index) => {
    const plans = await Promise.all(statements(queryOf({ filter })).map(plan))
    expect(plans[0]).toContain(index)
    expect(plans.join('\n')).not.toMatch(/Seq Scan on (?:tasks|tags)/)
  })

  it('that is led by what many have is led by what few have instead, if these are one look at most', async () => {
    const store = (await subjectIn(schema)()).store(handClock())
    await store.open()
    const look = (filter: string) => store.list(queryOf({ filter: `tag.land:x ${filter}`, order: 'oldest' }))
    const paused = await look('status:paused -id:t100')
    expect([paused.rows[0]?.id, paused.rows.length, paused.looked]).toEqual(['t200', 299, null])
    const all = await look('workflow:flow -status:running,paused -outcome:success')
    expect([all.rows.length, all.looked]).toEqual([50, 5_000])
    await store.close()
  })

  it('that nothing leads goes through the span of its workflow instead, if that is one look at most', async () => {
    const store = (await subjectIn(schema)()).store(handClock())
    await store.open()
    const look = async (filter: string) => {
      const { rows, looked } = await store.list(queryOf({ filter, order: 'oldest' }, 100_000))
      return [rows.map(({ id }) => id).slice(0, 3), looked]
    }
    expect(await look('workflow:rare')).toEqual([['t7', 't20000'], null])
    expect(await look('workflow:rare age:<=80s')).toEqual([['t20000'], null])
    expect(await look('workflow:flow,rare outcome:success age:<1s')).toEqual([[], null])
    expect(await look('workflow:flow,rare age:<=80s age:>=79998ms')).toEqual([['t20000', 't20001', 't20002'], null])
    expect(await look('workflow:flow priority:9')).toEqual([[], 5_000])
    expect(await look('age:<=80s age:>=79998ms')).toEqual([['t20000', 't20001', 't20002'], null])
    expect(await look('age:<1s -workflow:rare')).toEqual([[], null])
    expect(await look('age:<=80s priority:9')).toEqual([[], 5_000])
    await store.close()
    for (const filter of ['workflow:flow age:>1d', 'workflow:flow age:<1s', 'workflow:rare,none', 'age:<1s', 'age:>1d'])
      expect(await plan(fewStatement(listingOf(queryOf({ filter }, 100_000).where).instead ?? []))).not.toMatch(
        /Seq Scan|Bitmap/,
      )
  })

  it('of a time goes through the spans of all workflows, if these are not too many', async () => {
    const names = (first: number, last: number) =>
      withClient((client) =>
        client.query(`INSERT INTO ${schema}.tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned,
          base_seq, submitted_at, updated_at) SELECT 'n' || i, 'flow ' || i, '1', 0, 'stopped', 'success', 0, 1, false, false, false, 1, 0, 0
        FROM generate_series(${first}::integer, ${last}) i`),
      )
    const store = (await subjectIn(schema)()).store(handClock())
    await store.open()
    const looked = async () => (await store.list(queryOf({ filter: 'age:<1s', order: 'oldest' }, 100_000))).looked
    await names(1, MOST_NAMES - 2)
    expect(await looked()).toBeNull()
    await names(MOST_NAMES - 1, MOST_NAMES - 1)
    expect(await looked()).toBe(5_000)
    await withClient((client) => client.query(`DELETE FROM ${schema}.tasks WHERE workflow LIKE 'flow %'`))
    await store.close()
  })

  it('has its own words only: whatever the texts are, the statements are the same', () => {
    return fc.assert(
      fc.property(anyFilter, (filter) => {
        const { where } = queryOf({ filter: formatFilter(filter) })
        const asked = (conditions: readonly RowCondition[]) => statements({ where: conditions }).map(({ sql }) => sql)
        expect(asked(where)).toEqual(asked(where.map(renamed)))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a line that is counted on PostgreSQL', () => {
  it.each([
    ['tasks_line', 'Seq Scan on tasks', { sql: READY, values: ['flow', 1_000] }],
    ['work_line', 'Seq Scan on work', { sql: QUEUED_FOR, values: ['pay', 'pay#', 'pay$', 1_000] }],
  ])('is led by %s', async (index, scan, statement) => {
    const found = await plan(statement)
    expect(found).toContain(index)
    expect(found).not.toContain(scan)
  })
})

describe('ready tasks by version on PostgreSQL', () => {
  it('are led by the line that they stand in, and no table is scanned', async () => {
    const found = await plan({ sql: BACKLOGS, values: [1_000] })
    expect(found).toContain('tasks_line')
    expect(found).not.toContain('Seq Scan on tasks')
  })
})
