import type { PermitLimit, PermitRow } from '../port.ts'
import type { Database } from './database.ts'

const TAKEN = `
SELECT count(*) AS taken FROM triarch_seats s WHERE s.name = ? AND EXISTS (SELECT 1 FROM triarch_work w WHERE w.id = s.work)`
const FREE = `
DELETE FROM triarch_seats WHERE name = ?1 AND NOT EXISTS (SELECT 1 FROM triarch_work w WHERE w.id = triarch_seats.work)`
const SWEEP = `
DELETE FROM triarch_seats WHERE (name, work) IN (
  SELECT s.name, s.work FROM triarch_seats s WHERE NOT EXISTS (SELECT 1 FROM triarch_work w WHERE w.id = s.work) LIMIT ? + 0)`
const TAKE = 'INSERT OR REPLACE INTO triarch_seats (name, work, most) VALUES (?, ?, ?)'
const NAMED = `
SELECT s.name, count(*) AS taken,
  (SELECT l.most FROM triarch_seats l WHERE l.name = s.name ORDER BY l.work DESC LIMIT 1) AS most
FROM triarch_seats s JOIN triarch_work w ON w.id = s.work
WHERE s.name IN (SELECT value FROM json_each(?)) GROUP BY s.name ORDER BY s.name`

/** Returns how many more requests may be taken under all of these limits. */
export function permitsLeft(database: Database, bounds: readonly PermitLimit[] | undefined): number {
  const left = bounds?.map(({ name, most }) => most - (database.get<{ taken: number }>(TAKEN, name)?.taken ?? 0)) ?? []
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, ...left))
}

/** Gives these requests their permits; deletes permits whose requests are gone. */
export function takePermit(
  database: Database,
  bounds: readonly PermitLimit[] | undefined,
  works: readonly number[],
): void {
  if (works.length === 0) return
  for (const { name, most } of bounds ?? []) {
    database.run(FREE, name)
    for (const work of works) database.run(TAKE, name, work, most)
  }
}

/** Deletes at most `limit` permits whose requests are gone, for names under which no request was taken since. */
export function sweepPermits(database: Database, limit: number): void {
  database.run(SWEEP, limit)
}

export function permits(database: Database, _now: number, names: readonly string[]): PermitRow[] {
  return database.all<PermitRow>(NAMED, JSON.stringify(names))
}
