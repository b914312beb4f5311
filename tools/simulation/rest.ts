import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'

type Tables = Pick<SharedStore, 'database'>

const OPEN_TASKS = `SELECT * FROM triarch_tasks WHERE status <> 'stopped' OR ready = 1 OR locked_by IS NOT NULL`
const OPEN = `
SELECT 1 FROM (${OPEN_TASKS})
UNION ALL SELECT 1 FROM triarch_work
UNION ALL SELECT 1 FROM triarch_inbox WHERE task NOT IN (SELECT key FROM triarch_tasks WHERE quarantined = 1)
UNION ALL SELECT 1 FROM triarch_locks UNION ALL SELECT 1 FROM triarch_followers LIMIT 1`

/** Whether there is nothing left to do, and those nodes are listed that live; null: one of no name. */
export function rests({ database }: Tables, living: readonly (string | null)[]): boolean {
  if (database.get(OPEN) !== undefined) return false
  const listed = database.all<{ id: string }>('SELECT id FROM triarch_nodes WHERE dead = 0').map(({ id }) => id)
  return listed.length === living.length && living.every((id) => id !== null && listed.includes(id))
}

/** What is left to do, for people to read; `owed`: what whoever submitted it still waits for; `vacant`: names by which nobody leads, and nodes without the settings that they are to have. */
export function unfinished({ database }: Tables, owed: unknown, vacant: readonly string[]): string {
  const of = (sql: string) => database.all<object>(sql).map((row) => ({ ...row }))
  const histories = of(OPEN_TASKS).map((row) => ({
    ...row,
    history: of(`SELECT seq, at, events FROM triarch_history WHERE task = ${(row as { key: number }).key}`).slice(-6),
  }))
  const tables = ['inbox', 'work', 'locks', 'followers', 'nodes', 'breakers']
  const rest = Object.fromEntries(tables.map((table) => [table, of(`SELECT * FROM triarch_${table}`)]))
  return JSON.stringify({ owed, ...(vacant.length > 0 && { vacant }), tasks: histories, ...rest })
}
