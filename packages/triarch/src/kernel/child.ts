import type { TaskState } from './state.ts'

/** Stands in ids that the engine makes, and in none that users give. */
export const SEPARATOR = '~'

/**
 * The id of what a task starts: of its `life`, so that nothing a task of the same id started before is in its way. Tasks that have
 * none are older than that, and go on as they began.
 */
export function childTaskId({ id, life }: Pick<TaskState, 'id' | 'life'>, place: string | number): string {
  if (life === null) return `${id}.${place}`
  return [id, ...(life === '' ? [] : [life]), place].join(SEPARATOR)
}
