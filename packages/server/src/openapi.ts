import { z } from 'zod'
import { kindOf } from './request/query.ts'
import { routes } from './route/index.ts'
import { type Route, rightOf } from './route/route.ts'
import { components, problemSchema } from './wire/schema.ts'

type Node = Record<string, unknown>

/** Any route may be answered so. */
const general = [400, 401, 403, 413, 414, 421, 429, 500, 503] as const
/** And those to which a body may be sent, whether they take one or not. */
const bodied = [415] as const

/** What the routes of each tag are for. */
const about: Readonly<Record<string, string>> = {
  tasks: 'Tasks: submitting, looking at them, controlling them.',
  submissions: 'Tasks that are submitted many at a time.',
  imports: 'Tasks that come from another store.',
  tokens: 'Steps that wait for somebody else.',
  operations: 'One control for all tasks that fit a filter.',
  schedules: 'Tasks that are started again and again.',
  workflows: 'What can be started, and who runs it.',
  agents: 'Who runs the steps, and how much waits for them.',
  breakers: 'Circuit breakers: which services are ill.',
  'rate-limits': 'Rate limits: how much may begin in a time.',
  alerts: 'What is wrong now, and who has it in hand.',
  cache: 'Answers that are kept.',
  audit: 'Who did what, on what, when and why.',
  keys: 'API keys: who may ask, until when, and for what.',
  secret: 'What resume tokens and the tickets of connected agents are signed by.',
  principal: 'Who asks.',
  settings: 'Values that all nodes share, and that change while they run.',
  locks: 'What tasks hold, and who waits for it.',
  demand: 'How many processes the work asks for.',
  leaders: 'Which of the processes leads by a name.',
  nodes: 'The processes that live.',
  stats: 'How much there is.',
  statistics: 'How often, how long, and what fails, by the hour.',
  health: 'How it is: for probes, and for people.',
  probes: 'Endpoints that are watched from outside.',
}

/** The API as OpenAPI 3.1, made of the schemas that validate: the same object each time. */
export function openapi(): Node {
  const { schemas } = z.toJSONSchema(components, { uri: (id) => ref(id), io: 'input' })
  return {
    openapi: '3.1.1',
    info: {
      title: 'Triarch',
      version: '1',
      description: 'Durable tasks over HTTP. Errors are problem details (RFC 9457).',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to this document, wherever the server is mounted.
    servers: [{ url: '.' }],
    security: [{ credentials: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, description: about[name] })),
    paths: Object.fromEntries(
      [...Map.groupBy(routes, ({ path }) => path)].map(([path, group]) => [
        path,
        Object.fromEntries(group.map((route) => [route.method.toLowerCase(), operationOf(route)])),
      ]),
    ),
    components: {
      securitySchemes: {
        credentials: {
          type: 'http',
          scheme: 'bearer',
          description: 'What `authenticate` of the server takes, or an API key',
        },
      },
      responses: {
        Problem: {
          description: 'A problem: `code` says which',
          content: { 'application/problem+json': { schema: { $ref: ref(idOf(problemSchema)) } } },
        },
      },
      schemas: Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema as Node)])),
    },
  }
}

function operationOf(route: Route): Node {
  const { id, summary, query, body, answers, headers = {}, problems = [], open } = route
  const statuses = new Set<number>([
    ...general.filter((status) => !open || (status !== 401 && (status !== 403 || route.method !== 'GET'))),
    ...(route.method === 'GET' ? [] : bodied),
    ...problems,
  ])
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      ...{ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } },
    })),
    ...(query ? parametersOf(query) : []),
    ...Object.entries(headers).map(([name, description]) => ({
      ...{ name, in: 'header', required: false, description, schema: { type: 'string' } },
    })),
  ]
  const responses = Object.entries(answers).map(([status, { description, schema, events, headers = [] }]) => [
    status,
    {
      description,
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map((name) => [name, known[name]])) }),
      ...(schema && { content: { 'application/json': { schema: { $ref: ref(idOf(schema)) } } } }),
      ...(events && { content: { 'text/event-stream': streamOf(events) } }),
    },
  ])
  const refused = [...statuses].sort().map((status) => {
    const problem = { $ref: '#/components/responses/Problem' }
    const own = answers[status]
    if (!own?.schema) return [String(status), problem]
    // Of one status, its media type says which of both it is.
    const content = {
      'application/json': { schema: { $ref: ref(idOf(own.schema)) } },
      'application/problem+json': { schema: { $ref: ref(idOf(problemSchema)) } },
    }
    return [String(status), { description: `${own.description}; or a problem`, content }]
  })
  return {
    ...{ operationId: id, summary, tags: [tagOf(route)] },
    ...(open && { security: [] }),
    ...(rightOf(route) !== null && { 'x-right': rightOf(route) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: { $ref: ref(idOf(body)) } } },
      },
    }),
    responses: Object.fromEntries([...responses, ...refused]),
  }
}

const known = {
  Location: { description: 'Where the task is, relative to the URL that was asked', schema: { type: 'string' } },
  'Retry-After': { description: 'When to ask again (s)', schema: { type: 'string' } },
}

/** The `data` of each event is JSON: `x-events` says of which schema. */
function streamOf(events: Readonly<Record<string, z.ZodType>>): Node {
  const schemas = Object.entries(events).map(([name, schema]) => [name, { $ref: ref(idOf(schema)) }])
  return { schema: { type: 'string' }, 'x-events': Object.fromEntries(schemas) }
}

function parametersOf(query: z.ZodObject): Node[] {
  return Object.entries(query.shape).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false },
    ...(kindOf(query, name) === 'record' && { style: 'deepObject', explode: true }),
    ...(kindOf(query, name) === 'array' && { style: 'form', explode: true }),
    schema: bare(z.toJSONSchema(schema as z.ZodType, { io: 'input' }) as Node),
  }))
}

function idOf(schema: z.ZodType): string {
  const id = components.get(schema)?.id
  if (id === undefined) throw new Error('a body or an answer has no name in the document')
  return id
}

function ref(id: string): string {
  return `#/components/schemas/${id}`
}

function tagOf({ path }: Pick<Route, 'path'>): string {
  return path.split('/')[1] ?? ''
}

function bare({ $schema: _, $id: __, ...schema }: Node): Node {
  return schema
}
