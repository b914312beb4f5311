// Pages of other origins: what a browser lets them do with this server.
import { connect } from '@triarch/client'
import { workflowRef } from 'triarch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judged } from './document.ts'
import { type order, type Shop, shop } from './shop.ts'

const PAGE = 'https://console.example.com'
const simple = new Set(['accept', 'content-type'])

let here: Shop
let url: string
beforeAll(async () => {
  const authenticate = ({ headers }: Request) => (headers.get('authorization') === 'Bearer x' ? { id: 'me' } : null)
  here = await shop({ origins: [PAGE], authenticate })
  await here.triarch.start()
  url = (await here.server.listen({ port: 0, signals: [] })).url
})
afterAll(() => here[Symbol.asyncDispose]())

/** How the browser of a page of this origin fetches: it asks before, and hides what the page may not see. */
const browser = (origin: string) => async (target: string, init: RequestInit) => {
  const headers = new Headers(init.headers)
  const method = init.method ?? 'GET'
  headers.set('origin', origin)
  headers.set('sec-fetch-site', 'cross-site')
  const special = [...headers.keys()].filter((name) => !simple.has(name) && !/^(?:origin|sec-)/.test(name))
  const asks = { origin, 'access-control-request-method': method, 'access-control-request-headers': special.join() }
  const before = await fetch(target, { method: 'OPTIONS', headers: asks })
  const said = (response: Response, name: string) =>
    (response.headers.get(`access-control-${name}`) ?? '').toLowerCase().split(/, */)
  const fits =
    before.ok &&
    said(before, 'allow-origin').includes(origin) &&
    said(before, 'allow-methods').includes(method.toLowerCase()) &&
    special.every((name) => said(before, 'allow-headers').includes(name))
  if (!fits) throw new TypeError('Failed to fetch')
  const response = await judged(method, new URL(target).pathname, await fetch(target, { ...init, headers }))
  if (!said(response, 'allow-origin').includes(origin)) throw new TypeError('Failed to fetch')
  const open = ['content-type', 'cache-control', 'content-length', ...said(response, 'expose-headers')]
  const seen = [...response.headers].filter(([name]) => open.includes(name))
  return new Response(response.body, { status: response.status, headers: seen })
}

describe('a page of another origin that is named', () => {
  it('does with the client what a program does: orders, waits, watches, controls, and reads errors', async () => {
    const client = connect(url, { token: 'x', fetch: browser(PAGE), retry: false })
    const task = await client.submit(workflowRef<typeof order>('order', '1'), { amount: 3 }, { id: 'cors' })
    expect(await task.result()).toEqual({ receipt: 'r-3' })
    for await (const change of client.tasks.watch({ filter: 'id:cors' })) {
      expect(change).toMatchObject({ type: 'page', tasks: [{ id: 'cors' }] })
      break
    }
    await expect(task.pause()).rejects.toMatchObject({ code: 'TASK_STOPPED' })
    await client.schedules.get('cors').register({ workflow: workflowRef('failing'), input: null, every: '1d' })
    await client.schedules.get('cors').remove()
    const stranger = connect(url, { token: 'y', fetch: browser(PAGE), retry: false })
    const unknown = { code: 'REQUEST_REFUSED', details: { code: 'UNAUTHENTICATED' } }
    await expect(stranger.statistics.get()).rejects.toMatchObject(unknown)
  })

  it('is told what it may send, without having to say who it is', async () => {
    const headers = { origin: PAGE, 'access-control-request-method': 'POST' }
    const response = await here.ask('OPTIONS', '/tasks/x/pause', undefined, headers)
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id, triarch-token',
      'access-control-max-age': '600',
      vary: 'origin',
    })
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })
})

describe('a page of an origin that is not', () => {
  it('reads nothing, whatever it says, and no cache gives it what another may read', async () => {
    for (const origin of ['https://evil.example', 'null', `${PAGE}.evil.example`, PAGE.toUpperCase(), '*']) {
      const answers = [
        await here.ask('OPTIONS', '/tasks', undefined, { origin, 'access-control-request-method': 'POST' }),
        await here.ask('GET', '/stats', undefined, { origin, authorization: 'Bearer x' }),
        await here.ask('POST', '/tasks', {}, { origin, authorization: 'Bearer x' }),
      ]
      for (const { headers } of answers) {
        expect(
          [...headers.keys()].filter((name) => name.startsWith('access-control')),
          origin,
        ).toEqual([])
        expect(headers.get('vary')).toBe('origin')
      }
    }
    const evil = connect(url, { token: 'x', fetch: browser('https://evil.example'), retry: false })
    await expect(evil.statistics.get()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE' })
  })

  it('is every one, where none is named', async () => {
    await using closed = await shop()
    const response = await closed.ask('GET', '/stats', undefined, { origin: PAGE })
    expect([...response.headers.keys()].filter((name) => /^access-control|^vary/.test(name))).toEqual([])
  })
})
