import type { TaskState } from '../kernel/state.ts'
import type { QueuedRow, SeatRow, StateStore } from '../store/port.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { namesOf } from './rate.ts'

/** A bound over all nodes under which as many attempts run as may. */
export interface FullBound extends SeatRow {
  /** How many wait in the queue, counted up to 10,000. */
  waiting: number
}

/** Of the queues in which it waits, those bounds that have no seat left, by their names; how much waits, by the queue. */
export async function fullBounds(
  store: StateStore,
  { work }: QueuedRow,
  { steps }: Pick<TaskState, 'steps'>,
): Promise<{ bounds: ReadonlyMap<string, SeatRow>; waiting: ReadonlyMap<string, number> }> {
  const waits = work.filter(({ node }) => node === null)
  const names = new Set(waits.flatMap(({ queue, step }) => namesOf(queue, steps.get(step)?.action)))
  if (names.size === 0) return { bounds: new Map(), waiting: new Map() }
  const full = (await store.seats([...names])).filter(({ taken, most }) => taken >= most)
  if (full.length === 0) return { bounds: new Map(), waiting: new Map() }
  const queues = [...new Set(waits.map(({ queue }) => queue))]
  const rows = await store.breakers({ names: queues, count: MOST_COUNTED })
  return {
    bounds: new Map(full.map((row) => [row.name, row])),
    waiting: new Map(rows.map(({ name, waiting }) => [name, waiting])),
  }
}

/** The one that keeps the action, its agent's first; null: none does. */
export function fullBoundOf(
  { bounds, waiting }: Awaited<ReturnType<typeof fullBounds>>,
  queue: string,
  action: string,
): FullBound | null {
  const [bound] = namesOf(queue, action).flatMap((name) => bounds.get(name) ?? [])
  return bound ? { ...bound, waiting: waiting.get(queue) ?? 0 } : null
}

export function fullText({ name, taken, most, waiting }: FullBound): string {
  const many = waiting >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : waiting.toLocaleString('en')
  return `of ${name} ${taken.toLocaleString('en')} of ${most.toLocaleString('en')} are running over all nodes, ${many} ${waiting === 1 ? 'waits' : 'wait'}`
}
