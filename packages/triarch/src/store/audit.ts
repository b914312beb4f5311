/** An act upon the system, on its way into the audit. */
export interface AuditEntry {
  /** Of this act, among all that there ever are: it is kept once, however often it is written. */
  id: string
  /** When, by the store's clock (ms since the epoch). */
  at: number
  /** Who; '': nobody was named. */
  actor: string
  /** What: 'task.cancel'. */
  action: string
  /** On what: 'task:o-1'. */
  subject: string
  /** Whether it was done. */
  outcome: AuditOutcome
  /** As JSON: why, from where, and with what. */
  text: string
}

/** `refused`: whoever asked had no right to it. */
export type AuditOutcome = 'done' | 'refused'

/** An act, as it is kept. */
export interface AuditRow extends Omit<AuditEntry, 'id'> {
  /** Its number among all, by which those of one instant are in order. */
  seq: number
}

/** Which: those that fit all that is not null, the last first. */
export interface AuditQuery {
  /** Who. */
  actor: string | null
  /** What. */
  action: string | null
  /** On what. */
  subject: string | null
  /** From this instant on (ms since the epoch). */
  since: number | null
  /** Before the one that the page before ended with. */
  before: { at: number; seq: number }
  /** Most rows. */
  limit: number
}

/** How much is kept. */
export interface AuditBounds {
  /** What is older goes (ms since the epoch); null: nothing for its age. */
  before: number | null
  /** Most entries: beyond it the oldest go … */
  entries: number
  /** … that are older than this (ms since the epoch). */
  surplus: number
  /** Most that go at a time. */
  limit: number
}

/** What goes into the audit where, and only where, what it goes with is done. */
export interface Audited {
  /** Absent: nothing does. */
  audit?: AuditEntry
}
