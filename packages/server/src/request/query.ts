import type { z } from 'zod'
import { Refused } from '../problem/problem.ts'

/** What a query string says, each parameter as its schema has it; what has no schema comes along, and is refused by the whole. */
export function readQuery(query: z.ZodObject, search: URLSearchParams): Record<string, unknown> {
  const records = new Map<string, [string, string][]>()
  const values = new Map<string, unknown>()
  for (const name of new Set(search.keys())) {
    const given = search.getAll(name)
    const [, record = '', member = ''] = /^([^[]+)\[(.*)\]$/s.exec(name) ?? []
    const kind = kindOf(query, name)
    if (kindOf(query, record) === 'record') {
      // Schemas leave it out without a word: the rest would be asked for, and more be found.
      if (member === '__proto__')
        throw new Refused('INVALID_REQUEST', 'no name is "__proto__"', [{ path: name, message: 'not allowed' }])
      const members = records.get(record) ?? []
      members.push([member, one(name, given)])
      records.set(record, members)
    } else values.set(name, kind === 'array' ? given : converted(kind, one(name, given)))
  }
  const members = [...records].map(([name, entries]) => [name, Object.fromEntries(entries)] as const)
  return Object.fromEntries<unknown>([...members, ...values])
}

/** The type of a parameter's schema: `string`, `number`, `array`, `record` … */
export function kindOf({ shape }: z.ZodObject, name: string): string {
  let schema = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined
  while (schema && schema.def.type === 'optional') schema = (schema as z.ZodOptional<z.ZodType>).unwrap()
  return schema?.def.type ?? 'unknown'
}

function one(name: string, values: readonly string[]): string {
  if (values.length === 1) return values[0] ?? ''
  const path = name.slice(0, 100)
  throw new Refused('INVALID_REQUEST', `the parameter "${path}" is given more than once`, [
    { path, message: 'given more than once' },
  ])
}

function converted(kind: string, value: string): unknown {
  if (kind === 'number') return /^-?\d{1,16}$/.test(value) ? Number(value) : value
  if (kind === 'boolean') return value === 'true' ? true : value === 'false' ? false : value
  return value
}
