// A server in front of a database that goes down: plain answers meanwhile, and nothing lost of what was accepted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Triarch, workflow } from 'triarch'
import { expect, it } from 'vitest'
import { DatabaseServer } from '../../../examples/orders/database/server.ts'
import { createServer } from '../../server/src/index.ts'
import { events, Reader } from '../../server/test/events.ts'
import { postgres } from '../src/index.ts'

const hold = workflow('hold', { run: (_: null, task) => task.waitForSignal('go') })

it('a server whose database is gone says when to ask again, ends its streams with a word, and keeps what it accepted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-served-'))
  const database = await DatabaseServer.create(folder)
  const store = postgres({ url: database.url(), patience: 500 })
  const triarch = new Triarch({ store, workflows: [hold], notices: false, lease: '2s', onError: () => undefined })
  await triarch.start()
  const server = createServer(triarch, { workflows: [hold], onError: () => undefined })
  const { url } = await server.listen({ port: 0, signals: [] })
  const submit = (id: string) =>
    fetch(`${url}/api/v1/tasks`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ workflow: 'hold', id }),
    })
  const watched = ['/tasks/events', '/tasks/kept/events', '/stats/events']
  try {
    expect((await submit('kept')).status).toBe(201)
    const readers = await Promise.all(
      watched.map(async (path) => new Reader(await fetch(`${url}/api/v1${path}`), path.replace('kept', '{id}'))),
    )
    for (const reader of readers) await reader.next()

    await database.stop('immediate')
    const refused = await submit('not kept')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    // It may have been sent before its connection was known to be gone.
    expect(await refused.json()).toMatchObject({ code: expect.stringMatching(/^STORE_UN(AVAILABLE|ANSWERED)$/) })
    for (const reader of readers)
      expect((await events(reader)).at(-1)).toMatchObject({
        event: 'end',
        data: { code: 'STORE_UNAVAILABLE', again: true },
      })
    for (const path of watched.slice(0, 2)) expect((await fetch(`${url}/api/v1${path}`)).status, path).toBe(503)
    // What there always is begins at once, and says by its end what is wrong.
    const begun = await events(new Reader(await fetch(`${url}/api/v1/stats/events`), '/stats/events'))
    expect(begun).toMatchObject([{ event: 'end', data: { code: 'STORE_UNAVAILABLE', again: true } }])
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    expect((await fetch(`${url}/health/ready`)).status).toBe(503)

    await database.start()
    await expect.poll(async () => (await submit('after')).status, { timeout: 30_000 }).toBe(201)
    const kept = await triarch.tasks.get('kept').status()
    expect(kept.status).not.toBe('stopped')
    await triarch.tasks.get('kept').signal('go')
    await triarch.tasks.get('after').signal('go')
    expect(await triarch.tasks.get('kept').result()).toBeNull()
    expect(await triarch.tasks.get('after').result()).toBeNull()
    const again = new Reader(await fetch(`${url}/api/v1/tasks/events`))
    expect((await again.next())?.event).toBe('page')
    await again.close()
  } finally {
    await server.close()
    await triarch.stop({ grace: 0 })
    await database.stop('immediate')
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
