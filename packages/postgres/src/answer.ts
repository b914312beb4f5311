import type { PostOutcome } from 'triarch/store'
import { storeError } from './failure.ts'
import type { News } from './hints.ts'
import type { Row } from './slot.ts'

/** The first column, where it is a number. */
export function number(row: Row | undefined): number | null {
  return typeof row?.[0] === 'number' ? row[0] : null
}

export function answerOf(row: Row | undefined): string {
  if (typeof row?.[0] !== 'string') throw storeError(new Error('the server answered nothing'))
  return row[0]
}

/** Keys of tasks; 0 and less: why it was not posted. */
export function postOutcomes(answer: string): PostOutcome[] {
  return answer.split(',').map((key) => refusals[key] ?? 'posted')
}

const refusals: Readonly<Record<string, PostOutcome>> = { '0': 'unknown', '-1': 'unfit', '-2': 'full' }

/** Who must be told of letters: their owners, and whoever may claim the tasks that have none. */
export function newsOf(row: Row | undefined, column = 1): Set<News> {
  const owners = row?.[column]
  if (typeof owners !== 'string') return new Set()
  const names = owners
    .slice(1, -1)
    .split(',')
    .filter((name) => name !== '')
  return new Set(names.map((name) => (name === 'NULL' ? 'tasks' : { mail: name.replaceAll('"', '') })))
}
