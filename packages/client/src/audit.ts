import type { AuditRecord } from 'triarch'
import { dated, text } from './shape.ts'

export function auditRecord(value: unknown): AuditRecord {
  const entry = dated(value, 'at')
  text(entry.action)
  text(entry.subject)
  text(entry.outcome)
  // Undefined is not said in JSON.
  const none = { actor: undefined, reason: undefined, request: undefined, details: undefined }
  return { ...none, ...entry } as unknown as AuditRecord
}
