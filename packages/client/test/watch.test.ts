// What watches over HTTP do about connections that are cut, end, say nothing, or say what they should not.
import { createServer } from '@triarch/server'
import { Triarch, workflow } from 'triarch'
import { memory } from 'triarch/testing'
import { describe, expect, it } from 'vitest'
import { connected } from '../src/connect.ts'
import { EventReader } from '../src/event.ts'
import { type ConnectOptions, connect } from '../src/index.ts'
import { type Answer, cut, json, problem, Surroundings } from './surroundings.ts'

const at = '2026-01-01T00:00:00.000Z'
const task = (id: string) => ({ id, status: 'running', submittedAt: at, updatedAt: at })
const event = (name: string, data: unknown, id = '') =>
  `${id && `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const over = event('end', { code: 'TASK_STOPPED', again: false })
const again = event('end', { code: 'STOPPING', again: true })

/** A stream that says this, and then ends well, is cut, or says nothing more. */
function stream(said: string, then: 'ends' | 'cut' | 'silence' = 'ends', cancelled?: () => void): Answer {
  let begun = false
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!begun && said !== '') controller.enqueue(new TextEncoder().encode(said))
        else if (then === 'ends') controller.close()
        else if (then === 'cut') controller.error(new TypeError('terminated'))
        const waits = begun && then === 'silence'
        begun = true
        return waits ? new Promise<void>(() => undefined) : undefined
      },
      cancel: () => cancelled?.(),
    })
  return () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
}

function asked(answers: Answer[], options: ConnectOptions = {}) {
  const around = new Surroundings(answers)
  return { around, client: connected('https://tasks.example.com', options, around) }
}
async function told(changes: AsyncIterable<object>) {
  const all: object[] = []
  try {
    for await (const change of changes) all.push(change)
  } catch (error) {
    all.push(error as Error)
  }
  return all
}

const line = (seq: number) => ({ seq, at, level: 'info', message: `m${seq}`, fields: {}, dropped: 0 })

