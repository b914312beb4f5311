import type { Claim, ClaimRequest } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore, StoreCall } from '../../packages/triarch/src/testing/shared.ts'

const CONTROLLED = 'SELECT id FROM triarch_tasks WHERE control = 1 OR locked_by = ?'

/** Watches that a task is with nodes that have its version, while they come to know others. */
export class Rollout {
  readonly faults: string[] = []
  readonly #store: SharedStore
  readonly #knows: (machine: Machine, version: string) => boolean
  /** What the kernel can act on without any code, so that any scheduler may take it. */
  #controlled: ReadonlySet<string> = new Set()

  constructor(store: SharedStore, knows: (machine: Machine, version: string) => boolean) {
    this.#store = store
    this.#knows = knows
  }

  readonly before = (call: StoreCall, args: readonly unknown[]): void => {
    if (call !== 'claim') return
    const { node } = args[0] as ClaimRequest
    // What it did not know that it has it gets anew.
    const rows = this.#store.database.all<{ id: string }>(CONTROLLED, node)
    this.#controlled = new Set(rows.map(({ id }) => id))
  }

  readonly observe = ({ name, machine }: LinkCall, answer: unknown): void => {
    if (name !== 'claim') return
    for (const { id, version, workflow } of answer as Claim[])
      if (workflow === 'program' && !this.#controlled.has(id) && !this.#knows(machine, version))
        this.faults.push(`${machine.name} has ${id}, of version ${version}`)
  }
}
