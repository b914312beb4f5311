import type { NodeBeat } from '../port.ts'
import type { Database } from './database.ts'
import { releaseTasks, releaseWork } from './release.ts'

const REGISTER = `
INSERT INTO triarch_nodes (id, roles, started_at, lease_until, runs) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, lease_until = excluded.lease_until,
  runs = coalesce(excluded.runs, runs) WHERE dead = 0`
const REMOVE = 'DELETE FROM triarch_nodes WHERE id = ?'
const RESIGN = 'UPDATE triarch_leases SET until = ? WHERE holder = ? AND until > ?'
const LEAD = `
INSERT INTO triarch_leases (name, holder, token, until) VALUES (?1, ?2, 1, ?4)
ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?4, token = token + (holder <> ?2 OR until <= ?3)
WHERE holder = ?2 OR until <= ?3
RETURNING token`

/** A node that was declared dead stays dead: it may still hold what others have taken over, and comes back as another. */
export function beat(database: Database, now: number, { id, roles, lease, runs }: NodeBeat): boolean {
  return database.run(REGISTER, id, JSON.stringify(roles), now, now + lease, runs ? JSON.stringify(runs) : null) > 0
}

export function leave(database: Database, now: number, node: string): void {
  database.transaction(() => {
    releaseTasks(database, node, -1)
    releaseWork(database, now, node, -1)
    database.run(REMOVE, node)
    database.run(RESIGN, now, node, now)
  })
}

export function lead(
  database: Database,
  now: number,
  { name, node, ttl }: { name: string; node: string; ttl: number },
): number | null {
  return database.get<{ token: number }>(LEAD, name, node, now, now + ttl)?.token ?? null
}
