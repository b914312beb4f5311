// API keys as they are used: with what they may do, until they are taken away.
import { once } from 'node:events'
import { type Right, type StoreFactory, TriarchError } from 'triarch'
import { memory } from 'triarch/testing'
import { expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { events, opened } from './events.ts'
import { type Shop, shop } from './shop.ts'

const keyed = (options: Parameters<typeof shop>[0] = {}, store?: StoreFactory) =>
  shop({ keys: true, ...options }, store ?? memory())
const made = async (here: Shop, name: string, rights: Right[], expiresIn?: '1h') =>
  (await here.triarch.keys.get(name).create({ rights, ...(expiresIn && { expiresIn }) })).secret
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const as = (here: Shop, secret: string) => (method: string, path: string, body?: unknown) =>
  here.ask(method, path, body, bearer(secret))
const gone = { reason: 'it was in a log' }

it('a key does what its rights let it, under its own name, and is told which right it lacks', async () => {
  await using here = await keyed()
  await here.triarch.start()
  const clerk = as(here, await made(here, 'clerk', ['read', 'start', 'control']))
  expect(await (await clerk('GET', '/principal')).json()).toEqual({
    ...{ id: 'key:clerk', rights: ['read', 'start', 'control'], keys: true },
  })
  expect((await clerk('POST', '/tasks', { workflow: 'approval', id: 't-1', input: null })).status).toBe(201)
  expect((await clerk('POST', '/tasks/t-1/pause', { reason: 'a look', actor: 'somebody else' })).status).toBe(202)
  const refused = await clerk('POST', '/breakers/bank/open', { reason: 'x' })
  expect([refused.status, await refused.json()]).toEqual([
    403,
    expect.objectContaining({ code: 'FORBIDDEN', details: { right: 'breakers' } }),
  ])
  for (const path of ['/keys', '/keys/clerk']) expect((await clerk('GET', path)).status).toBe(403)
  const { entries } = await here.triarch.audit.list({ actor: 'key:clerk' })
  expect(entries.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'breaker.open refused',
    'task.pause done',
  ])
})

it('what is no key, or not any more, is 401; whoever else there is, `authenticate` knows', async () => {
  await using here = await keyed({
    authenticate: ({ headers }) => (headers.get('x-key') === 'ops' ? { id: 'ops', rights: ['read'] } : null),
  })
  const secret = await made(here, 'one', ['read'])
  const status = async (headers: Record<string, string>) => (await here.ask('GET', '/stats', undefined, headers)).status
  expect(await status(bearer(secret))).toBe(200)
  expect(await status({ authorization: `bearer  ${secret}` })).toBe(200)
  expect(await status({ 'x-key': 'ops' })).toBe(200)
  const wrong = [`${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`, `${secret}A`, 'triarch_', 'triarch_one_']
  for (const text of [...wrong, 'other']) expect([text, await status(bearer(text))]).toEqual([text, 401])
  // One that looks like a key of the store is nothing else.
  expect((await here.ask('GET', '/stats', undefined, { ...bearer('triarch_one_x'), 'x-key': 'ops' })).status).toBe(401)
  expect(await status({})).toBe(401)
  await here.triarch.keys.get('one').revoke(gone)
  expect(await status(bearer(secret))).toBe(401)
})

it('nobody hands out a right that they lack, or one for longer than they have it', async () => {
  await using here = await keyed()
  const root = await made(here, 'root', ['read', 'start', 'keys'])
  await made(here, 'other', ['read', 'control'])
  const ask = as(here, root)
  const answer = await ask('POST', '/keys/mine/create', { rights: ['read'], reason: 'a test', actor: 'somebody else' })
  const { secret, key } = (await answer.json()) as { secret: string; key: unknown }
  expect([answer.status, key]).toEqual([
    201,
    expect.objectContaining({ made: expect.objectContaining({ actor: 'key:root' }) }),
  ])
  expect((await as(here, secret)('GET', '/stats')).status).toBe(200)
  const lacks = async (method: string, path: string, body: object, by = ask) => {
    const response = await by(method, path, body)
    const { code, details } = (await response.json()) as { code: string; details: { right: string } }
    return [response.status, code, details?.right]
  }
  expect(await lacks('POST', '/keys/more/create', { rights: ['read', 'control'] })).toEqual([
    403,
    'FORBIDDEN',
    'control',
  ])
  expect(await lacks('POST', '/keys/other/rotate', { reason: 'x' })).toEqual([403, 'FORBIDDEN', 'control'])
  const brief = as(here, await made(here, 'brief', ['read', 'keys'], '1h'))
  for (const expiresIn of [undefined, '2h'])
    expect(await lacks('POST', '/keys/long/create', { rights: ['read'], expiresIn }, brief)).toEqual([
      403,
      'FORBIDDEN',
      'keys',
    ])
  expect(await lacks('POST', '/keys/mine/rotate', { reason: 'x' }, brief)).toEqual([403, 'FORBIDDEN', 'keys'])
  expect((await brief('POST', '/keys/short/create', { rights: ['read'], expiresIn: '30m' })).status).toBe(201)
  // One that ends when they do.
  expect((await brief('POST', '/keys/brief/rotate', { reason: 'x', overlap: '1h' })).status).toBe(200)
  // Taken away it may be by whoever has the right to that.
  expect((await brief('POST', '/keys/other/revoke', gone)).status).toBe(200)
  const { entries } = await here.triarch.audit.list({ actor: 'key:root' })
  expect(entries.map(({ action, subject, outcome }) => `${action} ${subject} ${outcome}`)).toEqual([
    'key.rotate key:other refused',
    'key.create key:more refused',
    'key.create key:mine done',
  ])
})

