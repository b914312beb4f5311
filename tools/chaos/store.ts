// The state store as the harness sees it: straight from its tables, past the proxies, for evidence and for measurements.
import pg from 'pg'
import { RecordReader } from '../../packages/triarch/src/store/reader.ts'
import type { Evidence, Promised, Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Entry } from '../../packages/triarch/test/crash/ledger.ts'
import { settings } from './settings.ts'

// Counts and instants come as texts otherwise; all of them are far below 2^53.
const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) }

export interface Eye {
  /** Throws while the database is away. */
  rows<T>(sql: string, values?: unknown[]): Promise<T[]>
  close(): Promise<void>
}

/** A connection of the harness's own. The database may end it at any time: the next question opens another one. */
export function openEye(url: string): Eye {
  const pool = new pg.Pool({
    connectionString: url,
    max: 3,
    application_name: 'chaos',
    connectionTimeoutMillis: 5_000,
    query_timeout: 15_000,
    types: types as pg.CustomTypesConfig,
  })
  pool.on('error', () => undefined)
  return {
    rows: async <T>(sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows as T[],
    close: () => pool.end(),
  }
}

/** The store's functions that write, as `schema.name`: those that PostgreSQL may not leave out, apart from the clock. */
export async function writersOf(eye: Eye): Promise<Set<string>> {
  const rows = await eye.rows<{ name: string }>(
    `SELECT 'triarch.' || proname AS name FROM pg_proc
     WHERE pronamespace = 'triarch'::regnamespace AND provolatile = 'v' AND proname <> 'clock'`,
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * A node's clock follows the store's and lags by what the answer took, which here may be held up by anything but for longer
 * than the lease: then nobody waits for it.
 */
const CLOCK_LAG = settings.lease

/** All that is left when a run is over. */
export async function readEvidence(eye: Eye, ledger: Entry[], promised: Promised): Promise<Evidence> {
  const [tasks, records, inbox, work, nodes] = await Promise.all([
    eye.rows<Story['row']>('SELECT *, ready::int AS ready FROM triarch.tasks ORDER BY key'),
    eye.rows<{ task: number; seq: number; at: number; events: string }>(
      'SELECT task, seq, at, events FROM triarch.history ORDER BY task, seq',
    ),
    eye.rows('SELECT * FROM triarch.inbox'),
    eye.rows('SELECT * FROM triarch.work'),
    eye.rows<{ id: string; dead: number }>('SELECT *, dead::int AS dead FROM triarch.nodes'),
  ])
  const histories = Map.groupBy(records, ({ task }) => task)
  const { accepted, emitted, doubtful } = promised
  return {
    accepted,
    emitted,
    ...(doubtful && { doubtful }),
    tasks: tasks.map((row) => {
      const reader = new RecordReader()
      const records = histories.get(row.key) ?? []
      return { row, records: records.map(({ seq, at, events }) => ({ seq, at, events: reader.events(events, seq) })) }
    }),
    inbox,
    work,
    nodes,
    ledger,
    slack: CLOCK_LAG,
  }
}

/** Who works and who waits in the database now: for the dump of a run that is stuck. */
export async function sessions(eye: Eye): Promise<unknown> {
  const [activity, locks, leases] = await Promise.all([
    eye.rows(
      `SELECT pid, application_name, state, wait_event_type, wait_event, xact_start, state_change, left(query, 120) AS query
       FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    ),
    eye.rows('SELECT pid, locktype, relation::regclass::text, mode, granted FROM pg_locks WHERE NOT granted'),
    eye.rows('SELECT * FROM triarch.leases'),
  ])
  return { activity, locks, leases }
}
