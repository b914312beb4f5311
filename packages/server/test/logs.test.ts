// The log of a task as it is written: each line once, whoever is cut off meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type ServerOptions, type TriarchServer } from '../src/index.ts'
import { judged } from './document.ts'
import { type Event, events, opened, Reader } from './events.ts'
import type { Shop } from './shop.ts'

/** Says what it is told, and ends with the word `end`. */
const diary = workflow('diary', {
  async run(many: number, task) {
    for (let n = 0; n < many; n++) task.log.info('begun', { n, padding: 'x'.repeat(500) })
    for (;;) {
      const said = (await task.waitForSignal('say')) as string
      if (said === 'end') return
      task.log[said.startsWith('!') ? 'warn' : 'info'](said)
    }
  },
})

const folder = mkdtempSync(join(tmpdir(), 'triarch-logs-'))
const triarch = new Triarch({ store: sqlite(join(folder, 'store.db')), workflows: [diary], notices: false })
beforeAll(() => triarch.start())
afterAll(async () => {
  await triarch.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

type Served = Pick<Shop, 'ask'> & { server: TriarchServer }
function served(options: ServerOptions = {}): Served {
  const server = createServer(triarch, { open: true, ...options })
  const ask: Shop['ask'] = async (method, path, body, headers = {}) => {
    const sent =
      body === undefined ? { headers } : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const request = new Request(`http://localhost/api/v1${path}`, { method, ...sent })
    return judged(method, new URL(request.url).pathname, await server.fetch(request))
  }
  return { server, ask }
}
const here = served()
afterAll(() => here.server.close())

const say = (id: string, ...said: string[]) =>
  Promise.all(said.map((payload) => here.ask('POST', `/tasks/${id}/signal`, { name: 'say', payload })))
const messages = (all: readonly (Event | null)[]) =>
  all.flatMap((it) => (it?.event === 'line' ? [String(it.data.message)] : []))

describe('the stream of a log', () => {
  it('tells the lines that are there and each that comes, until the task has stopped: then there is nothing more to ask', async () => {
    await triarch.submit(diary, 1, { id: 'l-1' })
    await using reader = await opened(here, '/tasks/l-1/logs/events')
    expect(await reader.next()).toMatchObject({ event: 'line', id: '1', data: { seq: 1, message: 'begun' } })
    await say('l-1', 'a')
    expect(await reader.next()).toMatchObject({ id: '2', data: { message: 'a', level: 'info' } })
    await say('l-1', 'b', 'end')
    const [line, end] = await events(reader)
    expect(line).toMatchObject({ id: '3', data: { message: 'b' } })
    expect(end).toMatchObject({ event: 'end', id: '3.end', data: { code: 'TASK_STOPPED', again: false } })
    const headers = { 'last-event-id': end?.id ?? '' }
    expect((await here.ask('GET', '/tasks/l-1/logs/events', undefined, headers)).status).toBe(204)
  })

  it('goes on after the line that was read last, with none lost and none twice, by any server', async () => {
    await triarch.submit(diary, 5, { id: 'l-2' })
    const first = await opened(here, '/tasks/l-2/logs/events')
    const read = [await first.next(), await first.next()]
    await first.close()
    await say('l-2', 'meanwhile')
    await say('l-2', 'end')
    const other = served()
    const headers = { 'last-event-id': read.at(-1)?.id ?? '' }
    await using reader = await opened(other, '/tasks/l-2/logs/events?after=4', headers)
    const rest = await events(reader)
    expect([...read, ...rest].flatMap((it) => (it?.event === 'line' ? it.id : []))).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ])
    expect(messages(rest).at(-1)).toBe('meanwhile')
    await other.server.close()
  })

  it('tells what it is asked for only: lines after one, of a level, of a step', async () => {
    await triarch.submit(diary, 2, { id: 'l-3' })
    await say('l-3', 'quiet', '!loud')
    await say('l-3', 'end')
    const told = async (query: string) => messages(await events(await opened(here, `/tasks/l-3/logs/events?${query}`)))
    const all = await Promise.all([told('level=warn'), told('after=2&limit=1'), told('step=1')])
    expect(all.map((it) => it.sort())).toEqual([['!loud'], ['!loud', 'quiet'], []])
    expect((await here.ask('GET', '/tasks/l-3/logs/events?level=loud')).status).toBe(400)
    expect((await here.ask('GET', '/tasks/nobody/logs/events')).status).toBe(404)
  })

  it('ends for a client that reads nothing, makes room, and goes on where that client was', async () => {
    const small = served({ limits: { streams: 1, stalled: 50 } })
    await triarch.submit(diary, 200, { id: 'l-4' })
    await say('l-4', 'end')
    const slow = await small.ask('GET', '/tasks/l-4/logs/events')
    expect((await small.ask('GET', '/tasks/l-4/logs/events')).status).toBe(503)
    const next = async () => {
      const response = await small.ask('GET', '/stats/events')
      await response.body?.cancel()
      return response.status
    }
    await expect.poll(next, { timeout: 10_000 }).toBe(200)
    const told = await events(new Reader(slow, '/tasks/l-4/logs/events'))
    expect(told.at(-1)).toMatchObject({ event: 'end', data: { code: 'STREAM_TOO_SLOW', again: true } })
    expect(told.length).toBeLessThan(100)
    const headers = { 'last-event-id': told.at(-2)?.id ?? '' }
    const rest = await events(await opened(small, '/tasks/l-4/logs/events', headers))
    expect([...told, ...rest].filter(({ event }) => event === 'line').map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 200 }, (_, n) => n + 1),
    )
    await small.server.close()
  })

  it('ends with a word when the server drains', async () => {
    const other = served()
    await triarch.submit(diary, 1, { id: 'l-5' })
    await using reader = await opened(other, '/tasks/l-5/logs/events')
    await reader.next()
    await other.server.close()
    expect(await reader.next()).toMatchObject({ event: 'end', data: { code: 'STOPPING', again: true } })
    expect(await reader.next()).toBeNull()
    expect((await other.ask('GET', '/tasks/l-5/logs/events')).status).toBe(503)
  })

  it('holds no place once its client has gone, nor for a HEAD', async () => {
    const small = served({ limits: { streams: 1 } })
    await triarch.submit(diary, 1, { id: 'l-6' })
    for (let n = 0; n < 3; n++) {
      expect((await small.ask('HEAD', '/tasks/l-6/logs/events')).status).toBe(200)
      await (await opened(small, '/tasks/l-6/logs/events')).close()
    }
    await small.server.close()
  })
})
