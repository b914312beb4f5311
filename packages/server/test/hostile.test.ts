// Clients that mean harm, over real connections: each is refused or bounded, and the next one is served.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Reads } from '../src/request/reads.ts'
import { type Shop, shop } from './shop.ts'

let here: Shop
let port: number
const sockets: Socket[] = []
beforeAll(async () => {
  here = await shop({ limits: { streams: 20, depth: 20 } }, memory())
  await here.triarch.start()
  port = Number(new URL((await here.server.listen({ port: 0, signals: [] })).url).port)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await here[Symbol.asyncDispose]()
})

/** A connection that said this, and holds on. */
function said(bytes: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  socket.write(bytes)
  return socket
}
/** The status of the first answer to these bytes; '': the connection was cut without one. */
async function statusOf(bytes: string): Promise<string> {
  const socket = said(bytes)
  const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
  socket.destroy()
  return /^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? ''
}
const isServed = async () => expect((await fetch(`http://127.0.0.1:${port}/api/v1/stats`)).status).toBe(200)
const head = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const post = (more: string) =>
  `POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}`

describe('a hostile client', () => {
  it('holds nobody up by requests that it does not finish', async () => {
    for (let n = 0; n < 200; n++)
      said(n % 2 ? post('Content-Length: 1000\r\n\r\n{') : 'GET /api/v1/tasks HTTP/1.1\r\nHo')
    await isServed()
  })

  it('has no more streams than there may be, and leaves their places when it goes', async () => {
    const all = Array.from({ length: 60 }, () => said(head('/api/v1/tasks/events')))
    const answers = await Promise.all(all.map(async (socket) => String(((await once(socket, 'data')) as [Buffer])[0])))
    expect(answers.filter((text) => text.startsWith('HTTP/1.1 200'))).toHaveLength(20)
    expect(answers.filter((text) => text.startsWith('HTTP/1.1 503'))).toHaveLength(40)
    for (const socket of all) socket.destroy()
    await expect.poll(() => statusOf(head('/api/v1/tasks/events'))).toBe('200')
  })

  it.each([
    ['a chunk of no size', post('Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n'), '400'],
    ['a chunk larger than all', post('Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n'), '400'],
    ['an encoding that there is not', post('Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'), '400'],
    ['a negative length', post('Content-Length: -1\r\n\r\n'), '400'],
    ['a length of 2^64', post('Content-Length: 18446744073709551616\r\n\r\n'), '400'],
    ['a header in two lines', head('/api/v1/stats', 'X: a\r\n b\r\n'), '400'],
    ['a smuggled header', head('/api/v1/stats', 'X: a\nTransfer-Encoding: chunked\r\n'), '400'],
    ['a thousand headers', head('/api/v1/stats', 'X: y\r\n'.repeat(3_000)), '431'],
    ['a tunnel', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: localhost\r\n\r\n', ''],
    [
      'another host in its target',
      'GET http://evil.example/api/v1/stats HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      '421',
    ],
    ['steps up in its path', head('/api/v1/tasks/../../../etc/passwd'), '404'],
    ['encoded steps up', head('/api/v1/tasks/%2e%2e/%2e%2e/x'), '404'],
    ['two slashes', head('//api/v1/stats'), '404'],
    ['a backslash', head('/api/v1\\stats'), '400'],
    ['parameters of a path', head('/api/v1/stats;jsessionid=1'), '404'],
  ])('is refused, and the next one is served: %s', async (_, bytes, status) => {
    expect(['', status]).toContain(await statusOf(bytes))
    await isServed()
    expect(here.errors).toEqual([])
  })

  it('changes no prototype, by no name of a member', async () => {
    for (const body of [
      '{"workflow":"failing","input":{"__proto__":{"polluted":1}}}',
      '{"workflow":"failing","tags":{"__proto__":"polluted"}}',
      '{"workflow":"failing","metadata":{"constructor":"x"},"input":{"constructor":{"prototype":{"polluted":1}}}}',
    ])
      expect((await here.ask('POST', '/tasks', body)).status).toBeLessThan(500)
    for (const query of ['tags[__proto__]=1', '__proto__=1', 'tags[__proto__][polluted]=1', 'constructor=1'])
      expect((await here.ask('GET', `/tasks?${query}`)).status).toBeLessThan(500)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    // Left out, it would ask for all tasks.
    expect((await here.ask('GET', '/tasks?tags[__proto__]=1')).status).toBe(400)
  })

  it.each(['0', '1', '9007199254740993', '9999999999999999'])(
    'forges no cursor that breaks a list: %s',
    async (cursor) => {
      for (const path of [
        '/tasks',
        '/operations',
        '/schedules',
        '/workflows',
        '/agents',
        '/locks',
        '/breakers',
        '/rate-limits',
        '/alerts',
      ])
        expect((await here.ask('GET', `${path}?cursor=${cursor}`)).status, path).toBeLessThan(500)
      for (const path of ['/tasks', '/operations', '/schedules', '/locks', '/breakers', '/rate-limits', '/alerts'])
        expect((await here.ask('GET', `${path}?cursor=${'%00'.repeat(10)}`)).status, path).toBeLessThan(500)
      expect(here.errors).toEqual([])
    },
  )

  it('learns nothing by an id of an event that nobody gave', async () => {
    for (const id of ['0.0', '1.x', '-1', 'x'.repeat(10_000), '"', '\u00ff'])
      expect((await here.ask('HEAD', '/tasks/events', undefined, { 'last-event-id': id })).status).toBe(200)
  })

  it.each(['a\0b', 'a\ud800b', 'a\nb', '', 'x'.repeat(201), 'a b', '__proto__'])(
    'offers no agent of a name that no definition may have, and that would make each claim of its node fail: %j',
    async (name) => {
      const hello = { type: 'hello', protocol: 1, instance: 'i', count: 1, running: [] }
      const said = (agents: object[]) => here.ask('POST', '/agents/exchange', { messages: [{ ...hello, agents }] })
      expect((await said([{ name, slots: 1, actions: ['mail.send'] }])).status).toBe(400)
      expect((await said([{ name: 'mail', slots: 1, actions: [`${name}.send`] }])).status).toBe(400)
      expect((await said([{ name: 'mail', slots: 1, actions: [`mail.${name}`] }])).status).toBe(400)
    },
  )

  it.each(['a\0b', 'a\ud800b', 'a\u001b[2Jb'])('names no signal and no lock that no store keeps: %j', async (name) => {
    const said = (message: object) =>
      here.ask('POST', '/agents/exchange', { session: 's', messages: [{ type: 'suspend', attempt: 'a', ...message }] })
    expect((await said({ signals: [{ in: 0, name: 'paid' }] })).status).toBe(200)
    expect((await said({ signals: [{ in: 0, name }] })).status).toBe(400)
    const page = (digest: string, key: string) => ({
      page: { offset: 0, items: [{ input: 1, exclusive: [{ key, ifHeld: 'queue' }] }], last: true, digest },
    })
    expect((await said(page('d', 'k'))).status).toBe(200)
    expect((await said(page('d', name))).status).toBe(400)
    expect((await said(page(name, 'k'))).status).toBe(400)
  })

  it('earns reads by tasks that it creates alone: not by those that are refused or were there before, nor by what its agents say', async () => {
    const earn = vi.spyOn(Reads.prototype, 'earn')
    onTestFinished(() => earn.mockRestore())
    const earned = () => earn.mock.calls.splice(0).reduce((sum, [, times = 1]) => sum + times, 0)
    const tasks = [
      { id: 'earned-1', input: { amount: 1 } },
      { id: 'earned-2', input: { amount: 'x' } },
    ]
    await here.ask('POST', '/submissions', { workflow: 'order', tasks })
    expect(earned()).toBe(1)
    await here.ask('POST', '/submissions', { workflow: 'order', tasks })
    await here.ask('POST', '/tasks', { workflow: 'order', ...tasks[0] })
    await here.ask('POST', '/agents/exchange', { session: 'none', messages: [] })
    expect(earned()).toBe(0)
    await here.ask('POST', '/tasks', { workflow: 'order', input: { amount: 1 } })
    expect(earned()).toBe(1)
  })
})
