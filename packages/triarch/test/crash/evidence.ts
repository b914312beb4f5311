import { DatabaseSync } from 'node:sqlite'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { isPlace, outputAt } from '../../src/store/output.ts'
import { RecordReader } from '../../src/store/reader.ts'
import { type Entry, readLedger } from './ledger.ts'

/** All that is left when a run is over: what the store and the ledger hold, and what the client was promised. */
export interface Evidence {
  /** Ids whose submission was accepted. */
  accepted: string[]
  /** Payloads of accepted signals by task, in order. */
  emitted: Record<string, number[]>
  /** Those of them that may have been accepted twice. */
  doubtful?: Record<string, number[]>
  tasks: Story[]
  inbox: unknown[]
  work: unknown[]
  nodes: { id: string; dead: number }[]
  ledger: Entry[]
  /** How far the clocks of nodes and services may be apart (ms). */
  slack?: number
  /** How long a running attempt may not hear that its task was stopped by force (ms). */
  pulse?: number
}

/** What the client knows. */
export type Promised = Pick<Evidence, 'accepted' | 'emitted' | 'doubtful'>

export interface Row {
  key: number
  id: string
  workflow: string
  status: string
  result: string
  failures: number
  deadline: number | null
  progress: string | null
  output: string | null
  error: string | null
  pause: string | null
  locked_by: string | null
  ready: number
  parent: string | null
}

/** A task's row and its whole history. */
export interface Story {
  row: Row
  records: { seq: number; at: number; events: TaskEvent[] }[]
}

export function readEvidence(store: string, ledger: string, { accepted, emitted, doubtful }: Promised): Evidence {
  const database = new DatabaseSync(store, { readOnly: true })
  try {
    const all = <T>(sql: string, ...values: number[]) => database.prepare(sql).all(...values) as unknown as T[]
    const promised = { accepted, emitted, ...(doubtful && { doubtful }) }
    return { ...promised, ...readStore(all), ledger: readLedger(ledger) }
  } finally {
    database.close()
  }
}

/** Steps whose work is that of their children. */
export function batches(story: Story): Set<number> {
  const found = new Set<number>()
  for (const { event } of dated(story)) if (event.type === 'stepRequested' && event.policy.batch) found.add(event.id)
  return found
}

/** All that the store holds. */
export function readStore(
  all: <T>(sql: string, ...values: number[]) => T[],
): Pick<Evidence, 'tasks' | 'inbox' | 'work' | 'nodes'> {
  const tasks = all<Row>('SELECT * FROM triarch_tasks ORDER BY key').map((row) => {
    const reader = new RecordReader()
    const records = all<{ seq: number; at: number; events: string }>(
      'SELECT seq, at, events FROM triarch_history WHERE task = ? ORDER BY seq',
      row.key,
    ).map(({ seq, at, events }) => ({ seq, at, events: reader.events(events, seq) }))
    return { row: { ...row, output: outputOf(row, records) }, records }
  })
  const plain = (sql: string) => all<object>(sql).map((row) => ({ ...row }))
  return {
    tasks,
    inbox: plain('SELECT * FROM triarch_inbox'),
    work: plain('SELECT * FROM triarch_work'),
    nodes: plain('SELECT * FROM triarch_nodes') as Evidence['nodes'],
  }
}

/** As whoever asks sees it; one that is nowhere stays what the row says of it. */
function outputOf({ output }: Row, records: Story['records']): string | null {
  if (output === null || !isPlace(output)) return output
  try {
    return outputAt(output, (seq) => records.find((record) => record.seq === seq)?.events ?? [])
  } catch {
    return output
  }
}

export interface Dated {
  at: number
  event: TaskEvent
}

export function dated({ records }: Story): Dated[] {
  return records.flatMap(({ at, events }) => events.map((event) => ({ at, event })))
}

/** An operator made part of the history void: what then holds is for the rules that know. */
export function rewound(story: Story): boolean {
  return dated(story).some(({ event }) => event.type === 'reset')
}

/** An operator stopped it without awaiting what ran; perhaps in the same turn in which it was asked to stop gently. */
export function forced(story: Story): boolean {
  return story.records.some(({ events }) =>
    events.some(
      (event, at) =>
        event.type === 'closing' &&
        event.cause === 'cancel' &&
        !event.compensate &&
        events.slice(at).some(({ type }) => type === 'stopped'),
    ),
  )
}

/** All that is known of what is unfinished. */
export function dump({ tasks, inbox, work, nodes, ledger }: Evidence): string {
  const mine = (rows: unknown[], key: number) => rows.filter((row) => (row as { task: number }).task === key)
  const stuck = tasks.filter(({ row }) => row.status !== 'stopped' || mine(inbox, row.key).length > 0)
  const parts = stuck.map((story) => ({
    row: story.row,
    history: dated(story).slice(-12),
    inbox: mine(inbox, story.row.key),
    work: mine(work, story.row.key),
    ledger: ledger.filter(({ task }) => task === story.row.id).slice(-8),
  }))
  return JSON.stringify(
    { stuck: parts, nodes, lost: work.length, errors: ledger.filter((e) => e.kind === 'error') },
    null,
    1,
  )
}
