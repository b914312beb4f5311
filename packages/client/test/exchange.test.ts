import { TriarchError } from 'triarch/contract'
import { describe, expect, it } from 'vitest'
import { connected } from '../src/connect.ts'
import { type ConnectOptions, connect } from '../src/index.ts'
import { type Answer, cut, json, problem, Surroundings, silence } from './surroundings.ts'

const stats = { tasks: 1, ready: 0, work: 0, inbox: 0, stale: 0, fenced: 0 }
const ref = { name: 'order' }

function asked(answers: Answer[], options: ConnectOptions = {}) {
  const around = new Surroundings(answers)
  return { around, client: connected('https://tasks.example.com/base/', options, around) }
}
const errorOf = (asked: Promise<unknown>) =>
  asked.then(
    () => expect.fail('no error'),
    (error: unknown) => error,
  )

describe('a request', () => {
  it('that gets no answer is sent again, after pauses that grow', async () => {
    const { around, client } = asked([cut, cut, cut, json(200, stats)])
    expect(await client.statistics.get()).toEqual(stats)
    expect(around.asked).toHaveLength(4)
    expect(around.pauses).toEqual([75, 150, 300])
    expect(around.asked[0]?.path).toBe('/base/api/v1/stats')
  })

  it('has the headers that are asked for before each attempt, and none in the place of its own', async () => {
    const traces = ['first', 'second']
    const headers = () => ({
      TraceParent: traces.shift() ?? 'none',
      Authorization: 'Bearer stolen',
      'Content-Type': 'x/y',
    })
    const { around, client } = asked([cut, json(201, { id: 'id-1', created: true })], { token: 's3cret', headers })
    await client.submit(ref, null)
    const said = around.asked.map((it) =>
      ['traceparent', 'authorization', 'content-type'].map((name) => it.headers.get(name)),
    )
    expect(said).toEqual([
      ['first', 'Bearer s3cret', 'application/json'],
      ['second', 'Bearer s3cret', 'application/json'],
    ])
    expect(() => asked([], { headers: {} as () => Record<string, string> })).toThrow('headers must be a function')
  })

  it('that never gets one fails by a code, with its cause', async () => {
    const { around, client } = asked([cut], { retry: { attempts: 3, longest: '120ms' } })
    expect(await errorOf(client.statistics.get())).toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: 'no answer from the server, asked 3 times: fetch failed',
      cause: expect.any(TypeError),
    })
    expect(around.pauses).toEqual([75, 90])
    const once = asked([cut], { retry: false })
    expect(await errorOf(once.client.nodes.list())).toMatchObject({ code: 'SERVER_UNREACHABLE' })
    expect(once.around.asked).toHaveLength(1)
  })

  it('that takes too long is given up, and sent again', async () => {
    const { around, client } = asked([silence, json(200, stats)])
    expect(await client.statistics.get()).toEqual(stats)
    expect(around.asked).toHaveLength(2)
  })

  it('is sent again when the server says so, and when', async () => {
    const later = { 'retry-after': 'Wed, 21 Oct 2026 07:28:03 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }
    const { around, client } = asked([
      problem(503, 'STOPPING', {}, { 'retry-after': '2' }),
      problem(503, 'STORE_BUSY', {}, later),
      problem(429, 'INBOX_FULL', {}, { 'retry-after': '3600' }),
      () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
      json(200, stats),
    ])
    expect(await client.statistics.get()).toEqual(stats)
    expect(around.pauses).toEqual([2_000, 3_000, 5_000, 600])
  })

  it('is not sent again when that would not help', async () => {
    const { around, client } = asked([problem(422, 'INVALID_INPUT', { details: { issues: [] } })])
    const error = await errorOf(client.submit(ref, null))
    expect(error).toBeInstanceOf(TriarchError)
    expect(error).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'the detail of INVALID_INPUT',
      details: { issues: [] },
    })
    expect(around.asked).toHaveLength(1)
  })

  it('to change something has the same id or key each time', async () => {
    const answers = [cut, problem(503, 'STORE_UNANSWERED'), json(201, { id: 'id-1', created: true })]
    const submitted = asked(answers)
    expect(await submitted.client.submit(ref, null)).toMatchObject({ id: 'id-1', isNew: true })
    expect(submitted.around.asked.map(({ body }) => (body as { id: string }).id)).toEqual(['id-1', 'id-1', 'id-1'])
    const met = asked([cut, json(200, { id: 'id-1', created: false })])
    expect((await met.client.submit(ref, null)).isNew).toBeUndefined()
    const told = asked([cut, () => new Response(null, { status: 202 })])
    await told.client.tasks.get('t').signal('paid')
    await told.client.tasks.get('t').pause()
    await told.client.tasks.get('t').once('a "key"').pause()
    const keys = told.around.asked.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toEqual(['"~id-1"', '"~id-1"', '"~id-2"', '"a \\"key\\""'])
  })

  it('for a task that must be new is sent again only if it surely was not done', async () => {
    const reject = { id: 'x', ifExists: 'reject' } as const
    for (const lost of [cut, silence, problem(503, 'STORE_UNANSWERED'), () => new Response(null, { status: 504 })]) {
      const { around, client } = asked([lost, json(201, { id: 'x' })])
      expect(await errorOf(client.submit(ref, null, reject))).toBeInstanceOf(TriarchError)
      expect(around.asked).toHaveLength(1)
    }
    const { client } = asked([problem(503, 'STOPPING'), json(201, { id: 'x' })])
    expect((await client.submit(ref, null, reject)).id).toBe('x')
  })

  it('has the token of the moment, and leads nowhere else with it', async () => {
    let n = 0
    const { around, client } = asked([cut, json(200, stats)], { token: async () => `token-${++n}` })
    await client.statistics.get()
    const sent = around.asked.map(({ headers }) => headers.get('authorization'))
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
    const away = asked([() => new Response(null, { status: 302, headers: { location: 'https://evil.example' } })])
    expect(await errorOf(away.client.statistics.get())).toMatchObject({ code: 'SERVER_ANSWER_INVALID' })
    expect(away.around.asked).toHaveLength(1)
  })

  it('that is called off ends with the reason, also between two attempts', async () => {
    const stop = new AbortController()
    const { client } = asked([
      () => {
        stop.abort('enough')
        throw new TypeError('fetch failed')
      },
    ])
    expect(await errorOf(client.tasks.get('t').result({ signal: stop.signal }))).toBe('enough')
    const silent = asked([silence])
    const other = new AbortController()
    const waiting = errorOf(silent.client.tasks.get('t').result({ signal: other.signal }))
    other.abort('stop')
    expect(await waiting).toBe('stop')
  })
})

