import type { Json } from '../json.ts'

/**
 * JSON with references in it: an object whose one key is `$ref` stands for a value that is only known once other steps are
 * done. Its list begins with an operation; what follows are templates again, but for the paths.
 *
 *   ["output", step, ...path]  ["text", ...parts]  ["or", value, otherwise]  ["length", of]  ["pluck", list, ...path]
 *   ["at", value, ...path]  ["concat", ...lists]  ["merge", ...objects]  ["join", list, separator]
 *   ["equals", a, b]  ["when", is, then, otherwise]
 *   ["object", ...[key, value]]  an object with a key `$ref` of its own
 */
export type Template = Json

export const REFERENCE = '$ref'

type Outputs = ReadonlyMap<number, Json>

/** The value of a template, as a copy; undefined if something that it needs is missing. */
export function resolve(template: Template, outputs: Outputs): Json | undefined {
  if (typeof template !== 'object' || template === null) return template
  if (Array.isArray(template)) return all(template, outputs)
  const expression = expressionOf(template)
  if (expression) return evaluate(expression, outputs)
  const copy: { [key: string]: Json } = {}
  for (const key of Object.keys(template)) {
    const value = resolve(template[key] as Json, outputs)
    if (value === undefined) return undefined
    put(copy, key, value)
  }
  return copy
}

/** The template with null in place of values that are not known yet. */
export function literals(template: Template): Json {
  if (typeof template !== 'object' || template === null) return template
  if (Array.isArray(template)) return template.map(literals)
  if (expressionOf(template)) return null
  return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, literals(part)]))
}

/** All steps that the template refers to. */
export function references(template: Template, found: Set<number> = new Set()): Set<number> {
  if (typeof template !== 'object' || template === null) return found
  const expression = Array.isArray(template) ? null : expressionOf(template)
  if (expression?.[0] === 'output') return found.add(expression[1] as number)
  for (const part of Object.values(template)) references(part, found)
  return found
}

/** The first reference without a value, in words for a reader. */
export function missingReference(template: Template, outputs: Outputs): string | null {
  if (typeof template !== 'object' || template === null) return null
  const expression = Array.isArray(template) ? null : expressionOf(template)
  if (expression && resolve(template, outputs) !== undefined) return null
  if (expression?.[0] === 'output') return describe(expression)
  for (const part of Object.values(template)) {
    const found = missingReference(part, outputs)
    if (found !== null) return found
  }
  return expression ? String(expression[0]) : null
}

function describe([, step, ...path]: Json[]): string {
  return `output of step ${step}${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`
}

function expressionOf(template: { [key: string]: Json }): Json[] | null {
  const expression = template[REFERENCE]
  return Array.isArray(expression) && Object.keys(template).length === 1 ? expression : null
}

function evaluate([operation, ...rest]: Json[], outputs: Outputs): Json | undefined {
  switch (operation) {
    case 'output': {
      const value = follow(outputs.get(rest[0] as number), rest.slice(1))
      return value === undefined ? undefined : resolveCopy(value)
    }
    case 'or': {
      const value = resolve(rest[0] as Json, outputs)
      return value ?? resolve(rest[1] as Json, outputs)
    }
    case 'when': {
      const chosen = resolve(rest[0] as Json, outputs)
      return chosen === undefined ? undefined : resolve((chosen ? rest[1] : rest[2]) as Json, outputs)
    }
    case 'object': {
      const copy: { [key: string]: Json } = {}
      for (const [key, value] of rest as [string, Json][]) {
        const resolved = resolve(value, outputs)
        if (resolved === undefined) return undefined
        put(copy, key, resolved)
      }
      return copy
    }
    case 'at':
      return follow(resolve(rest[0] as Json, outputs), rest.slice(1))
    case 'pluck': {
      const list = resolve(rest[0] as Json, outputs)
      const found = Array.isArray(list) ? list.map((item) => follow(item, rest.slice(1))) : [undefined]
      return found.includes(undefined) ? undefined : (found as Json[])
    }
    default: {
      const values = all(rest, outputs)
      return values && compute(operation, values)
    }
  }
}

function compute(operation: Json | undefined, values: Json[]): Json | undefined {
  const [first, second] = values
  switch (operation) {
    case 'text':
      return values.map(textOf).join('')
    case 'length':
      return Array.isArray(first) || typeof first === 'string' ? first.length : undefined
    case 'concat':
      return values.every((value) => Array.isArray(value)) ? values.flat() : undefined
    case 'merge':
      return merged(values)
    case 'join':
      return Array.isArray(first) ? first.map(textOf).join(textOf(second ?? ',')) : undefined
    case 'equals':
      return JSON.stringify(sorted(first)) === JSON.stringify(sorted(second))
    default:
      return undefined
  }
}

function all(templates: readonly Json[], outputs: Outputs): Json[] | undefined {
  const values: Json[] = []
  for (const template of templates) {
    const value = resolve(template, outputs)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function follow(value: Json | undefined, path: readonly Json[]): Json | undefined {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key as string)) return undefined
    found = (found as { [key: string]: Json })[key as string]
  }
  return found
}

function merged(values: readonly Json[]): Json | undefined {
  const copy: { [key: string]: Json } = {}
  for (const value of values) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    for (const key of Object.keys(value)) put(copy, key, value[key] as Json)
  }
  return copy
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A copy of an output. Outputs contain no references, whatever they look like. */
function resolveCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(resolveCopy)
  const copy: { [key: string]: Json } = {}
  for (const key of Object.keys(value)) put(copy, key, resolveCopy(value[key] as Json))
  return copy
}

/** Sorts the keys, so that equal objects have equal JSON. */
function sorted(value: Json | undefined): Json {
  if (typeof value !== 'object' || value === null) return value ?? null
  if (Array.isArray(value)) return value.map(sorted)
  const copy: { [key: string]: Json } = {}
  for (const key of Object.keys(value).sort()) put(copy, key, sorted(value[key]))
  return copy
}

/** Sets a key of an object; `__proto__` is defined instead of assigned, so that it becomes an ordinary key. */
function put(target: { [key: string]: Json }, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}
