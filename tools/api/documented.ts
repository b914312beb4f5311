// What is said of each export, and of each of its members that users meet.
import { CODE } from './code.ts'
import { membersOf, saidOfAll } from './member.ts'
import { isValue } from './report.ts'
import { type Exported, records, type Surface } from './surface.ts'
import { examplesOf, sentencesOf } from './text.ts'

/** Entries for those who write a store: their values and methods are shown by the stores that there are. */
const unshown: readonly string[] = ['triarch/store']

/** Interfaces of which users call the methods, which the engine implements. */
const hands: readonly string[] = [
  ...['Agent', 'Lock', 'PlanContext', 'ActionPlanContext', 'StepContext', 'TaskContext'],
  ...['TriarchClient', 'TaskHandle', 'ScheduleHandle'],
]

/** Of a line of an example. */
const WIDEST = 100

/** Constants whose names look like codes. */
const words: readonly string[] = ['CLAIM_BOUNDS', 'INBOX_BYTES', 'MOST_COUNTED', 'ASK_AGAIN', 'LONGEST_ANSWER']

/** What lacks a word or an example, and codes that nothing raises. */
export function documented(surface: Surface, codes: ReadonlySet<string>): string[] {
  const problems: string[] = []
  for (const exported of surface.exports) {
    const { name, declaration } = exported
    const what = `${surface.entry.name}: ${name} (${declaration.module.path})`
    const said = saidOfAll(declaration)
    if (said === null) problems.push(`${what} says nothing of itself`)
    else if (isShown(surface, exported) && examplesOf(said).length === 0) problems.push(`${what} has no @example`)
    const members = membersOf(declaration)
    for (const member of members) {
      const method = member.nodes.some(({ type }) => type === 'MethodDefinition' || type === 'TSMethodSignature')
      const called = method && !member.name.startsWith('[') && (isShown(surface, exported) || hands.includes(name))
      if (member.said === null) problems.push(`${what}: ${member.name} says nothing of itself`)
      else if (called && !unshown.includes(surface.entry.name) && examplesOf(member.said).length === 0) problems.push(`${what}: ${member.name} has no @example`) // biome-ignore format: one line
    }
    const wide = [said, ...members.map((member) => member.said)].flatMap((text) =>
      examplesOf(text ?? '').flatMap((code) => code.split('\n').filter((line) => line.length > WIDEST)),
    )
    for (const line of wide) problems.push(`${what}: an example is wider than ${WIDEST} columns: ${line}`)
    for (const text of [said, ...members.map((member) => member.said)])
      for (const [code] of sentencesOf(text ?? '').matchAll(CODE))
        if (!codes.has(code) && !words.includes(code)) problems.push(`${what} tells of ${code}, which is no error code`)
  }
  return problems
}

/** Values have examples; a type is shown where it is used. */
function isShown({ entry }: Surface, { declaration, typeOnly, name }: Exported): boolean {
  return isValue(declaration) && !typeOnly && !unshown.includes(entry.name) && !records.includes(name)
}
