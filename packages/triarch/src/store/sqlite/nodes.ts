import { textsOf } from '../legible.ts'
import type { NodeHeartbeat, NodeHeartbeats, Pulse } from '../port.ts'
import type { Database } from './database.ts'
import { releaseTasks, releaseWork } from './release.ts'

export const REGISTER = `
INSERT INTO triarch_nodes (id, roles, started_at, lease_until, runs, lease, place, beats) VALUES (?, ?, ?, ?, ?, ?, ?, 1)
ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, lease_until = excluded.lease_until, lease = excluded.lease,
  beats = beats + 1, runs = coalesce(excluded.runs, runs), place = coalesce(excluded.place, place) WHERE dead = 0`
/** A text that differs with each renewal of the lease. */
export const MARK = "'beat ' || beats"
const PULSES = `
SELECT id, ${MARK} AS mark, lease, roles, lease_until <= ? AS late FROM triarch_nodes WHERE dead = 0 ORDER BY id`
const TERM = 'SELECT holder, until - ?2 AS left FROM triarch_leases WHERE name = ?1 AND until > ?2'
const REMOVE = 'DELETE FROM triarch_nodes WHERE id = ?'
const BURY = 'UPDATE triarch_nodes SET dead = 1 WHERE dead = 0 AND id = ?'
const RESIGN = 'UPDATE triarch_leases SET until = ? WHERE holder = ? AND until > ?'
const LEAD = `
INSERT INTO triarch_leases (name, holder, token, until, ttl) VALUES (?1, ?2, 1, ?4, ?5)
ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?4, ttl = ?5, token = token + (holder <> ?2 OR until <= ?3)
WHERE holder = ?2 OR until <= ?3
RETURNING token`
/** Shortens a term that seems to last longer than any can: it began before the clock was set back. */
const SHORTEN = `
UPDATE triarch_leases SET until = ?2 + coalesce(ttl, ?3) WHERE name = ?1 AND until > ?2 + coalesce(ttl, ?3)`

/**
 * Registers the node or renews its lease. A node that was declared dead stays dead: it may still act on what others
 * have taken over, and must register under another id.
 */
export function heartbeat(database: Database, now: number, node: NodeHeartbeat): boolean {
  return database.run(REGISTER, ...registration(now, node)) > 0
}

/** The parameters of REGISTER. */
function registration(now: number, { id, roles, lease, runs, place }: NodeHeartbeat): (string | number | null)[] {
  const json = (it: unknown) => (it === undefined ? null : JSON.stringify(it))
  return [id, JSON.stringify(roles), now, now + lease, json(runs), lease, json(place)]
}

export function heartbeats(database: Database, now: number, lease: string): NodeHeartbeats {
  const rows = database.all<Pick<Pulse, 'id' | 'mark' | 'lease'> & { roles: string; late: number }>(PULSES, now)
  const nodes = rows.map((row) => ({ ...row, roles: textsOf(row.roles), late: row.late === 1 }))
  return { now, nodes, term: database.get<{ holder: string; left: number }>(TERM, lease, now) ?? null }
}

export function declareDead(database: Database, now: number, nodes: readonly string[]): number {
  return database.transaction(() => {
    for (const node of nodes) database.run(RESIGN, now, node, now)
    return nodes.reduce((buried, node) => buried + database.run(BURY, node), 0)
  })
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
  const token = database.get<{ token: number }>(LEAD, name, node, now, now + ttl, ttl)?.token ?? null
  if (token === null) database.run(SHORTEN, name, now, ttl)
  return token
}
