import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launch, launchService } from '../launch.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orders-'))
})
afterEach(() => rm(dir, { recursive: true }))

test.each(['payment', 'stock', 'shipping', 'mail'] as const)('%s runs in a process of its own', async (name) => {
  const service = await launchService(name, { dir, faults: false })
  expect(await (await fetch(`${service.url}/ledger`)).json()).toEqual({ service: name, receipts: [], effects: [] })
  service.child.stdin?.end()
  await service.kill()
  expect(service.child.exitCode ?? service.child.signalCode).not.toBeNull()
})

test('a service leaves when its parent does', async () => {
  const service = await launchService('mail', { dir, faults: false })
  const gone = new Promise((resolve) => service.child.once('exit', resolve))
  service.child.stdin?.end()
  expect(await gone).toBe(0)
})

test('a process that ends before it is ready is noticed', async () => {
  const silent = launch('services/mail.ts', [])
  await expect(silent).rejects.toThrow('services/mail.ts ended before it was ready')
})

test('the web process lives on when a client goes away in the middle of its order', async () => {
  const web = await launch<{ port: number }>('web.ts', ['--db', join(dir, 'orders.db')])
  const socket = connect(web.ready.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /orders HTTP/1.1\r\nhost: shop\r\ncontent-length: 100\r\n\r\n{ "id": ')
  const url = `http://127.0.0.1:${web.ready.port}/orders`
  // It has been heard once another request was answered on the same event loop.
  expect((await fetch(url, { method: 'POST', body: 'nonsense' })).status).toBe(400)
  socket.destroy()
  const order = { id: 'order-1', item: 'lamp', total: 4_200, email: 'you@example.com' }
  const taken = () => fetch(url, { method: 'POST', body: JSON.stringify(order) })
  expect((await taken()).status).toBe(202)
  expect((await taken()).status).toBe(202)
  await web.kill()
  expect(web.child.exitCode).toBe(0)
})
