import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Shop, shop } from './shop.ts'

const keys: Readonly<Record<string, readonly unknown[] | undefined>> = {
  root: undefined,
  reader: ['read', 'settings:read'],
  clerk: ['start', 'control'],
  writer: ['settings:write', 'a right of another version'],
  nothing: [],
}

const guarded = () =>
  shop({
    authenticate({ headers }) {
      const id = headers.get('x-key') ?? ''
      return id in keys ? ({ id, ...(keys[id] && { rights: keys[id] }) } as { id: string }) : null
    },
  })

const as = (here: Shop, id: string) => (method: string, path: string, body?: unknown) =>
  here.ask(method, path, body, { 'x-key': id })

it('whoever asks can do what they have the right to, and is told which one they lack', async () => {
  await using here = await guarded()
  await here.triarch.start()
  const setting = '/settings/triarch.agent.bank'
  const word = { value: { priority: 3 }, reason: 'a test', actor: 'somebody else' }
  const acts: [method: string, path: string, body: unknown, right: string][] = [
    ['GET', '/tasks', undefined, 'read'],
    ['POST', '/tasks', { workflow: 'approval', id: 'r-1' }, 'start'],
    ['POST', '/tasks/r-1/pause', {}, 'control'],
    ['PUT', '/schedules/s', { workflow: 'approval', every: '1d' }, 'schedules'],
    ['POST', '/breakers/bank/open', { reason: 'x' }, 'breakers'],
    ['POST', '/rate-limits/bank/restore', { reason: 'x' }, 'rates'],
    ['POST', '/alerts/check%3Ax/end', { reason: 'x' }, 'alerts'],
    ['POST', '/alerts/test', {}, 'alerts'],
    ['POST', '/statistics/recount', {}, 'statistics'],
    ['POST', '/cache/invalidate', { tag: 'x' }, 'caches'],
    ['POST', '/agents/exchange', {}, 'agents'],
    ['GET', setting, undefined, 'settings:read'],
    ['GET', '/settings', undefined, 'settings:read'],
    ['PUT', setting, word, 'settings:write'],
    ['GET', '/audit', undefined, 'audit'],
    ['GET', '/keys', undefined, 'keys'],
    ['POST', '/keys/k/create', { rights: ['read'] }, 'keys'],
    ['POST', '/keys/k/rotate', { reason: 'x' }, 'keys'],
    ['POST', '/keys/k/revoke', { reason: 'x' }, 'keys'],
  ]
  for (const id of ['root', 'reader', 'clerk', 'writer', 'nothing'])
    for (const [method, path, body, right] of acts) {
      const answer = await as(here, id)(method, path, body)
      const may = keys[id]?.includes(right) ?? true
      expect([id, path, answer.status === 403], `${answer.status}`).toEqual([id, path, !may])
      if (!may) expect(await answer.json()).toMatchObject({ code: 'FORBIDDEN', details: { right } })
    }
  expect(await (await as(here, 'reader')('GET', '/principal')).json()).toEqual({
    ...{ id: 'reader', rights: keys.reader, keys: false },
  })
  expect(await (await as(here, 'writer')('GET', '/principal')).json()).toEqual({
    ...{ id: 'writer', rights: ['settings:write'], keys: false },
  })
  expect((await here.ask('GET', '/principal')).status).toBe(401)
  const { changes } = await here.triarch.settings.get('triarch.agent.bank').history()
  expect(changes.map(({ actor }) => actor)).toEqual(['writer', 'root'])
})

it('an agent needs its right for a WebSocket, too', async () => {
  await using here = await guarded()
  const { url } = await here.server.listen({ port: 0, signals: [] })
  const status = (id: string) =>
    new Promise<number | 'open'>((resolve, reject) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/exchange`, 'triarch.v1', {
        headers: { 'x-key': id },
      })
      socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
      socket.on('open', () => {
        resolve('open')
        socket.terminate()
      })
      socket.on('error', reject)
    })
  expect(await Promise.all(['root', 'reader', 'nobody'].map(status))).toEqual(['open', 403, 401])
})

it('rights that are no list grant nothing', async () => {
  await using here = await shop({ authenticate: () => ({ id: 'odd', rights: 'read' as never }) })
  expect((await here.ask('GET', '/tasks')).status).toBe(500)
  expect(here.errors).toMatchObject([{ message: expect.stringContaining('rights') }])
})

it('where nobody is asked who they are, everybody has all rights', async () => {
  await using here = await shop()
  const { id, rights } = await here.json<{ id?: string; rights: string[] }>('GET', '/principal')
  expect([id, rights]).toEqual([undefined, expect.arrayContaining(['read', 'settings:write'])])
})

it('what is refused for want of a right is kept, though nobody can flood the audit by it, and what was done names who and by which request', async () => {
  await using here = await guarded()
  const reader = as(here, 'reader')
  const word = { reason: 'x', value: { priority: 1 } }
  const answer = await here.ask('PUT', '/settings/triarch.agent.bank', word, {
    'x-key': 'writer',
    'x-request-id': 'r-1',
  })
  expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, 'r-1'])
  for (let n = 0; n < 25; n++) await reader('POST', '/breakers/bank/open', { reason: 'x' })
  await reader('POST', '/tasks/r-1/cancel', {})
  await as(here, 'clerk')('GET', '/tasks')
  const { entries } = (await (await as(here, 'root')('GET', '/audit')).json()) as { entries: { action: string }[] }
  expect(entries).toHaveLength(21)
  expect(entries[0]).toMatchObject({
    ...{ actor: 'reader', action: 'breaker.open', subject: 'breaker:bank', outcome: 'refused' },
    ...{ details: { right: 'breakers' }, request: expect.stringMatching(/^[\w-]{36}$/) },
  })
  expect(entries.at(-1)).toMatchObject({
    ...{ actor: 'writer', action: 'setting.set', subject: 'setting:triarch.agent.bank', outcome: 'done' },
    ...{ reason: 'x', request: 'r-1', details: { version: 1 } },
  })
  expect((await reader('GET', '/audit')).status).toBe(403)
  const some = await as(here, 'root')('GET', '/audit?actor=reader&limit=2')
  expect(await some.json()).toMatchObject({ entries: [{}, {}], next: expect.any(String) })
})
