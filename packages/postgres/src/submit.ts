import type { LockRequest, NewTask, SubmitOutcome } from 'triarch/store'
import { integers, texts } from './arrays.ts'

/** The parameters of `triarch.insert_tasks`, in its order. */
export function taskArrays(tasks: readonly NewTask[]): Buffer[] {
  return [
    texts(tasks, ({ id }) => id),
    texts(tasks, ({ workflow }) => workflow),
    texts(tasks, ({ version }) => version),
    integers(tasks, ({ priority }) => priority),
    texts(tasks, ({ status }) => status),
    integers(tasks, ({ at }) => at),
    integers(tasks, ({ startAt }) => startAt),
    integers(tasks, ({ deadline }) => deadline),
    texts(tasks, ({ parent }) => parent),
    texts(tasks, tagsText),
    texts(tasks, ({ events }) => events),
  ]
}

/** What `triarch.gate` does for the task or transition at the position `of` (from 1). */
export type GateOperation = { of: number } & (
  | {
      op: 'create'
      id: string
      locks: readonly LockRequest[]
      after: readonly string[]
      at: number
      parent?: string
      step?: number
    }
  | ({ op: 'lock'; at: number } & LockRequest)
  | { op: 'unlock'; step: number; at: number }
)

export function gatesOfTask(
  { id, at, gates }: NewTask,
  place: { of: number; parent?: string; step?: number },
): GateOperation[] {
  return gates ? [{ op: 'create', ...place, id, ...gates, at }] : []
}

/** Returns what `triarch.gate` has to do after the tasks are inserted; null: nothing. */
export function gatesOfTasks(tasks: readonly NewTask[]): string | null {
  const operations = tasks.flatMap((task, index) => gatesOfTask(task, { of: index + 1 }))
  return operations.length > 0 ? JSON.stringify(operations) : null
}

/**
 * Parses the answers: the key, negative if the id existed. `refused`: JSON with the holders of the locks that refused
 * tasks, by position.
 */
export function submitOutcomes(answer: string, refused: string | null = null): SubmitOutcome[] {
  const by = (refused === null ? {} : JSON.parse(refused)) as Record<string, string>
  return answer.split(',').map((text, index) => {
    const heldBy = by[index + 1]
    if (heldBy !== undefined) return { created: false, key: 0, heldBy }
    return { created: Number(text) > 0, key: Math.abs(Number(text)) }
  })
}

/** Returns the tags as JSON. The share comes first, where a trigger searches for it; tags are texts, so none can be mistaken for it. */
export function tagsText({ tags, share }: Pick<NewTask, 'tags' | 'share'>): string | null {
  const own = Object.keys(tags).length > 0 ? JSON.stringify(tags) : null
  if (!share) return own
  return `{"~share":${JSON.stringify(share)}${own === null ? '}' : `,${own.slice(1)}`}`
}
