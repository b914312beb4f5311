import { apply } from '../../packages/triarch/src/kernel/apply.ts'
import { newState } from '../../packages/triarch/src/kernel/state.ts'
import { moves } from '../../packages/triarch/src/kernel/status.ts'
import type { Evidence, Story } from '../../packages/triarch/test/crash/evidence.ts'

const kinds = ['task', 'step'] as const
type Kind = (typeof kinds)[number]

/** Which states of the kernel's table were reached and which of its moves made, and what happened how often. */
export class Coverage {
  /** Times each state was reached and each move made, and events in histories. */
  readonly states: Map<string, number> = new Map()
  readonly moves: Map<string, number> = new Map()
  readonly events: Map<string, number> = new Map()

  add({ tasks }: Evidence): void {
    for (const story of tasks) this.#tell(story)
  }

  /** Moves that the table does not have. */
  get illegal(): string[] {
    const legal = table()
    return [...this.moves.keys()].filter((move) => !legal.includes(move))
  }

  /** Of the table's moves, those never made. */
  get missing(): string[] {
    return table().filter((move) => !this.moves.has(move))
  }

  get share(): string {
    const all = table()
    return `${all.length - this.missing.length} of ${all.length}`
  }

  #tell(story: Story): void {
    const state = newState(story.row.id)
    /** Steps as they were: the fold lets go of those that are settled. */
    const steps = new Map<number, { before: string | null; step: { status: string } }>()
    let before: string | null = null
    for (const { at, events } of story.records) {
      for (const [index, event] of events.entries()) {
        count(this.events, event.type)
        apply(state, event, at, [])
        // One that is planned when it is submitted begins as planned.
        if (event.type === 'submitted' && events[index + 1]?.type === 'planned') continue
        before = this.#reach('task', before, state.status)
        for (const [id, step] of state.steps) if (steps.get(id)?.step !== step) steps.set(id, { before: null, step })
        for (const known of steps.values()) known.before = this.#reach('step', known.before, known.step.status)
      }
    }
  }

  #reach(kind: Kind, before: string | null, status: string): string {
    if (status === before) return status
    count(this.states, `${kind} ${status}`)
    if (before !== null) count(this.moves, `${kind} ${before} → ${status}`)
    return status
  }
}

function table(): string[] {
  return kinds.flatMap((kind) =>
    Object.entries<readonly string[]>(moves[kind]).flatMap(([from, to]) =>
      to.map((target) => `${kind} ${from} → ${target}`),
    ),
  )
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
