import type { SQLInputValue } from 'node:sqlite'
import { SharedStore, type StoreCall } from '../../packages/triarch/src/testing/shared.ts'

/** What users write in transactions of the store: outlives every node. */
const TABLE = `
CREATE TABLE world_effects (task TEXT NOT NULL, step INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL)`

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'triarch_*' AND name <> 'triarch_schema'`

/** The store of a world: others may stand between it and its calls. */
export class Vault extends SharedStore {
  /** Sees each call before it is carried out, and may throw in its place. */
  before: (call: StoreCall, args: readonly unknown[]) => void = () => undefined
  /** Sees each call that was carried out. */
  after: (call: StoreCall, args: readonly unknown[], answer: unknown) => void = () => undefined

  clock: { now(): number } = { now: () => 0 }

  constructor() {
    super()
    this.database.exec(TABLE)
  }

  override reset(clock: { now(): number }): this {
    this.before = () => undefined
    this.after = () => undefined
    this.clock = clock
    if (this.database.connection.isTransaction) this.database.run('ROLLBACK')
    this.database.run('DELETE FROM world_effects')
    return super.reset(clock)
  }

  /** Keeps all that there is now; what it does later is to be called once, and forgets what came after. */
  remember(): () => void {
    const { database } = this
    const names = [...database.all<{ name: string }>(TABLES).map(({ name }) => name), 'sqlite_sequence']
    const tables = names.map((name) => {
      const rows = database.all<Record<string, SQLInputValue>>(`SELECT * FROM ${name}`)
      const columns = database.all<{ name: string; hidden: number }>(`PRAGMA table_xinfo(${name})`)
      return { name, rows, columns: columns.filter(({ hidden }) => hidden === 0).map((column) => column.name) }
    })
    return () => {
      // What a trigger does is in the rows already.
      for (const { name } of tables) database.run(`DELETE FROM ${name}`)
      for (const { name, rows, columns } of tables) {
        const insert = `INSERT INTO ${name} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`
        for (const row of rows) database.run(insert, ...columns.map((column) => row[column] ?? null))
      }
    }
  }

  override perform(call: StoreCall, args: readonly unknown[]): unknown {
    this.before(call, args)
    const answer = super.perform(call, args)
    this.after(call, args, answer)
    return answer
  }
}
