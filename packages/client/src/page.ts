import { known } from './options.ts'
import { query } from './value.ts'

/** The query of a page by name. Throws UNKNOWN_OPTION. */
export function pageQuery(
  what: string,
  { cursor, limit, ...rest }: { cursor?: string; limit?: number },
  more: Parameters<typeof query>[0] = {},
): string {
  known(what, rest)
  return query({ ...more, cursor, limit })
}
