import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Plan } from './plan.ts'
import type { Definitions } from './services.ts'
import type { Vault } from './vault.ts'

/** How many programs may wait for a scheduler. */
export interface EntrancePlan {
  most: number
  /** Submissions are held back instead of refused. */
  waits: boolean
}

/** Nobody has taken it yet. */
const WAITS = 'SELECT 1 FROM triarch_tasks WHERE id = ? AND ready = 1 AND locked_by IS NULL AND epoch = 0'

/** The line of programs, into which one application submits. */
export class Entrance {
  readonly faults: string[] = []
  readonly #store: Vault
  readonly #plan: EntrancePlan | null
  /** What is held to the bound: what begins later, by itself or when others end, is always taken, as is what tasks start. */
  readonly #bounded: readonly string[]

  constructor(store: Vault, { entrance, tasks }: Plan) {
    this.#store = store
    this.#plan = entrance ?? null
    const now = tasks.filter(
      ({ parts, startAt, after, exclusive }) => !(parts || startAt !== undefined || after || exclusive),
    )
    this.#bounded = now.map(({ id }) => id)
  }

  /** Programs as the application knows them. */
  bounded(known: Definitions): Definitions {
    if (!this.#plan) return known
    const { most, waits } = this.#plan
    const bound = { maxQueued: most, whenFull: waits ? 'wait' : 'reject' } as const
    const of = <T extends Definitions['programs']>(workflow: T): T =>
      Object.freeze({ ...workflow, definition: { ...workflow.definition, ...bound } })
    return { ...known, programs: of(known.programs), newer: of(known.newer) }
  }

  readonly observe = ({ name }: LinkCall): void => {
    if (!this.#plan || name !== 'submit') return
    const waiting = this.#bounded.filter((id) => this.#store.database.get(WAITS, id) !== undefined)
    if (waiting.length > this.#plan.most)
      this.faults.push(`${waiting.length} programs wait that were submitted, of ${this.#plan.most}: ${waiting.join()}`)
  }
}
