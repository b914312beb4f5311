import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { objectOf } from '../store/legible.ts'
import type { AuditOutcome, AuditRow } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import type { ActText } from './act.ts'
import type { Connection } from './connection.ts'

/**
 * One act of a person or a program upon the system.
 * @example
 * const { entries } = await triarch.audit.list({ subject: 'task:o-1' })
 * const last: AuditRecord | undefined = entries[0]
 * console.log(last?.at, last?.actor ?? 'somebody', last?.action)
 */
export interface AuditRecord {
  /** When (store's clock). */
  at: Date
  /** The actor; undefined: none was named. */
  actor: string | undefined
  /** What was done: `task.cancel`, `breaker.open`, `setting.change` (docs/concepts/audit.md lists all). */
  action: string
  /** On what: `task:ID`, `breaker:NAME`, `rate-limit:NAME`, `setting:NAME`, `schedule:NAME`, `operation:ID`, `cache:NAME`, `alert:NAME`. */
  subject: string
  /** `done`: it was accepted, and is durable; `refused`: the actor had no right to it. */
  outcome: AuditOutcome
  /** The reason given: the first 1,000 characters. */
  reason: string | undefined
  /** The request by which it was done. */
  request: string | undefined
  /** Parameters such as a step or a version; never payloads. */
  details: Readonly<Record<string, Json>> | undefined
}

/**
 * Which entries: those that match all given options.
 * @example const { entries } = await triarch.audit.list({ actor: 'ada', since: new Date('2026-01-01') })
 */
export interface AuditOptions {
  /** The actor; '': entries without one. */
  actor?: string
  /** The action: `task.cancel`. */
  action?: string
  /** The subject: `task:o-1`. */
  subject?: string
  /** From this instant on. */
  since?: Date
  /** Before this instant. */
  until?: Date
  /** `next` of the previous page. */
  cursor?: string
  /** Entries a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the audit, latest first.
 * @example
 * const page: AuditPage = await triarch.audit.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.audit.list({ cursor: page.next })
 */
export interface AuditPage {
  /** The entries of this page. */
  entries: AuditRecord[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * The audit (docs/concepts/audit.md).
 * @example const { entries }: AuditPage = await triarch.audit.list({ actor: 'ada' })
 */
export interface AuditCollection {
  /**
   * The audit, latest entry first, a page at a time: who did what, on what, when and why. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { entries } = await triarch.audit.list({ subject: 'task:o-1' })
   * for (const { at, actor, action, reason } of entries) console.log(at, actor, action, reason)
   */
  list(options?: AuditOptions): Promise<AuditPage>
}

/**
 * An act that was refused because the actor had no right to it.
 * @example
 * const act = { action: 'breaker.open', subject: 'breaker:payments', actor: 'ada' }
 * await triarch.serving.refused({ ...act, right: 'breakers' })
 */
export interface RefusedAct {
  /** The action that was requested. */
  action: string
  /** Its subject. */
  subject: string
  /** The actor; by default the one of `serving.acting`. */
  actor?: string
  /** The right that was needed. */
  right?: string
}

const LONGEST = 300
const LAST = Number.MAX_SAFE_INTEGER

/** The audit of the store. */
export function auditOf({ store, opened }: Connection): AuditCollection {
  return {
    async list(options = {}) {
      checkOptions('audit.list', options, ['actor', 'action', 'subject', 'since', 'until', 'cursor', 'limit'])
      const { cursor, limit = 100 } = options
      checkInteger('audit.list: limit', limit, 1, 1_000)
      const [since, until] = [instant('since', options.since), instant('until', options.until)]
      const text = (name: 'actor' | 'action' | 'subject') => {
        const value = options[name]
        return value === undefined ? null : value === '' ? '' : checkText(`audit.list: ${name}`, value, LONGEST)
      }
      // An instant comes before all of its entries.
      const first = { at: until ?? LAST, seq: 0 }
      const after = cursor === undefined ? first : placeOf(cursor)
      const before = after.at < first.at || (after.at === first.at && after.seq < first.seq) ? after : first
      await opened()
      const query = { actor: text('actor'), action: text('action'), subject: text('subject'), since, before }
      const rows = await store.audit({ ...query, limit: limit + 1 })
      const last = rows[limit - 1]
      const next = rows.length > limit && last && { next: `${last.at}.${last.seq}` }
      return { entries: rows.slice(0, limit).map(recordOf), ...next }
    },
  }
}

function recordOf({ at, actor, action, subject, outcome, text }: AuditRow): AuditRecord {
  const { reason, request, details } = objectOf<ActText>(text) ?? {}
  const shown = details as Readonly<Record<string, Json>> | undefined
  return {
    ...{ at: new Date(at), actor: actor === '' ? undefined : actor, action, subject, outcome },
    ...{ reason, request, details: shown },
  }
}

function placeOf(cursor: string): { at: number; seq: number } {
  const [, at, seq] = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor) ?? []
  if (at === undefined || seq === undefined)
    throw new TriarchError('INVALID_OPTION', 'audit.list: the cursor is not one of its own')
  return { at: Number(at), seq: Number(seq) }
}

function instant(name: string, value: Date | undefined): number | null {
  if (value === undefined) return null
  if (!(value instanceof Date) || Number.isNaN(value.getTime()))
    throw new TriarchError('INVALID_OPTION', `audit.list: ${name} must be a valid date`)
  return value.getTime()
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkRefused(act: RefusedAct): RefusedAct {
  checkOptions('serving.refused', act ?? null, ['action', 'subject', 'actor', 'right'])
  const { action, subject, actor, right } = act
  checkText('serving.refused: action', action, LONGEST)
  checkText('serving.refused: subject', subject, LONGEST)
  if (actor !== undefined) checkText('serving.refused: actor', actor, LONGEST)
  if (right !== undefined) checkText('serving.refused: right', right, LONGEST)
  return act
}