it('a stream, a long poll and a WebSocket end when their key is taken away, and others go on', async () => {
  await using here = await keyed()
  await here.triarch.start()
  const { url } = await here.server.listen({ port: 0, signals: [] })
  const [bad, good] = [
    await made(here, 'bad', ['read', 'start', 'agents']),
    await made(here, 'good', ['read', 'agents']),
  ]
  await as(here, bad)('POST', '/tasks', { workflow: 'approval', id: 't-1', input: null })
  const agent = async (secret: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/exchange`, 'triarch.v1', {
      headers: bearer(secret),
    })
    await once(socket, 'open')
    return socket
  }
  const sockets = [await agent(bad), await agent(good)] as const
  const closed = once(sockets[0], 'close')
  const streams = await Promise.all(
    ['/tasks/events', '/stats/events', '/tasks/t-1/events', '/tasks/t-1/logs/events'].map((path) =>
      opened(here, path, bearer(bad)),
    ),
  )
  await using other = await opened(here, '/tasks/events', bearer(good))
  const waits = ['/tasks/t-1?wait=60s', '/tasks/t-1/outcome?wait=60s', '/tasks/t-1/change?wait=60s&after=x'].map(
    (path) => as(here, bad)('GET', path),
  )
  const exchange = as(here, bad)('POST', '/agents/exchange', { messages: [], wait: 60_000 })
  await other.until('page', () => true)
  await here.triarch.keys.get('bad').revoke(gone)
  for (const stream of streams)
    expect((await events(stream)).at(-1)).toMatchObject({
      event: 'end',
      data: { code: 'UNAUTHENTICATED', again: true },
    })
  // What was there to be answered at once may have been.
  for (const answer of await Promise.all(waits)) expect([200, 401]).toContain(answer.status)
  expect((await Promise.all(waits)).map(({ status }) => status).slice(0, 2)).toEqual([401, 401])
  expect([200, 401]).toContain((await exchange).status)
  expect((await closed)[0]).toBe(1008)
  await here.triarch.tasks.get('t-1').signal('decided', { by: 'ada' })
  await other.until('task', ({ status }) => status === 'stopped')
  expect(sockets[1].readyState).toBe(WebSocket.OPEN)
  sockets[1].terminate()
})

it('with its store out of reach, a server takes the keys that it knows, and of others nobody can say', async () => {
  let down = false
  const store: StoreFactory = (environment) => {
    const inner = memory()(environment)
    return new Proxy(inner, {
      get(target, name) {
        if (name === 'keyMark')
          return async () => {
            if (down) throw new TriarchError('STORE_UNAVAILABLE', 'nobody is there')
            return target.keyMark()
          }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }
  await using here = await keyed({}, store)
  const [known, other] = [await made(here, 'known', ['read']), await made(here, 'other', ['read'])]
  const status = async (secret: string) => (await as(here, secret)('GET', '/principal')).status
  expect(await status(known)).toBe(200)
  await here.triarch.keys.get('other').revoke(gone)
  down = true
  expect(await status(known)).toBe(200)
  const answer = await as(here, other)('GET', '/principal')
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  const { checks } = await here.triarch.health.check({ checks: ['keys'] })
  expect(checks).toMatchObject([{ name: 'keys', status: 'warning' }])
  down = false
  await vi.waitFor(async () => expect(await status(other)).toBe(401), { timeout: 20_000, interval: 200 })
})

it('a server that takes keys may listen anywhere, and lets nobody in without one', async () => {
  await using here = await keyed()
  const { url } = await here.server.listen({ port: 0, host: '0.0.0.0', signals: [] })
  const at = url.replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${at}/api/v1/stats`)).status).toBe(401)
  const secret = await made(here, 'one', ['read'])
  expect((await fetch(`${at}/api/v1/stats`, { headers: bearer(secret) })).status).toBe(200)
})
