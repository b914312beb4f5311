import type { AuditOptions, AuditPage, AuditRecord } from 'triarch'
import type { AuditCollection } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { array, dated, object, text } from './shape.ts'
import { instant, query } from './value.ts'

export function auditOf(exchange: Exchange): AuditCollection {
  return { list: async (options = {}) => exchange.get(auditPath(options), auditPage) }
}

/** Where it is asked for. Throws UNKNOWN_OPTION, INVALID_OPTION. */
function auditPath(options: AuditOptions): string {
  const { actor, action, subject, since, until, cursor, limit, ...rest } = options
  known('audit.list', rest)
  const parameters = {
    ...{ actor, action, subject, cursor, limit },
    ...(since !== undefined && { since: instant('audit.list: since', since) }),
    ...(until !== undefined && { until: instant('audit.list: until', until) }),
  }
  return `/audit${query(parameters)}`
}

function auditPage(value: unknown): AuditPage {
  const page = object(value)
  return { ...page, entries: array(page.entries, auditRecord) }
}

function auditRecord(value: unknown): AuditRecord {
  const entry = dated(value, 'at')
  text(entry.action)
  text(entry.subject)
  text(entry.outcome)
  // Undefined is not said in JSON.
  const none = { actor: undefined, reason: undefined, request: undefined, details: undefined }
  return { ...none, ...entry } as unknown as AuditRecord
}
