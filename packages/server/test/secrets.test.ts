import { testEngine } from 'triarch/testing'
import { expect, it } from 'vitest'
import { advancing, leaksIn, markOf, secrecy, ways } from '../../triarch/test/engine/secrecy.ts'
import { createServer, type ServerOptions, type TriarchServer } from '../src/index.ts'
import { openapi } from '../src/openapi.ts'
import { judged } from './document.ts'

/** What a stream says until it has nothing to say for the moment. */
async function heard(response: Response, advance: () => Promise<void>): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  let text = ''
  for (let quiet = 0; reader && quiet < 3; ) {
    const next = await Promise.race([reader.read(), advance().then(() => null)])
    if (next?.done) break
    if (next === null) quiet++
    else text += next.value
    if (next === null) continue
  }
  await reader?.cancel()
  return text
}

it('no route, stream or metric says a secret, whatever way it went', async () => {
  const { workflows, agents, play } = secrecy((mark) => `"q\\${mark}'é\n😀 %41+&<x>"`)
  await using engine = await testEngine({ workflows, agents, operations: true, onError: () => undefined })
  const { triarch } = engine
  await play(triarch, advancing(engine))
  const options: ServerOptions = { workflows, open: true, onError: () => undefined }
  const server: TriarchServer = createServer(triarch, options)
  const ids = (await triarch.tasks.list({ limit: 1_000 })).tasks.map(({ id }) => id)
  const named: Record<string, string[]> = { schedules: ['daily'], operations: ['operation'], tasks: ids }
  const leaks: Record<string, string[]> = {}
  const asked: string[] = []
  for (const [path, { get }] of Object.entries(openapi().paths as object) as [
    string,
    { get?: { responses: Record<string, { content?: object }> } },
  ][]) {
    if (!get) continue
    const isStream = 'text/event-stream' in (get.responses['200']?.content ?? {})
    const [, group = ''] = path.split('/')
    const targets = path.includes('{')
      ? (named[group] ?? []).map((id) => path.replace(/\{\w+\}/, encodeURIComponent(id)))
      : [path]
    for (const target of targets) {
      const asks = [target, ...(isStream || path !== '/tasks' ? [] : [`${target}?limit=1000`])]
      for (const ask of asks) {
        const request = new Request(`http://localhost/api/v1${ask}`)
        const response = await server.fetch(request)
        const text = isStream
          ? await heard(response, () => engine.advance('1s'))
          : await (await judged('GET', new URL(request.url).pathname, response)).text()
        if (text.length > 2) asked.push(path)
        const found = leaksIn(text)
        if (found.length > 0) leaks[ask] = found
      }
    }
  }
  expect(leaks).toEqual({})
  for (const path of [
    '/tasks',
    '/tasks/events',
    '/tasks/{id}/events',
    '/tasks/{id}/outcome',
    '/tasks/{id}/history',
    '/operations/{id}',
    '/schedules/{name}',
  ])
    expect(asked).toContain(path)
  // What is looked for is there to be found.
  const whole = JSON.stringify(await Promise.all(ids.map((id) => triarch.tasks.get(id).export({ secrets: true }))))
  expect(ways.filter((way) => way !== 'schedule' && !leaksIn(whole).includes(way))).toEqual([])
  expect(leaksIn(Buffer.from(`x${markOf('input')}`).toString('base64url'))).toEqual(['input'])
  await server.close()
}, 120_000)
