import type { Mutant } from './mutant.ts'

/** Which of the mutants in the code is at work, and which were asked for. One state for each thread. */
export interface Course {
  active: number | null
  /** Null: not recorded. */
  reached: Set<number> | null
  /** How often code came by a mutant, and how often it may: more is a circle, for no loop is without one. */
  asked: number
  most: number
}

const NAME = '__mutants'
const ASK = '__mutant'

/** The state of this thread. It must be there before embedded code runs. */
export function course(): Course {
  const holder = globalThis as { [NAME]?: Course }
  holder[NAME] ??= { active: null, reached: null, asked: 0, most: Number.POSITIVE_INFINITY }
  return holder[NAME]
}

/** How often it may come by mutants with one active that came by them so often without. */
export function mostOf(asked: number): number {
  return asked * 10 + 1_000_000
}

/**
 * The source with all its mutants in it, each asleep until it is the active one: code that is loaded, compiled and warm
 * once judges them all. In the text of a mutant there are no others, so that the code grows by its depth only.
 */
export function embedded(source: string, mutants: readonly (readonly [id: number, mutant: Mutant])[]): string {
  const order = [...mutants].sort(([, a], [, b]) => a.start - b.start || b.end - a.end || drops(b) - drops(a))
  let next = 0
  const within = (start: number, end: number): string => {
    let text = ''
    let at = start
    for (let here = order[next]; here && here[1].start < end; here = order[next]) {
      const [id, mutant] = here
      next++
      const inner = within(mutant.start, mutant.end)
      text += source.slice(at, mutant.start) + choice(id, mutant, inner)
      at = mutant.end
    }
    return text + source.slice(at, end)
  }
  return `${within(0, source.length)}\n${ask}`
}

const ask = `function ${ASK}(id) {
  const course = globalThis.${NAME}
  course.reached?.add(id)
  if (++course.asked > course.most) throw new Error('turns in a circle')
  return course.active === id
}
`

function choice(id: number, mutant: Mutant, inner: string): string {
  return drops(mutant) ? `{ if (!${ASK}(${id})) ${inner} }` : `(${ASK}(${id}) ? (${mutant.text}) : (${inner}))`
}

function drops({ text }: Mutant): number {
  return text === ';' ? 1 : 0
}
