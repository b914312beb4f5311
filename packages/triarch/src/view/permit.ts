import type { PermitRow } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { namesOf } from './rate.ts'

/** A concurrency limit over all nodes that is reached. */
export interface FullBound extends PermitRow {
  /** Number of requests in the queue, counted up to 10,000. */
  waiting: number
}

/** The limit that holds the action back, its agent's first; null: none does. */
export function fullBoundOf(
  { bounds, waiting }: { bounds: ReadonlyMap<string, PermitRow>; waiting: ReadonlyMap<string, number> },
  queue: string,
  action: string,
): FullBound | null {
  const [bound] = namesOf(queue, action).flatMap((name) => bounds.get(name) ?? [])
  return bound ? { ...bound, waiting: waiting.get(queue) ?? 0 } : null
}

export function fullText(bound: FullBound): string {
  const { waiting } = bound
  const many = waiting >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : waiting.toLocaleString('en')
  return `${boundText(bound)}, ${many} ${waiting === 1 ? 'waits' : 'wait'}`
}

/** The same without the number of waiting requests. */
export function boundText({ name, taken, most }: PermitRow): string {
  return `of ${name} ${taken.toLocaleString('en')} of ${most.toLocaleString('en')} are running over all nodes`
}
