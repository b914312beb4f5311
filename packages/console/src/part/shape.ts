// What a form can be made of: a JSON Schema, as far as it says what a person fills in.

/** A JSON Schema (draft 2020-12), as a library of schemas says it. */
export type Schema = Readonly<Record<string, unknown>>

export type Shape = { title: string; note: string | null; isOptional: boolean } & (
  | { kind: 'text'; format: string | null; most: number | null }
  | { kind: 'number'; isWhole: boolean }
  | { kind: 'switch' }
  | { kind: 'choice'; values: readonly unknown[] }
  | { kind: 'list'; of: Schema }
  | { kind: 'object'; fields: readonly { name: string; schema: Schema; isNeeded: boolean }[] }
  /** What has no field of its own is written as JSON. */
  | { kind: 'json' }
)

/** Schemas may speak of themselves: so deep a form goes, then it is JSON. */
const DEEPEST = 6

/** The field of a schema; `root`: where its references lead. `depth`: how many forms it is in. */
export function shapeOf(schema: Schema, root: Schema, title: string, depth = 0): Shape {
  const { schema: it, isOptional } = plain(resolved(schema, root), root)
  const note = typeof it.description === 'string' ? it.description : null
  const base = { title: typeof it.title === 'string' ? it.title : title, note, isOptional }
  if (it.const !== undefined) return { ...base, kind: 'choice', values: [it.const] }
  if (Array.isArray(it.enum) && it.enum.length > 0) return { ...base, kind: 'choice', values: it.enum }
  switch (it.type) {
    case 'string':
      return {
        ...base,
        kind: 'text',
        format: typeof it.format === 'string' ? it.format : null,
        most: typeof it.maxLength === 'number' ? it.maxLength : null,
      }
    case 'number':
    case 'integer':
      return { ...base, kind: 'number', isWhole: it.type === 'integer' }
    case 'boolean':
      return { ...base, kind: 'switch' }
    case 'array':
      if (isSchema(it.items) && depth < DEEPEST) return { ...base, kind: 'list', of: it.items }
      break
    case 'object': {
      const fields = isSchema(it.properties) ? Object.entries(it.properties).filter(([, one]) => isSchema(one)) : []
      const needed = Array.isArray(it.required) ? it.required : []
      // What may have further names is written as it is.
      const isOpen = isSchema(it.additionalProperties) || isSchema(it.patternProperties)
      if (fields.length === 0 || isOpen || depth >= DEEPEST) break
      const of = fields.map(([name, schema]) => ({ name, schema: schema as Schema, isNeeded: needed.includes(name) }))
      return { ...base, kind: 'object', fields: of }
    }
  }
  return { ...base, kind: 'json' }
}

/** What a field has before anybody has filled it in; undefined: nothing. */
export function beginningOf(schema: Schema, root: Schema, depth = 0): unknown {
  const { schema: it, isOptional } = plain(resolved(schema, root), root)
  if (it.default !== undefined) return it.default
  const shape = shapeOf(schema, root, '', depth)
  if (shape.kind === 'choice') return shape.values.length === 1 ? shape.values[0] : undefined
  if (isOptional) return null
  if (shape.kind === 'switch') return false
  if (shape.kind === 'list') return []
  if (shape.kind !== 'object') return undefined
  const fields = shape.fields
    .filter(({ isNeeded }) => isNeeded)
    .map(({ name, schema }) => [name, beginningOf(schema, root, depth + 1)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** The path of what is wrong, as the server says it: `items[3].price`. */
export function pathOf(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** `anyOf` with null, or `type` with it, says that there may be nothing. */
function plain(schema: Schema, root: Schema): { schema: Schema; isOptional: boolean } {
  const ways = (schema.anyOf ?? schema.oneOf) as unknown
  if (Array.isArray(ways)) {
    const left = ways.filter(isSchema).map((way) => resolved(way, root))
    const some = left.filter(({ type }) => type !== 'null')
    const [only] = some
    if (some.length === 1 && only && some.length < left.length)
      return { schema: { ...only, ...without(schema) }, isOptional: true }
    if (some.length > 0 && some.every((way) => way.const !== undefined))
      return {
        schema: { ...without(schema), enum: some.map((way) => way.const) },
        isOptional: some.length < left.length,
      }
  }
  if (Array.isArray(schema.type) && schema.type.includes('null')) {
    const types = schema.type.filter((type) => type !== 'null')
    if (types.length === 1) return { schema: { ...schema, type: types[0] }, isOptional: true }
  }
  return { schema, isOptional: false }
}

function without({ anyOf: _, oneOf: __, ...rest }: Schema): Schema {
  return rest
}

function resolved(schema: Schema, root: Schema): Schema {
  let it = schema
  for (let hops = 0; hops < 20 && typeof it.$ref === 'string' && it.$ref.startsWith('#'); hops++) {
    const found = it.$ref
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>(
        (at, part) => (isSchema(at) ? at[part.replace(/~1/g, '/').replace(/~0/g, '~')] : undefined),
        root,
      )
    if (!isSchema(found)) return {}
    it = found
  }
  return it
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
