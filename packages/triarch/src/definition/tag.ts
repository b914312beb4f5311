import { TriarchError } from '../error/error.ts'

const MOST_TAGS = 32

/** A copy of the tags: up to 32 short texts. Throws INVALID_OPTION. */
export function checkTags(what: string, tags: unknown): Record<string, string> {
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) {
    throw new TriarchError('INVALID_OPTION', `${what}: tags must be an object of texts`)
  }
  const entries = Object.entries(tags)
  if (entries.length > MOST_TAGS) throw new TriarchError('INVALID_OPTION', `${what}: at most ${MOST_TAGS} tags`)
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || name.length > 100 || value.length > 200) {
      throw new TriarchError(
        'INVALID_OPTION',
        `${what}: tag "${name.slice(0, 100)}" must be a text of at most 200 characters`,
      )
    }
  }
  return Object.fromEntries(entries) as Record<string, string>
}
