/** An action of an operator, to be written to the audit. */
export interface AuditEntry {
  /** The unique id of this action: it is kept once, however often it is written. */
  id: string
  /** When it was done, by the store's clock (ms since the epoch). */
  at: number
  /** The actor; '' if not known. */
  actor: string
  /** The action, such as 'task.cancel'. */
  action: string
  /** The subject, such as 'task:o-1'. */
  subject: string
  /** Whether it was done. */
  outcome: AuditOutcome
  /** The reason, the origin and the arguments, as JSON. */
  text: string
}

/** `refused`: the caller had no right to it. */
export type AuditOutcome = 'done' | 'refused'

/** An entry of the audit, as stored. */
export interface AuditRow extends Omit<AuditEntry, 'id'> {
  /** Its number among all, which orders entries of one instant. */
  seq: number
}

/** Selects the entries that match all fields that are not null, the latest first. */
export interface AuditQuery {
  /** The actor; '' if not known. */
  actor: string | null
  /** What was done. */
  action: string | null
  /** What it was done to. */
  subject: string | null
  /** From this instant on (ms since the epoch). */
  since: number | null
  /** The position of the last entry of the previous page; the query returns those before it. */
  before: { at: number; seq: number }
  /** Most rows. */
  limit: number
}

/** The bounds of the audit. */
export interface AuditBounds {
  /** Entries older than this are dropped (ms since the epoch); null: none for their age. */
  before: number | null
  /** Most entries: beyond this number the oldest are dropped … */
  entries: number
  /** … if they are older than this (ms since the epoch). */
  surplus: number
  /** Most entries that are dropped at a time. */
  limit: number
}

/** An entry of the audit that is written if, and only if, the write that carries it is done. */
export interface Audited {
  /** The entry; absent: none. */
  audit?: AuditEntry
}
