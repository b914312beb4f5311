// The document of the API as a judge: of every answer that a test gets.
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { openapi } from '../src/openapi.ts'

interface Response {
  content?: Record<string, { schema: AnySchema; 'x-events'?: Record<string, AnySchema> }>
  headers?: Record<string, unknown>
}
export interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema: AnySchema }[]
  requestBody?: { content: Record<string, { schema: { $ref: string } }> }
  responses: Record<string, Response | { $ref: string }>
}
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Record<string, unknown>>; responses: Record<string, Response> }
}

export const document: Document = openapi() as unknown as Document

/** As it is, but nothing may be in an answer that is not in the document. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  return copy.type === 'object' && copy.properties && copy.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ $id: 'triarch', components: closed(document.components) })
const validators = new Map<string, ValidateFunction>()

function complaints(schema: AnySchema, body: unknown): unknown {
  const ref = (schema as { $ref: string }).$ref
  const validate = validators.get(ref) ?? ajv.compile({ $ref: `triarch${ref}` })
  validators.set(ref, validate)
  return validate(body) ? [] : validate.errors
}

function resolved(response: Response | { $ref: string } | undefined): Response | undefined {
  return response && '$ref' in response
    ? document.components.responses[response.$ref.split('/').at(-1) ?? '']
    : response
}

/** The operation that the document has for a request; undefined: it has none. */
export function operationFor(method: string, path: string): Operation | undefined {
  const found = Object.entries(document.paths).filter(([pattern]) =>
    new RegExp(`^/api/v1${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  return found.map(([, operations]) => operations[method.toLowerCase()]).find((it) => it !== undefined)
}

/** The answer, when the document has it: its status, its headers, its body and nothing besides. */
export async function judged(
  method: string,
  path: string,
  response: globalThis.Response,
): Promise<globalThis.Response> {
  const said = `${method} ${path} → ${response.status}`
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const text = isStream ? '' : await response.clone().text()
  const operation = operationFor(method, path)
  if (operation === undefined) {
    if (path === '/api/v1/openapi.json' || method === 'OPTIONS' || method === 'HEAD') return response
    expect([400, 404, 405, 414, 421, 503], said).toContain(response.status)
    expect(complaints({ $ref: '#/components/schemas/Problem' }, JSON.parse(text)), said).toEqual([])
    return response
  }
  const documented = resolved(operation.responses[response.status])
  expect(documented, `${said} is not in the document: ${text.slice(0, 300)}`).toBeDefined()
  const contents = documented?.content ?? {}
  const type = response.headers.get('content-type') ?? ''
  const content = contents[type]
  expect(Object.keys(contents).length > 0 ? Object.keys(contents) : [''], said).toContain(type)
  for (const name of Object.keys(documented?.headers ?? {}))
    expect(response.headers.get(name), `${said}: ${name}`).not.toBeNull()
  if (isStream) return response
  if (content) expect(complaints(content.schema, JSON.parse(text)), `${said} ${text.slice(0, 500)}`).toEqual([])
  else expect(text, said).toBe('')
  return response
}

/** An event of a stream, when the document has it, and its data. */
export function judgedEvent(path: string, event: string, data: unknown): void {
  const answer = resolved(operationFor('GET', `/api/v1${path}`)?.responses['200'])
  const schema = answer?.content?.['text/event-stream']?.['x-events']?.[event]
  expect(schema, `${path}: ${event} is not in the document`).toBeDefined()
  if (schema) expect(complaints(schema, data), `${path}: ${event}`).toEqual([])
}
