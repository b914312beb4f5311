import { endOutcomes, type Retention as RetentionAges } from '../definition/retention.ts'
import type { Environment } from '../environment/environment.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { StateStore } from '../store/port.ts'
import type { RetentionRule } from '../store/retention.ts'

/**
 * Builds the retention rules. Outcomes that a workflow does not configure are kept as `standard` says. A store does not distinguish
 * versions of a workflow, so the version that keeps longest counts. Returns no rules if everything is kept for ever.
 */
export function retentionRules(
  standard: RetentionAges,
  workflows: readonly { name: string; retention: RetentionAges }[],
): RetentionRule[] {
  const rules: RetentionRule[] = endOutcomes.map((result) => {
    return { workflow: null, result, age: standard[result] ?? null }
  })
  const byName = Map.groupBy(workflows, ({ name }) => name)
  for (const [workflow, versions] of byName) {
    if (versions.every(({ retention }) => Object.keys(retention).length === 0)) continue
    for (const result of endOutcomes) {
      const ages = versions.map(({ retention }) => ({ ...standard, ...retention })[result] ?? null)
      rules.push({ workflow, result, age: ages.includes(null) ? null : Math.max(...ages.map((it) => it ?? 0)) })
    }
  }
  return rules.some(({ age }) => age !== null) ? rules : []
}

/** Most tasks, and history records with them, that one prune deletes; bounds how long it occupies the store. */
const LIMIT = 500
const RECORDS = 10_000
/** Interval between two prunes, unless one left something to delete (ms). */
const EVERY = 10_000
/** How long a task that cannot be deleted is left alone (ms), and how many such tasks are remembered. */
const REST = 3_600_000
const MOST_AT_REST = 1_000

interface RetentionOptions {
  environment: Pick<Environment, 'monotonic'>
  store: Pick<StateStore, 'prune'>
  retention: readonly RetentionRule[]
  alert: (alert: RaisedAlert) => void
}

/**
 * Deletes stopped tasks whose retention time is over. A task that cannot be deleted is left alone for a while and reported once. If a
 * prune fails without naming a task, each rule is tried by itself, so that a faulty one does not hold up the others.
 */
export class RetentionJob {
  readonly #means: RetentionOptions
  readonly #failing = new Set<RetentionRule>()
  /** Keys of tasks that could not be deleted, and when they are tried again. */
  readonly #resting = new Map<number, number>()
  #next = 0
  #least = 0

  constructor(means: RetentionOptions) {
    this.#means = means
  }

  /**
   * Deletes what is due; resolves to whether there is more to delete at once. `least`: tasks that stopped within this time stay, whatever
   * the rules say (ms).
   */
  async prune(leadership: { name: string; token: number }, least = 0): Promise<boolean> {
    const { environment, retention } = this.#means
    if (retention.length === 0 || environment.monotonic() < this.#next || !Number.isFinite(least)) return false
    this.#least = least
    this.#next = environment.monotonic() + EVERY
    let more: boolean
    try {
      more = await this.#drop(leadership, retention)
      this.#failing.clear()
    } catch (error) {
      more = await this.#apart(leadership, error)
    }
    if (more) this.#next = 0
    return more
  }

  async #drop(leadership: { name: string; token: number }, rules: readonly RetentionRule[]): Promise<boolean> {
    const { environment, store, alert } = this.#means
    const now = environment.monotonic()
    const except = [...this.#resting].filter(([, until]) => until > now).map(([key]) => key)
    const kept = rules.map((rule) => (rule.age === null ? rule : { ...rule, age: Math.max(rule.age, this.#least) }))
    const report = await store.prune({ ...leadership, rules: kept, limit: LIMIT, records: RECORDS, except })
    for (const { key, id, workflow, message: why } of report?.failed ?? []) {
      const told = this.#resting.delete(key)
      this.#resting.set(key, now + REST)
      const message = `the stopped task cannot be dropped: ${why}`
      if (!told) alert({ code: 'RETENTION_FAILING', task: id, workflow, cause: 'retention', message })
    }
    for (const key of this.#resting.keys()) {
      if (this.#resting.size <= MOST_AT_REST) break
      this.#resting.delete(key)
    }
    // Once more tasks fail than can be remembered, the same ones might come again at once.
    return report?.more === true && except.length < MOST_AT_REST
  }

  /** Tries each rule by itself. Throws the error if all rules fail, because then no rule is the cause. */
  async #apart(leadership: { name: string; token: number }, error: unknown): Promise<boolean> {
    const { retention, alert } = this.#means
    const active = retention.filter(({ age }) => age !== null)
    const failed: { rule: RetentionRule; why: unknown }[] = []
    for (const rule of active) {
      // The other rules stay in the list with no age: a rule without a workflow applies only to workflows that no rule names.
      const rules = retention.map((one) => (one === rule ? one : { ...one, age: null }))
      try {
        await this.#drop(leadership, rules)
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
      alert({ code: 'RETENTION_FAILING', ...(workflow !== null && { workflow }), cause: 'retention', message })
    }
    return false
  }
}
