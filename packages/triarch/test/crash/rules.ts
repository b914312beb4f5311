import type { Evidence } from './evidence.ts'
import { historyRules, type Rule } from './history-rules.ts'
import { ledgerRules } from './ledger-rules.ts'

/** What must hold whatever was killed when (DESIGN §4): each rule tells its violations. */
export const rules: Readonly<Record<string, Rule>> = { ...historyRules, ...ledgerRules }

export function violations(evidence: Evidence): string[] {
  return Object.entries(rules).flatMap(([name, rule]) => rule(evidence).map((fault) => `${name}: ${fault}`))
}
