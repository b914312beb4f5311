import { type StoreFactory, TriarchError } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseJson } from '../src/request/json.ts'
import { order, type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop({ limits: { bytes: 2_000, depth: 10, items: 50, url: 300, waiting: 1, wait: 600_000 } })
})
afterAll(() => here[Symbol.asyncDispose]())

const refusal = async (response: Response) => {
  const { code } = (await response.json()) as { code: string }
  return [response.status, code]
}
const submit = (body: unknown, headers: Record<string, string> = {}) => here.ask('POST', '/tasks', body, headers)

describe('a body', () => {
  it.each([
    ['a body of more bytes than may be', JSON.stringify({ workflow: 'x'.repeat(2_000) }), 413, 'BODY_TOO_LARGE'],
    ['what is no JSON', '{"workflow":', 400, 'INVALID_JSON'],
    ['what is nested too deep', '['.repeat(11), 400, 'INVALID_JSON'],
    ['what has too many items', JSON.stringify(Array(51).fill(0)), 400, 'INVALID_JSON'],
    [
      'what has too many members',
      JSON.stringify(Object.fromEntries([...Array(51).keys()].entries())),
      400,
      'INVALID_JSON',
    ],
    [
      'a number that would be rounded',
      '{"workflow":"order","input":{"amount":9007199254740993}}',
      400,
      'INEXACT_NUMBER',
    ],
    ['a number that is too large', '{"workflow":"order","input":{"amount":1e400}}', 400, 'INEXACT_NUMBER'],
    ['another prototype', '{"workflow":"order","__proto__":{"id":"x"}}', 400, 'INVALID_REQUEST'],
    ['another prototype of tags', '{"workflow":"order","tags":{"__proto__":"x"}}', 400, 'INVALID_REQUEST'],
    ['another prototype of metadata', '{"workflow":"order","metadata":{"__proto__":"x"}}', 400, 'INVALID_REQUEST'],
  ])('is refused: %s', async (_, body, status, code) => {
    expect(await refusal(await submit(body))).toEqual([status, code])
  })

  it('may name tags and metadata as members of every object are named', async () => {
    const names = { constructor: 'a', toString: 'b', hasOwnProperty: 'c', valueOf: 'd' }
    const made = await submit({ workflow: 'order', id: 'named', input: { amount: 1 }, tags: names, metadata: names })
    expect(made.status).toBe(201)
    const task = (await (await here.ask('GET', '/tasks/named')).json()) as { tags: object; metadata: object }
    expect([task.tags, task.metadata]).toEqual([names, names])
    await submit({ workflow: 'order', id: 'unnamed', input: { amount: 1 } })
    for (const query of ['tags[toString]=b', 'filter=tag.constructor:a', 'filter=tag.valueOf:*']) {
      const { tasks } = (await (await here.ask('GET', `/tasks?${query}`)).json()) as { tasks: { id: string }[] }
      expect(
        tasks.map(({ id }) => id),
        query,
      ).toEqual(['named'])
    }
    for (const name of ['constructor', 'toString', '__proto__'])
      expect((await here.ask('GET', `/tasks?filter=${name}:a`)).status, name).toBe(400)
  })

  it('is JSON, and says so', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'jsonapplication/json',
    ])
      expect(await refusal(await submit('{}', { 'content-type': type })), type).toEqual([415, 'NOT_JSON'])
    for (const type of ['application/json', 'APPLICATION/JSON; charset="UTF-8"', 'application/cloudevents+json'])
      expect((await submit({ workflow: 'order', input: { amount: 1 } }, { 'content-type': type })).status, type).toBe(
        201,
      )
  })

  it('is refused by its type also where none is taken, as the document says', async () => {
    const plain = { 'content-type': 'text/plain' }
    expect((await here.ask('DELETE', '/schedules/none', 'plainly', plain)).status).toBe(415)
  })

  it('is in UTF-8', async () => {
    const body = Buffer.from('{"workflow":"\xff"}', 'latin1')
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://localhost/api/v1/tasks', { method: 'POST', body, headers })
    expect(await refusal(await here.server.fetch(request))).toEqual([400, 'INVALID_JSON'])
  })

  it('is read no further than it may be, whatever it says of its length', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_000
        controller.enqueue(new Uint8Array(1_000))
      },
    })
    // As when somebody on the way takes a compressed body apart, and leaves the header.
    const headers = { 'content-type': 'application/json', 'content-length': '5' }
    const init = { method: 'POST', body: endless, duplex: 'half', headers }
    const response = await here.server.fetch(new Request('http://localhost/api/v1/tasks', init as RequestInit))
    expect(await refusal(response)).toEqual([413, 'BODY_TOO_LARGE'])
    expect(sent).toBeLessThan(10_000)
  })
})

