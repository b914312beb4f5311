import type { Json } from '../json.ts'

/** What follows the id of its task in that of a hook's, in those of the first release as well: see `hook.ts`. */
const PLACE = /[.~][a-z]+\.\d+-\d+-\d+-\d+$/

/**
 * The input that a task's code is given. That of a hook's task is written with the outcome under `result`, as it ever was, so that
 * any version finds it there; code of today knows it by its name of today (decision 0060).
 */
export function givenInput(id: string, input: Json): Json {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || input.result === undefined) return input
  const isChange = typeof input.task === 'string' && id.startsWith(input.task) && typeof input.to === 'string'
  if (!isChange || !PLACE.test(id)) return input
  const { result, ...rest } = input
  return { ...rest, outcome: result }
}
