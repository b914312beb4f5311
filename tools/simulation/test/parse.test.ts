import { constants } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import { Database, type SqlValue } from '../../../packages/triarch/src/store/sqlite/database.ts'
import { Campaign } from '../campaign.ts'

type Running = (this: Database, sql: string, ...values: SqlValue[]) => unknown

/** What was run before, by connection: SQLite asks its authorizer whenever it parses. */
const ran = new Map<Database, Set<string>>()
const again = new Set<string>()
let parsed = false

function watched(running: Running): Running {
  return function (sql, ...values) {
    if (!ran.has(this)) this.connection.setAuthorizer(allow)
    const texts = ran.get(this) ?? new Set()
    ran.set(this, texts)
    parsed = false
    const answer = running.call(this, sql, ...values)
    if (parsed && texts.has(sql)) again.add(sql)
    texts.add(sql)
    return answer
  }
}

function allow(): number {
  parsed = true
  return constants.SQLITE_OK
}

// One whose plan may depend on a value is parsed whenever another is bound to it: that costs more than most of them do.
it('no statement of the store is parsed again because it is run with other values', async () => {
  for (const way of ['run', 'insert', 'get', 'all'] as const) {
    const running = Database.prototype[way] as Running
    vi.spyOn(Database.prototype, way).mockImplementation(watched(running) as never)
  }
  const campaign = new Campaign()
  for (let seed = 1; seed <= 10; seed++) await campaign.seed(seed)
  expect([...ran.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(150)
  expect([...again]).toEqual([])
})