describe('a number', () => {
  const bounds = { depth: 100, items: 100 }

  it.each([
    '0',
    '-0',
    '1.0',
    '1e2',
    '100e-2',
    '0.1',
    '9007199254740992',
    '1.7976931348623157e308',
    '5e-324',
    '123456789.12345679',
    '0.000000000000000000001',
  ])('that a double has is taken as it is: %s', (text) => {
    expect(parseJson(`[${text}]`, bounds)).toEqual([Number(text)])
  })

  it.each([
    '9007199254740993',
    '0.1000000000000000055',
    '1e309',
    '1e-400',
    '3.14159265358979323846',
    '123456789012345678',
  ])('that would become another one is refused: %s', (text) => {
    expect(() => parseJson(`{"a":[${text}]}`, bounds)).toThrow('would be rounded')
  })

  it('is compared in one pass, whatever its length', () => {
    const zeros = '0'.repeat(500_000)
    expect(parseJson(`[1.${zeros}]`, bounds)).toEqual([1])
    expect(() => parseJson(`[1${zeros}1]`, bounds)).toThrow('would be rounded')
    expect(() => parseJson(`[1.${zeros}1]`, bounds)).toThrow('would be rounded')
    expect(() => parseJson(`[1e${zeros}9]`, bounds)).not.toThrow()
    expect(() => parseJson(`[1e-9${zeros}]`, bounds)).toThrow('would be rounded')
    expect(parseJson(`["${'\\\\'.repeat(250_000)}"]`, bounds)).toHaveLength(1)
  })

  it('in a string is none', () => {
    expect(parseJson('["9007199254740993\\"", "\\\\", [{}]]', bounds)).toEqual(['9007199254740993"', '\\', [{}]])
  })
})

