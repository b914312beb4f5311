import type { ProbeQuery, ProbeRow, ProbeWrite } from '../probe.ts'
import type { Database } from './database.ts'
import { isLed } from './leader.ts'

const ROWS = 'SELECT name, at, state, CASE WHEN ? THEN results END AS results FROM triarch_probes'
const NAMED = `${ROWS} WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name`
const AFTER = `${ROWS} WHERE name > ? ORDER BY name LIMIT ? + 0`
const KEEP = `
INSERT INTO triarch_probes (name, at, state, results) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET at = excluded.at, state = excluded.state, results = excluded.results`
const DROP = 'DELETE FROM triarch_probes WHERE name = ?'

export function probes(database: Database, _now: number, query: ProbeQuery): ProbeRow[] {
  const whole = query.results ? 1 : 0
  const rows =
    'names' in query
      ? database.all<ProbeRow>(NAMED, whole, JSON.stringify(query.names))
      : database.all<ProbeRow>(AFTER, whole, query.after, query.limit)
  return rows.map((row) => ({ ...row }))
}

export function writeProbes(database: Database, _now: number, { leading, kept, dropped }: ProbeWrite): boolean {
  return database.transaction(() => {
    if (!isLed(database, leading)) return false
    for (const { name, at, state, results } of kept) database.run(KEEP, name, at, state, results)
    for (const name of dropped) database.run(DROP, name)
    return true
  })
}
