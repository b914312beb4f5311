import { TriarchError } from 'triarch'

/** Returns the name of a schema as an SQL identifier. Throws INVALID_OPTION. */
export function quotedSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(name)) {
    throw new TriarchError('INVALID_OPTION', `postgres: schema "${name}" must be lower case letters, digits and _`)
  }
  return `"${name}"`
}

/** Replaces `triarch.` in a statement by the schema that the user chose. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll(/\btriarch\./g, `${quotedSchema(schema)}.`)
}
