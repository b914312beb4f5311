import { TriarchError } from '../error/error.ts'
import type { PlannedStep } from '../kernel/plan/plan.ts'
import { references } from '../kernel/plan/reference.ts'

/**
 * The locks that a plan takes. A task cannot wait for a lock that it has itself, so a plan must release a lock before it takes it again, and
 * never takes one that its submission has.
 */
export class PlanLocks {
  /** For each name, the step that releases the lock; null: it is not released before what is planned now. */
  readonly #released: Map<string, number | null>
  readonly #stepOf: (id: number) => PlannedStep

  /** `held`: names of the locks that the task has from its beginning to its end. */
  constructor(held: readonly string[], stepOf: (id: number) => PlannedStep) {
    this.#released = new Map(held.map((name) => [name, null]))
    this.#stepOf = stepOf
  }

  /** The lock is taken by a step that waits for these steps. Throws LOCK_DEADLOCK. */
  take(name: string, before: readonly number[]): void {
    const released = this.#released.get(name)
    if (released !== undefined && (released === null || !this.#follows(before, released))) {
      const rule = 'put the steps into one block, or one block after the other (plan.sequence)'
      const message = `the plan takes lock "${name}" while it may have it already: ${rule}`
      throw new TriarchError('LOCK_DEADLOCK', message, { details: { lock: name } })
    }
    this.#released.set(name, null)
  }

  release(name: string, step: number): void {
    this.#released.set(name, step)
  }

  /** Whether a step that waits for these steps runs after the other one. */
  #follows(before: readonly number[], other: number): boolean {
    const seen = new Set<number>()
    const open = [...before]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === other) return true
      // Steps only wait for earlier ones.
      if (id < other || seen.has(id)) continue
      seen.add(id)
      const { after = [], input } = this.#stepOf(id)
      open.push(...after, ...references(input ?? null))
    }
    return false
  }
}