describe('a watch', () => {
  it('that is cut goes on where it was, when the server said', async () => {
    const { around, client } = asked([
      stream(`retry: 3000\n\n${event('page', { tasks: [task('a')] }, '1.x')}`, 'cut'),
      cut,
      stream(event('task', task('b'), '2.y') + again),
      stream(event('gone', { id: 'a' }, '3.z') + over),
    ])
    expect(await told(client.tasks.watch({ filter: 'status:running', limit: 2 }))).toMatchObject([
      { type: 'page', tasks: [{ id: 'a', submittedAt: new Date(at) }] },
      { type: 'task', task: { id: 'b' } },
      { type: 'gone', id: 'a' },
    ])
    expect(around.asked.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '1.x', '1.x', '2.y'])
    expect(around.asked[0]?.headers.get('accept')).toMatch(/^text\/event-stream,/)
    expect(around.pauses.filter((ms) => ms !== 30_000)).toEqual([3_000, 75, 100])
  })

  it('passes over comments, and events of later versions', async () => {
    const said = `: quiet\n\n${event('counted', 1)}${event('counts', { tasks: 1 })}${over}`
    expect(await told(asked([stream(said)]).client.statistics.watch())).toEqual([
      { type: 'counts', counts: { tasks: 1 } },
    ])
  })

  it('says that it was quiet, and takes a connection that says nothing at all for a dead one', async () => {
    const { around, client } = asked([stream('', 'silence'), stream(event('counts', { tasks: 2 }) + over)])
    const all = await told(client.statistics.watch({ quiet: '20s' }))
    expect(all).toEqual([{ type: 'quiet' }, { type: 'quiet' }, { type: 'counts', counts: { tasks: 2 } }])
    expect(around.asked).toHaveLength(2)
  })

  it('fails by a code once nothing came of as many connections as a request may be sent', async () => {
    const { around, client } = asked([stream('')], { retry: { attempts: 3 } })
    expect(await told(client.tasks.watch())).toMatchObject([{ code: 'SERVER_UNREACHABLE' }])
    expect(around.asked).toHaveLength(3)
    const down = asked([problem(503, 'STORE_UNAVAILABLE')], { retry: { attempts: 2 } })
    expect(await told(down.client.tasks.watch())).toMatchObject([{ code: 'STORE_UNAVAILABLE' }])
    expect(down.around.asked).toHaveLength(2)
  })

  it('fails by a code where each connection begins and ends without a word, and not where one was long in waiting', async () => {
    const lost = event('end', { code: 'STORE_UNAVAILABLE', again: true })
    const three = (said: string) => [1, 2, 3].map(() => stream(said))
    const { around, client } = asked(three(`retry: 5\n\n${lost}`), { retry: { attempts: 3 } })
    const [error] = await told(client.statistics.watch())
    expect(error).toMatchObject({ code: 'SERVER_UNREACHABLE' })
    expect(String(error)).toMatch(/the server ended the stream: STORE_UNAVAILABLE/)
    expect(around.asked).toHaveLength(3)
    const waited = three(`retry: 5\n\n: quiet\n\n${lost}`)
    const patient = asked([...waited, stream(event('counts', { tasks: 1 }) + over)], { retry: { attempts: 3 } })
    expect(await told(patient.client.statistics.watch())).toMatchObject([{ type: 'counts' }])
  })

  it('of a log whose task is deleted meanwhile says so, and does not end as if it had stopped', async () => {
    const deleted = event('end', { code: 'UNKNOWN_TASK', again: false })
    const { client, around } = asked([stream(event('line', line(4), '4') + deleted)])
    expect(await told(client.tasks.get('t').watchLogs())).toMatchObject([{ seq: 4 }, { code: 'UNKNOWN_TASK' }])
    expect(around.asked).toHaveLength(1)
  })

  const endless: Answer = () =>
    new Response(new ReadableStream({ pull: (one) => one.enqueue(new TextEncoder().encode('data: '.repeat(500))) }), {
      headers: { 'content-type': 'text/event-stream' },
    })
  it.each<[string, Answer]>([
    ['that is no stream', json(200, { tasks: [] })],
    ['whose event never ends', endless],
    ['whose event is no JSON', stream('event: page\ndata: {\n\n')],
    ['whose event is of another shape', stream(event('page', { tasks: [{}] }))],
    ['that ends without saying why', stream(event('end', null))],
  ])('refuses an answer %s, at once', async (_, answer) => {
    const { around, client } = asked([answer], { answerBytes: 20_000 })
    expect(await told(client.tasks.watch())).toMatchObject([{ code: 'SERVER_ANSWER_INVALID' }])
    expect(around.asked).toHaveLength(1)
  })

  it('lets its connection go when it is called off, and when nobody listens any more', async () => {
    for (const way of ['abort', 'break']) {
      const gone = Promise.withResolvers<void>()
      const { client } = asked([stream(event('counts', { tasks: 1 }), 'silence', () => gone.resolve())])
      const stop = new AbortController()
      const all: unknown[] = []
      try {
        for await (const { type } of client.statistics.watch({ signal: stop.signal })) {
          all.push(type)
          if (way === 'break') break
          stop.abort('enough')
        }
      } catch (error) {
        all.push(error)
      }
      expect(all).toEqual(way === 'break' ? ['counts'] : ['counts', 'enough'])
      await gone.promise
    }
  })

  it('asks for no more of a log when it is called off, not even for what it had asked', async () => {
    const stop = new AbortController()
    const waits: Answer = (_, { signal }) => {
      queueMicrotask(() => stop.abort('enough'))
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    const { around, client } = asked([waits])
    expect(await told(client.tasks.get('t').watchLogs({ signal: stop.signal }))).toEqual(['enough'])
    expect(around.asked).toHaveLength(1)
  })

  it('of a log that is cut goes on after the line that it told last', async () => {
    let query = ''
    const first: Answer = (url, init) => {
      query = new URL(url).search
      return stream(event('line', line(4), '4') + event('line', line(5), '5'), 'cut')(url, init)
    }
    const { around, client } = asked([first, stream(event('counted', 1, '5') + event('line', line(6), '6') + over)])
    const all = await told(client.tasks.get('t').watchLogs({ level: 'info', after: 3 }))
    expect(all).toMatchObject([{ seq: 4, at: new Date(at) }, { seq: 5 }, { seq: 6, message: 'm6' }])
    expect(around.asked.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '5'])
    expect(query).toBe('?level=info&after=3')
    const misshapen = asked([stream(event('line', { at: 'soon' }))])
    expect(await told(misshapen.client.tasks.get('t').watchLogs())).toMatchObject([{ code: 'SERVER_ANSWER_INVALID' }])
    const unknown = asked([problem(404, 'UNKNOWN_TASK')])
    expect(await told(unknown.client.tasks.get('t').watchLogs())).toMatchObject([{ code: 'UNKNOWN_TASK' }])
  })

  it('goes on at the next server, and is told what changed meanwhile', async () => {
    const approval = workflow('approval', { run: (_: null, task) => task.waitForSignal('decided') })
    await using triarch = new Triarch({ store: memory(), workflows: [approval], notices: false })
    await triarch.start()
    const first = createServer(triarch)
    const { url } = await first.listen({ port: 0, signals: [] })
    await using second = createServer(triarch)
    const seen: string[] = []
    for await (const change of connect(url, { retry: { longest: '20ms', attempts: 50 } }).tasks.watch({ limit: 5 })) {
      const tasks = change.type === 'page' ? change.tasks : change.type === 'task' ? [change.task] : []
      for (const { id } of tasks) if (!seen.includes(id)) seen.push(id)
      if (change.type === 'page' && seen.length === 0) {
        await first.close()
        await triarch.submit(approval, null, { id: 'meanwhile' })
        await second.listen({ port: Number(new URL(url).port), signals: [] })
      }
      if (seen.length > 0) break
    }
    expect(seen).toEqual(['meanwhile'])
  })
})

describe('events', () => {
  it('are read the same wherever the text is cut, and whatever its lines end with', () => {
    const said = 'retry: 7\r\rid: 1\nevent: a\r\ndata: x\r\ndata:y\n\n: no\rdata: "ü: "\r\revent: b\n\ndata\nid\n\n'
    const all = [
      { event: 'a', data: 'x\ny', id: '1' },
      { event: 'message', data: '"ü: "', id: '1' },
      { event: 'message', data: '', id: '' },
    ]
    for (let cutAt = 0; cutAt <= said.length; cutAt++) {
      const reader = new EventReader()
      expect([...reader.read(said.slice(0, cutAt)), ...reader.read(said.slice(cutAt))], `${cutAt}`).toEqual(all)
      expect([reader.retry, reader.size]).toEqual([7, 0])
    }
    const slowly = new EventReader()
    expect([...said].flatMap((character) => slowly.read(character))).toEqual(all)
  })
})
