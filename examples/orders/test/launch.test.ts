import { mkdtemp, rm } from 'node:fs/promises'
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
