// Requests made of the document, true to it or not: every answer is one that the document has, and the server lives.
// `npm test` asks the same 2,000 each time; FUZZ=1000000 npx vitest run packages/server/test/fuzz asks others, and more.
import { once } from 'node:events'
import fc from 'fast-check'
import type { AgentResponse } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { document, type Operation } from './document.ts'
import { type Shop, shop } from './shop.ts'

const runs = Number(process.env.FUZZ ?? 2_000)
const ids = ['f-1', 'f-2', 'f/3', 'nightly', 'TOKEN']

const nightly = { workflow: 'failing', cron: '0 3 * * *' }

let here: Shop
beforeAll(async () => {
  here = await shop({ limits: { bytes: 20_000, depth: 20, items: 200, url: 2_000, wait: 1 } }, memory())
  await here.triarch.start()
  await here.ask('POST', '/tasks', { workflow: 'approval', id: 'f-1' })
  await here.ask('POST', '/tasks', { workflow: 'order', version: '1', input: { amount: 5_000 }, id: 'f-2' })
  await here.ask('POST', '/tasks', { workflow: 'called', id: 'f/3' })
  await here.ask('PUT', '/schedules/nightly', nightly)
})
afterAll(() => here[Symbol.asyncDispose]())

type Schema = Record<string, unknown>

/** Left out, but for one in so many. */
function rarely(arbitrary: fc.Arbitrary<string>, times: number): fc.Arbitrary<string> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary })
}

const hostile = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    '%',
    '%2e%2e',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    "' OR 1=1 --",
    '${7*7}',
    '/../../',
    '~',
    '*',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 300 }),
)
const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '1e2',
  '1e400',
  '9007199254740993',
  '1e-400',
  '0.1000000000000000055',
  '00',
  'NaN',
)
const anything = fc.oneof(
  fc.json({ maxDepth: 3 }),
  number,
  hostile.map((text) => JSON.stringify(text)),
)

/** A JSON text, mostly one that the schema takes. */
function textFor(schema: Schema): fc.Arbitrary<string> {
  return fc.oneof({ weight: 40, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything })
}

function fitting(schema: Schema): fc.Arbitrary<string> {
  if (typeof schema.$ref === 'string')
    return textFor(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum.map((one) => JSON.stringify(one)))
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((one) => textFor(one as Schema)))
  if (schema.const !== undefined) return fc.constant(JSON.stringify(schema.const))
  switch (schema.type) {
    case 'object':
      return members(schema)
    case 'array':
      return fc.array(textFor(schema.items as Schema), { maxLength: 4 }).map((items) => `[${items.join()}]`)
    case 'string':
      return fc
        .oneof({ weight: 12, arbitrary: said(schema) }, { weight: 1, arbitrary: hostile })
        .map((text) => JSON.stringify(text))
    case 'integer':
    case 'number':
      return fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }).map(String) },
        { weight: 1, arbitrary: number },
      )
    case 'boolean':
      return fc.constantFrom('true', 'false')
    default:
      return anything
  }
}

function said({ format, pattern }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc.constantFrom(
      '2026-01-01T00:00:00Z',
      '2999-12-31T23:59:59+14:00',
      '0000-01-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
    )
  if (pattern !== undefined) return fc.constantFrom('1ms', '0s', '10m', '999999999999d', '1.5h', '7')
  return fc.constantFrom(
    ...ids,
    'order',
    'approval',
    'planned',
    'parent',
    'called',
    '1',
    '2',
    '* * * * *',
    'UTC',
    'decided',
  )
}

/** What makes sense where. */
const vocabulary: Record<string, unknown[]> = {
  workflow: ['approval', 'order', 'planned', 'failing', 'called'],
  version: ['1'],
  input: [{ amount: 1 }, { amount: 5_000 }],
  cron: ['0 3 * * *', '@daily'],
  timeZone: ['Europe/Vienna'],
  name: ['decided'],
  payload: [{ by: 'me' }],
}

function members({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<string> {
  const known = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => {
    const words = vocabulary[name]?.map((word) => JSON.stringify(word))
    const member = (
      words ? fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...words) }, textFor(schema)) : textFor(schema)
    ).map((text) => `${JSON.stringify(name)}:${text}`)
    return (required as string[]).includes(name) ? member : rarely(member, 3)
  })
  const open = typeof additionalProperties === 'object'
  const value = open ? textFor(additionalProperties as Schema) : anything
  const more = rarely(
    fc.tuple(hostile, value).map(([name, text]) => `${JSON.stringify(name)}:${text}`),
    open ? 2 : 40,
  )
  return fc.tuple(...known, more).map((all) => `{${all.filter((one) => one !== '').join()}}`)
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

