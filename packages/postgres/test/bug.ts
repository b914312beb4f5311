import type pg from 'pg'
import { inSchema } from '../src/schema.ts'

/** A deliberate bug in what the database itself does: texts of one function, and what takes their places; each must stand in it exactly once. */
export interface Bug {
  of: string
  change: readonly (readonly [from: string, to: string])[]
}

const DEFINITIONS = `
SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = $1 AND p.proname = $2`

/** Runs the body while the functions of the schema have this bug. */
export async function withBug<T>(
  { client, schema }: { client: pg.Client; schema: string },
  { of, change }: Bug,
  body: () => Promise<T>,
): Promise<T> {
  const edits = change.map((texts) => texts.map((text) => inSchema(text, schema)) as [string, string])
  const { rows } = await client.query<{ text: string }>(DEFINITIONS, [schema, of])
  const sound = rows[0]?.text ?? ''
  if (!edits.every(([from]) => sound.split(from).length === 2))
    throw new Error(`${of} has not exactly one "${change.map(([from]) => from).join('", "')}"`)
  await client.query(edits.reduce((all, [from, to]) => all.replace(from, () => to), sound))
  try {
    return await body()
  } finally {
    await client.query(sound)
  }
}
