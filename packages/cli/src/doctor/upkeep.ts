import { once } from 'node:events'
import type pg from 'pg'
import { timer } from '../environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A notification that takes longer than this does not come (ms): a pooler swallows them. */
const HEARD = 2_000
/** Dead rows of a table, beside those that live. */
const MOST_DEAD = 1
/** Fewer dead rows than this are never told of. */
const FEW = 10_000
/** A standby that is further behind than this loses as much when it is promoted (bytes). */
const BEHIND = 64 * 1024 * 1024

const TABLES = `
SELECT c.relname AS name,
  (SELECT bool_and(has_table_privilege(c.oid, one)) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS one) AS usable,
  coalesce(s.n_dead_tup, 0)::float AS dead, coalesce(s.n_live_tup, 0)::float AS live
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') ORDER BY c.relname`
const STANDBYS = `
SELECT coalesce(application_name, '') AS name, state, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::float AS behind
FROM pg_stat_replication`
const SIZE = 'SELECT pg_size_pretty(pg_database_size(current_database())) AS size'

/** Notifications, rights on each table, what was not cleaned up, standbys, and how large it is. */
export async function upkeep(client: pg.Client, schema: string, standby: boolean): Promise<Finding[]> {
  const tables = (await client.query<Table>(TABLES, [schema])).rows
  const standbys = (await client.query<Standby>(STANDBYS)).rows
  const { size } = (await client.query<{ size: string }>(SIZE)).rows[0] ?? { size: 'unknown' }
  const closed = tables.filter(({ usable }) => !usable)
  const bloated = tables.filter(({ dead, live }) => dead > FEW && dead > live * MOST_DEAD)
  return [
    // A standby has no notifications of its own.
    ...(standby ? [] : [await heard(client)]),
    closed.length === 0
      ? ok('tables', `the role may read and write all ${tables.length}`)
      : fail('tables', `the role may not use ${names(closed)}`, `GRANT ALL ON ALL TABLES IN SCHEMA ${schema}`),
    bloated.length === 0
      ? ok('bloat', 'autovacuum keeps up')
      : warn(
          'bloat',
          `more rows are dead than live in ${names(bloated)}`,
          'VACUUM them, and let autovacuum run oftener',
        ),
    replication(standbys),
    ok('size', size),
  ]
}

/** Whether those that follow keep up. */
export function replication(standbys: readonly Standby[]): Finding {
  const late = standbys.filter(({ behind }) => behind > BEHIND)
  if (standbys.length === 0) return ok('replication', 'no standby, or the role may not see them')
  if (late.length === 0) return ok('replication', `${standbys.length} follow`)
  return warn('replication', `${names(late)} is far behind`, 'what it lacks is lost when it is promoted')
}

/** Whether LISTEN works over this connection: behind some poolers nothing ever comes. */
async function heard(client: pg.Client): Promise<Finding> {
  const late = new AbortController()
  const stop = timer(HEARD, () => late.abort())
  try {
    const notified = once(client, 'notification', { signal: late.signal })
    await client.query('LISTEN triarch_doctor')
    await client.query("SELECT pg_notify('triarch_doctor', '')")
    await notified
    await client.query('UNLISTEN triarch_doctor')
    return ok('LISTEN', 'notifications come')
  } catch (error) {
    if (!late.signal.aborted) throw error
    return warn('LISTEN', 'no notification comes', 'connect without a pooler of transactions: nodes poll meanwhile')
  } finally {
    stop()
  }
}

function names(rows: readonly { name: string }[]): string {
  return rows.map(({ name }) => name).join(', ')
}

interface Table {
  name: string
  usable: boolean
  dead: number
  live: number
}

interface Standby {
  name: string
  state: string
  behind: number
}
