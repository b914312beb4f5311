import { endResults, type Retention as RetentionAges } from '../definition/retention.ts'
import type { Environment } from '../environment/environment.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { StateStore } from '../store/port.ts'
import type { RetentionRule } from '../store/retention.ts'

/**
 * What is to be dropped when. Results that a workflow does not name are kept as `standard` says; of several versions the
 * one that keeps longest counts, for a store does not tell them apart. None where everything is kept.
 */
export function retentionRules(
  standard: RetentionAges,
  workflows: readonly { name: string; retention: RetentionAges }[],
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

/** Tasks, and history records with them, that one pruning drops: bounds how long it holds the store. */
const LIMIT = 500
const RECORDS = 10_000
/** Distance between two prunings, unless one left something over (ms). */
const EVERY = 10_000

interface Means {
  environment: Pick<Environment, 'monotonic'>
  store: Pick<StateStore, 'prune'>
  retention: readonly RetentionRule[]
  alert: (alert: RaisedAlert) => void
}

/** Drops what was kept for long enough. Where that fails, each rule is tried by itself: a bad one keeps no other from its due. */
export class Retention {
  readonly #means: Means
  readonly #failing = new Set<RetentionRule>()
  #next = 0

  constructor(means: Means) {
    this.#means = means
  }

  /** Whether there is more to drop at once. */
  async prune(leadership: { name: string; token: number }): Promise<boolean> {
    const { environment, store, retention } = this.#means
    if (retention.length === 0 || environment.monotonic() < this.#next) return false
    this.#next = environment.monotonic() + EVERY
    let more: boolean
    try {
      const report = await store.prune({ ...leadership, rules: retention, limit: LIMIT, records: RECORDS })
      more = report?.more ?? false
      this.#failing.clear()
    } catch (error) {
      more = await this.#apart(leadership, error)
    }
    if (more) this.#next = 0
    return more
  }

  /** Throws the error when it is no rule's own. */
  async #apart(leadership: { name: string; token: number }, error: unknown): Promise<boolean> {
    const { store, retention, alert } = this.#means
    const active = retention.filter(({ age }) => age !== null)
    const failed: { rule: RetentionRule; why: unknown }[] = []
    for (const rule of active) {
      // The others keep what is theirs: a rule without a workflow holds for those that no rule names.
      const rules = retention.map((one) => (one === rule ? one : { ...one, age: null }))
      try {
        // One task, so that one that cannot be dropped stands in the way of no more than those after it.
        await store.prune({ ...leadership, rules, limit: 1, records: RECORDS })
        this.#failing.delete(rule)
      } catch (why) {
        failed.push({ rule, why })
      }
    }
    if (failed.length === active.length) throw error
    for (const { rule, why } of failed) {
      if (this.#failing.has(rule)) continue
      this.#failing.add(rule)
      const { workflow, result } = rule
      const whose = workflow === null ? '' : ` of workflow "${workflow}"`
      const message = `stopped tasks (${result})${whose} cannot be dropped: ${why instanceof Error ? why.message : String(why)}`
      alert({ code: 'RETENTION_FAILING', ...(workflow !== null && { workflow }), reason: 'retention', message })
    }
    return false
  }
}