describe('a request', () => {
  it('has a URL of so many characters', async () => {
    expect(await refusal(await here.ask('GET', `/tasks?workflow=${'x'.repeat(300)}`))).toEqual([414, 'URL_TOO_LONG'])
  })

  it('is for something that is there, by a method that it takes', async () => {
    await using here = await shop()
    expect(await refusal(await here.ask('GET', '/nothing'))).toEqual([404, 'NO_ROUTE'])
    expect(await refusal(await here.ask('GET', '/tasks/'))).toEqual([404, 'NO_ROUTE'])
    const wrong = await here.ask('DELETE', '/tasks')
    expect(wrong.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS')
    expect(await refusal(wrong)).toEqual([405, 'METHOD_NOT_ALLOWED'])
    const options = await here.ask('OPTIONS', '/tasks/x/pause')
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS'])
    const head = await here.ask('HEAD', '/tasks')
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it.each(['%', '%zz', '%c3%28'])('has a path of whole characters: %s', async (id) => {
    expect(await refusal(await here.ask('GET', `/tasks/${id}`))).toEqual([400, 'INVALID_REQUEST'])
  })

  it.each(['..%2f..%2fetc', '%2525', '%25', 'a%2Fb', '%00', 'constructor', '__proto__', ':id', '*'])(
    'asks for the task of its path, and nothing else: %s',
    async (id) => {
      const [status, code] = await refusal(await here.ask('GET', `/tasks/${id}`))
      expect(id === '%00' ? [400, 'INVALID_NAME'] : [404, 'UNKNOWN_TASK']).toEqual([status, code])
    },
  )

  it('waits with others, as many as may; one more is answered at once', async () => {
    await here.triarch.start()
    await submit({ workflow: 'approval', id: 'long' })
    const first = here.ask('GET', '/tasks/long?wait=10m')
    await expect.poll(async () => (await here.ask('GET', '/tasks/long?wait=10m')).status).toBe(200)
    await here.server.close()
    expect((await first).status).toBe(200)
    expect(await refusal(await here.ask('GET', '/tasks/long'))).toEqual([503, 'STOPPING'])
  })
})

describe('who asks', () => {
  it('is known, or hears nothing: only a token is its own right', async () => {
    await using guarded = await shop({
      authenticate: async ({ headers }) => (headers.get('authorization') === 'Bearer x' ? { id: 'me' } : null),
    })
    const unknown = await guarded.ask('GET', '/tasks')
    expect(unknown.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refusal(unknown)).toEqual([401, 'UNAUTHENTICATED'])
    expect((await guarded.ask('GET', '/openapi.json')).status).toBe(401)
    expect((await guarded.ask('GET', '/tasks', undefined, { authorization: 'Bearer x' })).status).toBe(200)
    expect((await guarded.ask('POST', '/tokens/none', {})).status).toBe(404)
  })

  it('is nobody when nobody can say who it is', async () => {
    await using guarded = await shop({
      authenticate: () => Promise.reject('no Error at all'),
    })
    expect(await refusal(await guarded.ask('GET', '/tasks'))).toEqual([500, 'INTERNAL'])
    expect(guarded.errors).toEqual(['no Error at all'])
  })

  it('is no page of another origin, where something is to change', async () => {
    await using open = await shop({ origins: ['https://console.example.com'] })
    const status = async (headers: Record<string, string>, method = 'POST') =>
      (await open.ask(method, method === 'GET' ? '/tasks' : '/tasks/x/pause', undefined, headers)).status
    expect(await status({ origin: 'https://evil.example', host: 'localhost' })).toBe(403)
    expect(await status({ origin: 'null' })).toBe(403)
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await status({ 'sec-fetch-site': 'same-site', origin: 'https://other.example.com' })).toBe(403)
    expect(await status({ origin: 'https://console.example.com', 'sec-fetch-site': 'cross-site' })).toBe(404)
    expect(await status({ 'sec-fetch-site': 'same-origin', origin: 'http://localhost' })).toBe(404)
    expect(await status({ origin: 'http://localhost', host: 'localhost' })).toBe(404)
    expect(await status({ origin: 'https://evil.example' }, 'GET')).toBe(200)
  })
})

it('an answer is refused while those that nobody has read yet hold all that they may', async () => {
  await using full = await shop({ limits: { held: 300_000 } })
  await full.json('POST', '/tasks', { workflow: 'approval', id: 'large', input: 'x'.repeat(200_000) })
  const ask = () => full.server.fetch(new Request('http://localhost/api/v1/tasks/large/history'))
  const unread = await ask()
  expect(unread.status).toBe(200)
  expect(await refusal(await ask())).toEqual([429, 'TOO_MANY_REQUESTS'])
  expect(await unread.text()).toContain('x'.repeat(200_000))
  const next = await ask()
  expect(next.status).toBe(200)
  await next.body?.cancel()
})

it('an `authenticate` that never answers holds no request for longer than 10 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await using slow = await shop({ authenticate: () => new Promise<null>(() => undefined) })
  const asked = slow.ask('GET', '/tasks')
  await vi.advanceTimersByTimeAsync(9_999)
  let isAnswered = false
  void asked.then(() => {
    isAnswered = true
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(isAnswered).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  const answer = await asked
  expect([answer.headers.get('retry-after'), ...(await refusal(answer))]).toEqual(['1', 503, 'AUTHENTICATION_TIMEOUT'])
})

it('a problem is shown by no browser as anything else', async () => {
  await using other = await shop()
  for (const path of ['/nothing', '/tasks?limit=x', '/tasks/none'])
    expect((await other.ask('GET', path)).headers.get('x-content-type-options'), path).toBe('nosniff')
})

describe('what goes wrong inside', () => {
  let fault: Error | null = null
  const store: StoreFactory = (environment) =>
    new Proxy(memory()(environment), {
      get(target, key) {
        const found: unknown = Reflect.get(target, key)
        if (typeof found !== 'function') return found
        return (...args: unknown[]) => {
          if (fault && ['submit', 'list'].includes(String(key))) return Promise.reject(fault)
          return found.apply(target, args)
        }
      },
    })

  it('is a 503 with Retry-After when the store is down, and nobody hears where it is', async () => {
    await using down = await shop({}, store)
    fault = new TriarchError('STORE_UNAVAILABLE', 'db-7.internal refused the password of admin')
    for (const response of [
      await down.ask('GET', '/tasks'),
      await down.ask('POST', '/tasks', { workflow: order.name, input: { amount: 1 } }),
    ]) {
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('1')
      const text = await response.text()
      expect(JSON.parse(text)).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(text).not.toContain('db-7')
    }
    expect(down.errors).toEqual([fault, fault])
    fault = null
    expect((await down.ask('GET', '/tasks')).status).toBe(200)
  })

  it('is a 500 that tells nothing, and onError hears it, whatever onError does', async () => {
    const heard: unknown[] = []
    const onError = (error: unknown) => {
      heard.push(error)
      throw new Error('onError fails')
    }
    await using broken = await shop({ onError }, store)
    fault = new TypeError('Cannot read properties of /srv/app/secret.ts')
    const response = await broken.ask('GET', '/tasks')
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      type: 'https://github.com/triarch-dev/triarch/blob/main/docs/concepts/server.md#problems',
      ...{ title: 'Something went wrong inside', status: 500, code: 'INTERNAL' },
      detail: 'The log of the server says more.',
    })
    expect(heard).toEqual([fault])
    fault = null
  })
})
