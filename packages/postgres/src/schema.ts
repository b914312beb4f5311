import { TriarchError } from 'triarch'

/** The name of a schema, as it stands in SQL. Throws INVALID_OPTION. */
export function quotedSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(name)) {
    throw new TriarchError('INVALID_OPTION', `postgres: schema "${name}" must be lower case letters, digits and _`)
  }
  return `"${name}"`
}

/** `triarch.` in our SQL stands for the schema of the user's choice. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll(/\btriarch\./g, `${quotedSchema(schema)}.`)
}
