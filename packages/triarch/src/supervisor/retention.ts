import { endResults, type Retention } from '../definition/retention.ts'
import type { RetentionRule } from '../store/retention.ts'

/**
 * What is to be dropped when. Results that a workflow does not name are kept as `standard` says; of several versions the
 * one that keeps longest counts, for a store does not tell them apart. None where everything is kept.
 */
export function retentionRules(
  standard: Retention,
  workflows: readonly { name: string; retention: Retention }[],
): RetentionRule[] {
  const rules: RetentionRule[] = endResults.map((result) => {
    return { workflow: null, result, age: standard[result] ?? null }
  })
  const byName = Map.groupBy(workflows, ({ name }) => name)
  for (const [workflow, versions] of byName) {
    if (versions.every(({ retention }) => Object.keys(retention).length === 0)) continue
    for (const result of endResults) {
      const ages = versions.map(({ retention }) => ({ ...standard, ...retention })[result] ?? null)
      rules.push({ workflow, result, age: ages.includes(null) ? null : Math.max(...ages.map((it) => it ?? 0)) })
    }
  }
  return rules.some(({ age }) => age !== null) ? rules : []
}
