import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type Evidence, rewound } from '../../packages/triarch/test/crash/evidence.ts'
import { remade } from './oracle.ts'
import type { Plan } from './plan.ts'
import type { Sight } from './sight.ts'

const LINES = `
SELECT t.id, l.source, l.step, l.attempt, l.line FROM triarch_log_lines l JOIN triarch_tasks t ON t.key = l.task ORDER BY l.task, l.seq`

interface Line {
  id: string
  source: string | null
  step: number
  attempt: number | null
  line: string
}

/** What tasks say in their logs: of each line of the code, numbered from 0, and of each attempt of the step beside it. */
export class Journal {
  readonly #world: World
  readonly #store: Pick<SharedStore, 'database'>
  readonly #plan: Plan
  #diedAt = Number.NEGATIVE_INFINITY

  constructor(world: World, store: Pick<SharedStore, 'database'>, plan: Plan) {
    this.#world = world
    this.#store = store
    this.#plan = plan
  }

  /** A machine died, and what it had not written with it. */
  died(): void {
    this.#diedAt = this.#world.now
  }

  /** `fired`: faults by kind. */
  faults({ tasks }: Evidence, { durable }: Sight, fired: Readonly<Record<string, number>>): string[] {
    if (!this.#plan.tasks.some(({ ops }) => ops.some(({ do: kind }) => kind === 'say'))) return []
    const lines = this.#store.database.all<Line>(LINES)
    return tasks.flatMap((story) => {
      const { id } = story.row
      const own = lines.filter((line) => line.id === id)
      const [code, steps] = [own.filter(({ source }) => source === null), own.filter(({ source }) => source !== null)]
      const twice = steps.filter((line, at) => steps.findIndex((other) => nameOf(other) === nameOf(line)) < at)
      const faults = twice.map((line) => `${id}: ${nameOf(line)} is there twice`)
      if (rewound(story) || remade(story)) return faults
      const said = code.map(({ line }) => Number(messageOf(line)))
      if (said.some((number, at) => number !== at))
        faults.push(`${id}: its code said 0, 1, 2 …, and has ${said.join()}`)
      const all = this.#plan.tasks.find((task) => task.id === id)?.ops.filter(({ do: kind }) => kind === 'say').length
      const last = durable.get(id)?.get(story.records.at(-1)?.seq ?? 0) ?? Number.NEGATIVE_INFINITY
      // Whoever had the task at its end lived on, and had answers.
      const sure = last > this.#diedAt && !fired.swallowed && !fired.unanswered && story.row.result === 'success'
      if (sure && said.length !== all) faults.push(`${id}: its code said ${all} lines, and has ${said.join()}`)
      return faults
    })
  }
}

function nameOf({ step, attempt, line }: Line): string {
  return `"${messageOf(line)}" of attempt ${attempt} of step ${step}`
}

function messageOf(line: string): string {
  return (JSON.parse(line) as { message: string }).message
}
