import pg from 'pg'
import { migrations } from '../../packages/postgres/src/migrations/index.ts'
import { inSchema } from '../../packages/postgres/src/schema.ts'
import { withClient } from '../../packages/postgres/test/database.ts'
import type { SqlFunction } from './sql.ts'
import { mutantsOfSql, targets } from './target.ts'

/**
 * Mutants of SQL, at work in the database itself: the function is replaced in each schema of this process, and in the migrations of those
 * that are made meanwhile. Which test comes by which functions is told by the statements that are sent, and what calls what.
 */
export class LiveSchema {
  readonly #functions: readonly SqlFunction[]
  /** By number, as all of the target are counted: its function, and its body with the change. */
  readonly #mutants: readonly { of: SqlFunction; body: string }[]
  readonly #called = new Set<string>()
  /** Definitions of functions, as they were before they were changed. */
  readonly #before: string[] = []
  readonly #sql: readonly string[] = migrations.map(({ sql }) => sql)

  constructor(all: ReturnType<typeof mutantsOfSql>) {
    this.#functions = all.map(({ of }) => of)
    this.#mutants = changedBodies(all)
    const called = this.#called
    const { query } = pg.Client.prototype
    pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
      const [what] = given as unknown as [string | { text?: string }]
      for (const [, name = ''] of String(typeof what === 'string' ? what : what?.text).matchAll(/\.(\w+)\(/g)) called.add(name) // biome-ignore format: one line
      return query.apply(this, given)
    } as typeof query
  }

  /** Null: the mutants of this target are not of SQL. */
  static of(name: string): LiveSchema | null {
    const target = targets[name]
    return target?.sql ? new LiveSchema(mutantsOfSql(target)) : null
  }

  /** Which mutants were come by since this was asked last. */
  reached(): number[] {
    const names = new Set<string>()
    const add = (name: string) => {
      const of = this.#functions.find((it) => it.name === name)
      if (!of || names.has(name)) return
      names.add(name)
      for (const [, next = ''] of of.body.matchAll(/\btriarch\.(\w+)\(/g)) add(next)
    }
    for (const name of this.#called) add(name)
    this.#called.clear()
    return [...this.#mutants.entries()].flatMap(([id, { of }]) => (names.has(of.name) ? [id] : []))
  }

  async change(id: number): Promise<void> {
    const mutant = this.#mutants[id]
    if (!mutant) throw new Error(`there is no mutant ${id}`)
    const { of, body } = mutant
    for (const migration of migrations) migration.sql = migration.sql.replace(`$$${of.body}$$`, () => `$$${body}$$`)
    await withClient(async (client) => {
      const { rows } = await client.query<{ schema: string; definition: string }>(
        `SELECT n.nspname AS schema, pg_get_functiondef(p.oid) AS definition
         FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname LIKE $1 AND p.proname = $2`,
        [`test\\_${process.pid}\\_%`, of.name],
      )
      for (const { schema, definition } of rows) {
        const changed = definition.replace(inSchema(of.body, schema), () => inSchema(body, schema))
        if (changed === definition) continue
        await client.query(changed)
        this.#before.push(definition)
      }
    })
  }

  async restore(): Promise<void> {
    for (const [n, migration] of migrations.entries()) migration.sql = this.#sql[n] ?? ''
    if (this.#before.length === 0) return
    await withClient(async (client) => {
      // A test may have dropped its schema meanwhile.
      for (const definition of this.#before.splice(0)) await client.query(definition).catch(() => undefined)
    })
  }
}

/** Numbers of the mutants that the server does not take for SQL. */
export async function noSql(url: string, all: ReturnType<typeof mutantsOfSql>): Promise<Set<number>> {
  const wrong = new Set<number>()
  await withClient(async (client) => {
    await client.query('CREATE SCHEMA no_sql')
    for (const { sql } of migrations) await client.query(inSchema(sql, 'no_sql'))
    const definitions = new Map<string, string[]>()
    const { rows } = await client.query<{ name: string; definition: string }>(
      `SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = 'no_sql'::regnamespace`,
    )
    for (const { name, definition } of rows) definitions.set(name, [...(definitions.get(name) ?? []), definition])
    for (const [id, { of, body }] of changedBodies(all).entries()) {
      const original = inSchema(of.body, 'no_sql')
      const definition = definitions.get(of.name)?.find((it) => it.includes(original))
      await client.query('BEGIN')
      const changed = definition?.replace(original, () => inSchema(body, 'no_sql')) ?? 'no function'
      await client.query(changed).catch(() => wrong.add(id))
      await client.query('ROLLBACK')
    }
    await client.query('DROP SCHEMA no_sql CASCADE')
  }, url)
  return wrong
}

function changedBodies(all: ReturnType<typeof mutantsOfSql>): { of: SqlFunction; body: string }[] {
  return all.flatMap(({ of, mutants }) =>
    mutants.map(({ start, end, text }) => {
      const [from, to] = [start - of.start, end - of.start]
      return { of, body: of.body.slice(0, from) + text + of.body.slice(to) }
    }),
  )
}