describe('an answer', () => {
  const html: Answer = () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })
  const endless: Answer = () =>
    new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(64 * 1024)) }))

  it.each<[string, Answer]>([
    ['that is no JSON', html],
    ['that only says it is', () => new Response('{', { headers: { 'content-type': 'application/json' } })],
    ['of another shape', json(200, { tasks: [null] })],
    ['without what it must have', json(200, { tasks: [{ id: 't', status: 'running' }] })],
    ['that is empty', () => new Response(null, { status: 204 })],
    ['that never ends', endless],
    ['that says it is too large', json(200, {}, { 'content-length': '99999999999' })],
  ])('%s is told by a code, at once', async (_, answer) => {
    const { around, client } = asked([answer])
    expect(await errorOf(client.tasks.list())).toMatchObject({ code: 'SERVER_ANSWER_INVALID' })
    expect(around.asked).toHaveLength(1)
  })

  it('of somebody else is no consent to a control', async () => {
    for (const answer of [html, json(200, {}), () => new Response(null, { status: 204 })])
      expect(await errorOf(asked([answer]).client.tasks.get('t').cancel())).toMatchObject({
        code: 'SERVER_ANSWER_INVALID',
      })
  })

  it('whose body stops in the middle counts as none', async () => {
    const halted: Answer = () =>
      new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{"tasks":')) }))
    const { around, client } = asked([halted, json(200, stats)])
    expect(await client.statistics.get()).toEqual(stats)
    expect(around.asked).toHaveLength(2)
  })

  it.each([
    [401, 'UNAUTHENTICATED', 'REQUEST_REFUSED'],
    [404, 'NO_ROUTE', 'REQUEST_REFUSED'],
    [400, 'INVALID_REQUEST', 'INVALID_OPTION'],
    [413, 'BODY_TOO_LARGE', 'PAYLOAD_TOO_LARGE'],
    [500, 'INTERNAL', 'SERVER_FAILED'],
    [500, 'SOMETHING_NEWER', 'REQUEST_REFUSED'],
    [409, 'TASK_STOPPED', 'TASK_STOPPED'],
  ])('that is a problem, %i %s, is the error %s', async (status, said, code) => {
    const error = await errorOf(asked([problem(status, said)]).client.statistics.get())
    expect(error).toMatchObject({
      name: 'TriarchError',
      code,
      message: expect.stringContaining(`the detail of ${said}`),
    })
    if (code !== said) expect(error).toMatchObject({ details: { code: said, status } })
  })

  it('of a gateway is judged by its status', async () => {
    const page =
      (status: number): Answer =>
      () =>
        new Response('<h1>no</h1>', { status })
    expect(await errorOf(asked([page(403)]).client.nodes.list())).toMatchObject({ code: 'REQUEST_REFUSED' })
    expect(await errorOf(asked([page(500)]).client.nodes.list())).toMatchObject({ code: 'SERVER_ANSWER_INVALID' })
    expect(await errorOf(asked([page(504)]).client.nodes.list())).toMatchObject({ code: 'SERVER_UNREACHABLE' })
  })

  it('that comes at once, where the server has no room to let wait, is not asked for in a hurry', async () => {
    const soon = json(202, undefined)
    const { around, client } = asked([soon, soon, soon, json(200, { outcome: 'success', output: 7 })])
    expect(await client.tasks.get('t').result()).toBe(7)
    expect(around.pauses.filter((ms) => ms < 5_000)).toEqual([100, 200, 400])
  })
})

