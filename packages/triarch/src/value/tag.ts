import { TriarchError } from '../error/error.ts'
import { entriesOf } from './options.ts'
import { checkMember, checkText } from './text.ts'

const MOST_TAGS = 32

/** The tag of tasks that were submitted frozen, by which they are found; a tag of the same name in the submission takes precedence. */
export const FROZEN: Readonly<Record<string, string>> = { start: 'frozen' }

/** Adds the tag to a frozen task, and keeps other tasks from carrying it by their own tags. */
export function withStart(tags: Readonly<Record<string, string>>, frozen: boolean): Record<string, string> {
  if (frozen) return { ...FROZEN, ...tags }
  const { start, ...rest } = tags
  return start === FROZEN.start ? rest : { ...tags }
}

/** A copy of the tags: up to 32 short texts. Throws INVALID_OPTION. */
export function checkTags(what: string, tags: unknown): Record<string, string> {
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) {
    throw new TriarchError('INVALID_OPTION', `${what}: tags must be an object of strings`)
  }
  const entries = entriesOf(`${what}: tags`, tags)
  if (entries.length > MOST_TAGS) throw new TriarchError('INVALID_OPTION', `${what}: at most ${MOST_TAGS} tags`)
  for (const [name, value] of entries) {
    checkText(`${what}: the name of a tag`, name, 100)
    checkMember(`${what}: the name of a tag`, name)
    checkText(`${what}: tag "${name}"`, value, 200)
  }
  return Object.fromEntries(entries) as Record<string, string>
}
