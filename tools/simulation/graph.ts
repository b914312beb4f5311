import type { Plan, PlannedStep } from '../../packages/triarch/src/kernel/plan/plan.ts'
import { dated, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'

/** A plan's steps start when all they wait for is settled, and are undone when all that waited for them is undone. */
export function graph(story: Story): string[] {
  if (rewound(story)) return []
  let edges = new Edges(null)
  let settled = new Set<number>()
  let done = new Set<number>()
  return dated(story).flatMap(({ event }) => {
    switch (event.type) {
      case 'planned':
      case 'continuedAsNew':
        edges = new Edges(event.type === 'planned' ? event.plan : null)
        settled = new Set()
        done = new Set()
        return []
      case 'stepRequested':
        return edges
          .before(event.id)
          .filter((other) => !settled.has(other))
          .map((other) => `step ${event.id} was requested before step ${other}, which it waits for, was settled`)
      case 'stepCompleted':
        done.add(event.id)
        settled.add(event.id)
        return []
      case 'stepSkipped':
        for (const id of [event.id, ...(event.cascade ?? [])]) {
          settled.add(id)
          // Nothing is left to finalize.
          for (const other of edges.finalizersOf(id)) settled.add(other)
        }
        return []
      case 'undone':
        done.delete(event.id)
        return []
      case 'undoRequested':
        return edges
          .behind(event.id)
          .filter((other) => done.has(other) && edges.undoable.has(other))
          .map((other) => `the undo of step ${event.id} was asked for before ${other}, which waited for it, was undone`)
      default:
        return []
    }
  })
}

/** Read from the plan as it stands in the history, not from what the kernel makes of it. */
class Edges {
  readonly undoable: ReadonlySet<number>
  readonly #steps = new Map<number, PlannedStep>()
  readonly #before = new Map<number, ReadonlySet<number>>()

  constructor(plan: Plan | null) {
    for (const [index, step] of (plan?.steps ?? []).entries()) this.#steps.set((plan?.first ?? 1) + index, step)
    const last = this.#last()
    this.undoable = new Set(
      [...this.#steps].flatMap(([id, { policy = 0 }]) => (plan?.policies[policy]?.undo === true ? [id] : [])),
    )
    let finalizers: number[] = []
    for (const [id, step] of this.#steps) {
      const near =
        step.finalizes === undefined ? [...(step.after ?? []), ...referred(step.input)] : [...last, ...finalizers]
      if (step.finalizes !== undefined) finalizers = [...finalizers, id]
      this.#before.set(id, new Set(near.flatMap((other) => [...this.#real(other)])))
    }
  }

  /** Steps that it waits for, with what stands before joins in their place. */
  before(id: number): number[] {
    return [...(this.#before.get(id) ?? [])]
  }

  /** Steps that waited for it, directly or not. */
  behind(id: number): number[] {
    const found = new Set<number>([id])
    for (const [other, before] of this.#before) if ([...before].some((one) => found.has(one))) found.add(other)
    found.delete(id)
    return [...found]
  }

  finalizersOf(id: number): number[] {
    return [...this.#steps].flatMap(([other, { finalizes }]) => (finalizes === id ? [other] : []))
  }

  /** Finalizers come after all others. */
  #last(): number[] {
    return [...this.#steps].flatMap(([id, { action, finalizes }]) => (action && finalizes === undefined ? [id] : []))
  }

  #real(id: number): Iterable<number> {
    return this.#steps.get(id)?.action === null ? (this.#before.get(id) ?? []) : [id]
  }
}

function referred(template: unknown): number[] {
  if (typeof template !== 'object' || template === null) return []
  const { $ref } = template as { $ref?: unknown[] }
  if (Array.isArray($ref) && $ref[0] === 'output') return [$ref[1] as number]
  return Object.values(template).flatMap(referred)
}