describe('a schedule that is removed', () => {
  const gone = problem(404, 'UNKNOWN_SCHEDULE')

  it('and is gone when that is asked again, was removed', async () => {
    await asked([cut, gone]).client.schedules.get('daily').remove()
    expect(await errorOf(asked([gone]).client.schedules.get('daily').remove())).toMatchObject({
      code: 'UNKNOWN_SCHEDULE',
    })
    const certain = asked([problem(503, 'STOPPING'), gone]).client.schedules.get('daily')
    expect(await errorOf(certain.remove())).toMatchObject({ code: 'UNKNOWN_SCHEDULE' })
  })
})

it.each<[string, ConnectOptions]>([
  ['tasks.example.com', {}],
  ['ftp://example.com', {}],
  ['https://example.com/?a', {}],
  ['https://me:secret@example.com', {}],
  ['https://example.com', { token: 'two words' }],
  ['https://example.com', { token: 's3cret', insecure: 'yes' as never }],
  ['https://example.com', { timeout: 0 }],
  ['https://example.com', { retry: { attempts: 0 } }],
  ['https://example.com', { answerBytes: 0.5 }],
  ['https://example.com', { fetch: 1 as never }],
])('nobody connects to %s with %j', (url, options) => {
  expect(() => connect(url, options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

it('nobody connects with options that there are not', () => {
  const wrong = { tokens: '' } as ConnectOptions
  expect(() => connect('https://example.com', wrong)).toThrow(expect.objectContaining({ code: 'UNKNOWN_OPTION' }))
})

it.each(['http://tasks.example.com', 'http://10.1.2.3:7070', 'http://localhost.example.com'])(
  'a token goes over http: to no other machine, unless somebody says that it may: %s',
  (url) => {
    for (const token of ['s3cret', () => 's3cret'])
      expect(() => connect(url, { token })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    connect(url, { token: 's3cret', insecure: true })
    connect(url)
    for (const near of ['http://localhost:7070', 'http://127.0.0.1', 'http://[::1]:7070', 'https://tasks.example.com'])
      connect(near, { token: 's3cret' })
  },
)
