import { TriarchError } from '../error/error.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'

/**
 * How much of the audit is kept.
 * @example const audit: AuditKeeping = { keep: '90d', entries: 50_000 }
 */
export interface AuditKeeping {
  /** How long entries are kept; `false`: regardless of age. '365d'. */
  keep?: Duration | false
  /** Most entries: 1,000 to 10,000,000; 100,000 by default. If there are more, the oldest that are older than `atLeast` are deleted. */
  entries?: number
  /**
   * Entries younger than this are kept however many there are, so that many actions in a short time cannot push their own traces out.
   * '7d'.
   */
  atLeast?: Duration
}

/** `keep`: in ms; null: regardless of age. `atLeast`: in ms. */
export interface AuditRules {
  keep: number | null
  entries: number
  atLeast: number
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function auditRules(options: AuditKeeping = {}): AuditRules {
  if (typeof options !== 'object' || options === null)
    throw new TriarchError('INVALID_OPTION', 'Triarch: audit must be an object')
  checkOptions('Triarch: audit', options, ['keep', 'entries', 'atLeast'])
  const { keep = '365d', entries = 100_000, atLeast = '7d' } = options
  return {
    keep: keep === false ? null : positiveMilliseconds(keep, 'Triarch: audit.keep'),
    entries: checkInteger('Triarch: audit.entries', entries, 1_000, 1e7),
    atLeast: positiveMilliseconds(atLeast, 'Triarch: audit.atLeast'),
  }
}
