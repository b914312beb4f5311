import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { AlertNotification, KeptEndpoint } from 'triarch'
import type { StoreFactory } from 'triarch/store'
import { expect, it } from 'vitest'
import { watching } from './prober.ts'

export interface ProberSubject {
  store: StoreFactory
  /** The same, for another process. */
  target: string
  dispose(): Promise<void>
}

/** A shop that answers as it is told, and a pager that knows again what it was told already: who dies while it tells may say it twice. */
async function outside() {
  const told: Pick<AlertNotification, 'id' | 'news' | 'name' | 'severity'>[] = []
  const shop = { status: 500 }
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === 'POST') {
      const news = JSON.parse(await text(incoming))
      if (!told.some(({ id }) => id === news.id)) told.push(news)
    }
    outgoing.writeHead(incoming.method === 'POST' ? 200 : shop.status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { told, shop, close, where: { url: `${url}?key=secret`, pager: url }, url }
}

/** What real processes promise each other. `module`: watches in a process of its own. */
export function proberSuite(name: string, module: string, make: () => Promise<ProberSubject>): void {
  it(`${name}: whoever follows a killed prober goes on from what it knew, and nobody is told a second time`, async () => {
    const { store, target, dispose } = await make()
    const { told, shop, close, where, url } = await outside()
    const changes: string[] = []
    const { triarch, prober } = watching(store, where, ({ to }) => changes.push(to))
    const stop = new AbortController()
    const known = async () =>
      (await triarch.health.probes({ names: ['shop'], history: true })).endpoints[0] as Required<KeptEndpoint>
    const status = async () => (await triarch.health.check({ checks: ['probes'] })).status
    await triarch.open()
    const child = fork(module, [target, JSON.stringify(where)], { execArgv: [] })
    try {
      expect((await once(child, 'message'))[0]).toBe('down')
      await expect.poll(() => told.length).toBe(1)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const before = await known()
      expect(before).toMatchObject({ url, state: 'down', last: { status: 500, problem: { code: 'status' } } })
      expect(before.streak).toBe(before.history.length)
      expect(await status()).toBe('critical')
      const [alert] = (await triarch.alerts.list()).alerts

      await triarch.start()
      const watched = prober.run(stop.signal)
      await expect.poll(async () => (await known()).streak).toBeGreaterThan(before.streak)
      const after = await known()
      expect([after.state, after.since]).toEqual(['down', before.since])
      expect(after.history.slice(0, before.history.length)).toEqual(before.history)
      expect(after.streak).toBe(after.history.length)
      expect((await triarch.alerts.list()).alerts).toEqual([alert])

      shop.status = 200
      await expect.poll(() => told.map(({ news }) => news)).toEqual(['raised', 'ended'])
      expect(told.map(({ name, severity }) => [name, severity])).toEqual(Array(2).fill(['probe-down:shop', 'critical']))
      expect([changes, await status(), (await known()).state]).toEqual([['up'], 'ok', 'up'])
      stop.abort()
      await watched
    } finally {
      child.kill('SIGKILL')
      stop.abort()
      await triarch.stop({ grace: 0 })
      close()
      await dispose()
    }
  })
}
