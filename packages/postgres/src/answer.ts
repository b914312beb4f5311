import type { NewTask, PostOutcome } from 'triarch/store'
import { storeError } from './failure.ts'
import type { News } from './news.ts'
import type { Row } from './query.ts'

/** Returns the first column if it is a number, else null. */
export function number(row: Row | undefined): number | null {
  return typeof row?.[0] === 'number' ? row[0] : null
}

export function answerOf(row: Row | undefined): string {
  if (typeof row?.[0] !== 'string') throw storeError(new Error('the server answered nothing'))
  return row[0]
}

/** Parses the answer of a post: keys of tasks; 0 or less: why the message was not posted. */
export function postOutcomes(answer: string): PostOutcome[] {
  return answer.split(',').map((key) => refusals[key] ?? 'posted')
}

const refusals: Readonly<Record<string, PostOutcome>> = { '0': 'unknown', '-1': 'unfit', '-2': 'full' }

/**
 * Returns whom to notify of messages: the owners of their tasks, and nodes that can act on the tasks that became
 * claimable (migrations/0001/inbox.sql).
 */
export function newsOf(row: Row | undefined, column = 1): Set<News> {
  const news = new Set<News>()
  for (const name of elements(row?.[column])) {
    if (name === 'NULL') continue
    const [kind, rest] = [name.charAt(0), name.slice(1)]
    if (kind === '=' || kind === '!') news.add({ tasks: rest, control: kind === '!' })
    else news.add({ mail: name })
  }
  return news
}

/** Whether a task became claimable without being named in the answer. */
export function isUnnamed(row: Row | undefined, column = 1): boolean {
  const names = elements(row?.[column])
  return names.includes('NULL') && !names.some((name) => name.startsWith('=') || name.startsWith('!'))
}

/** Returns notifications for new tasks that may be claimed at once. */
export function readyOf(tasks: readonly NewTask[]): News[] {
  const ready = tasks.filter(({ startAt, gates }) => startAt === null && !gates)
  return ready.map(({ workflow, version }) => ({ tasks: `${workflow}@${version}` }))
}

/** Parses an array of names in text form. The server quotes some; none contains a quote or a comma. */
export function elements(array: unknown): string[] {
  if (typeof array !== 'string') return []
  const names = array.slice(1, -1).split(',')
  return names.filter((name) => name !== '').map((name) => name.replaceAll('"', ''))
}