/** A text that is no JSON is a string. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function queryFor({ parameters = [] }: Operation): fc.Arbitrary<string> {
  const own = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => {
      const values = fitting(schema as Schema).map((text) => {
        const value = parsed(text)
        if (typeof value !== 'object' || value === null)
          return `${name}=${encodeURIComponent(String(value).toWellFormed())}`
        return Object.entries(value)
          .map(
            ([key, one]) =>
              `${name}${Array.isArray(value) ? '' : `[${encodeURIComponent(key.toWellFormed())}]`}=${encodeURIComponent(String(one).toWellFormed())}`,
          )
          .join('&')
      })
      return rarely(values, 4)
    })
  const more = rarely(
    hostile.map((text) => encodeURIComponent(text.toWellFormed())),
    40,
  )
  return fc.tuple(...own, more).map((all) => all.filter((one) => one !== '').join('&'))
}

const segment = fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: hostile })
const requestOf = ({ method, path, operation }: (typeof operations)[number]) => {
  const content = operation.requestBody?.content['application/json']
  return fc.record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom('PATCH', 'PUT', 'OPTIONS', 'HEAD', 'DELETE') },
    ),
    path: fc.tuple(
      ...path
        .split('/')
        .slice(1)
        .map((part) => (part.startsWith('{') ? segment : fc.constant(part))),
    ),
    query: queryFor(operation),
    body: content
      ? fc.oneof(
          { weight: 20, arbitrary: textFor(content.schema) },
          { weight: 1, arbitrary: fc.string({ maxLength: 50 }) },
        )
      : fc.constant(undefined),
    type: fc.oneof(
      { weight: 40, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json;charset=utf-16', 'x') },
    ),
    key: rarely(
      fc.oneof(fc.constantFrom(...ids), fc.string({ maxLength: 20 })).filter((text) => /^[\x20-\x7e]*$/.test(text)),
      3,
    ),
  })
}
// Each is made once: what it is made of is much.
const requests = operations.map(requestOf)
const exchanges = requests[operations.findIndex(({ path }) => path === '/agents/exchange')] ?? expect.fail('no wire')
type Asked = ReturnType<typeof requestOf> extends fc.Arbitrary<infer R> ? R : never

async function ask({ method, path, query, body, type, key }: Asked): Promise<void> {
  const target = `/${path.map((part) => encodeURIComponent(part === 'TOKEN' ? here.token() : part.toWellFormed())).join('/')}${query === '' ? '' : `?${query}`}`
  const given = method === 'GET' || method === 'HEAD' ? undefined : body
  // Few tasks without an id: lists of thousands would be most of what is done here.
  const named = key === '' && path.join('/') === 'tasks' && target.length % 8 > 0 ? 'f-9' : key
  const headers: Record<string, string> = { 'content-type': type, ...(named !== '' && { 'idempotency-key': named }) }
  const response = await here.ask(method, target, given, headers)
  if (response.headers.get('content-type') === 'text/event-stream') await response.body?.cancel()
  // On a busy machine it is true that the server is not ready.
  const isTrue = response.status === 503 && path.join('/') === 'health/ready'
  if (!isTrue) expect(response.status, `${method} ${target} ${given}`).toBeLessThan(500)
  expect(here.errors).toEqual([])
  if (response.status === 204) await here.ask('PUT', '/schedules/nightly', nightly)
}
const how = { numRuns: runs, ...(process.env.FUZZ === undefined && { seed: 1 }) }

it('no request made of the document gets an answer that is not in it, or an error of ours', async () => {
  await expect.poll(() => here.token()).not.toBe('')
  await fc.assert(fc.asyncProperty(fc.oneof(...requests), ask), how)
  expect((await here.ask('GET', '/stats')).status).toBe(200)
}, 36_000_000)

it('no message made of the schemas of the wire does', async () => {
  await fc.assert(fc.asyncProperty(exchanges, ask), how)
  expect((await here.ask('GET', '/agents')).status).toBe(200)
}, 36_000_000)

it('no frame made of them does, on a WebSocket', async () => {
  const { url } = await here.server.listen({ port: 0, signals: [] })
  const open = async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/exchange`)
    socket.on('error', () => undefined)
    await once(socket, 'open')
    const state = { socket, said: 0, settled: Promise.withResolvers<number | null>() }
    // Each frame is heard, or ends its connection.
    socket.on('close', (code: number) => state.settled.resolve(code))
    socket.on('message', (data) => {
      if ((JSON.parse(String(data)) as AgentResponse).heard === state.said) state.settled.resolve(null)
    })
    return state
  }
  let connection = await open()
  const say = async ({ body = '', type }: Asked) => {
    if (connection.socket.readyState !== WebSocket.OPEN) connection = await open()
    connection.settled = Promise.withResolvers()
    connection.socket.send(type === 'x' ? Buffer.from(body) : body)
    // Whoever says nothing asks whether anybody is there.
    connection.socket.send('{"messages":[]}')
    connection.said += 2
    const code = await connection.settled.promise
    expect([null, 1_003, 1_008, 1_009], body).toContain(code)
    expect(here.errors).toEqual([])
  }
  await fc.assert(fc.asyncProperty(exchanges, say), how)
  connection.socket.terminate()
  expect((await here.ask('GET', '/agents')).status).toBe(200)
}, 36_000_000)
