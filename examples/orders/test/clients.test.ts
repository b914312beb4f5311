import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PermanentError, TransientError, UnknownOutcomeError } from 'triarch'
import { afterEach, expect, test } from 'vitest'
import { lookup, post } from '../clients.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function serve(answer: (response: ServerResponse, headers: NodeJS.Dict<string | string[]>) => void) {
  server = createServer((request, response) => answer(response, { ...request.headers, url: request.url }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('sends what a step knows of itself', async () => {
  const url = await serve((response, headers) => response.end(JSON.stringify(headers)))
  const seen = await post(`${url}/charge`, {}, { idempotencyKey: 'k', attempt: 2, completeBy: Date.UTC(2100, 0) })
  expect(seen).toMatchObject({ 'idempotency-key': 'k', attempt: '2', 'complete-by': '2100-01-01T00:00:00.000Z' })
  expect(await lookup(url, 'a/b')).toMatchObject({ url: '/by-key/a%2Fb' })
})

test.each([
  [500, {}, undefined],
  [503, { 'retry-after': '2' }, 2000],
  [503, { 'retry-after': '1', 'retry-after-ms': '70' }, 70],
  [429, {}, undefined],
  [408, {}, undefined],
])('%i %o is transient', async (status, headers, retryAfter) => {
  const url = await serve((response) => response.writeHead(status, headers).end())
  const error = await post<never>(url, {}, { idempotencyKey: 'k' }).catch((error) => error)
  expect(error).toBeInstanceOf(TransientError)
  expect(error.retryAfter).toBe(retryAfter)
})

test.each([400, 402, 404, 409, 422])('%i is permanent', async (status) => {
  const url = await serve((response) => response.writeHead(status).end())
  await expect(post(url, {}, { idempotencyKey: 'k' })).rejects.toThrow(PermanentError)
})

test('a broken connection leaves the outcome unknown and keeps its cause', async () => {
  const url = await serve((response) => response.destroy())
  const error = await post<never>(url, {}, { idempotencyKey: 'k' }).catch((error) => error)
  expect(error).toBeInstanceOf(UnknownOutcomeError)
  expect(error.cause).toBeInstanceOf(Error)
})

test('a broken answer leaves the outcome unknown', async () => {
  const url = await serve((response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{')
    setTimeout(() => response.destroy(), 20)
  })
  await expect(post(url, {}, { idempotencyKey: 'k' })).rejects.toThrow(UnknownOutcomeError)
})

test('a refused connection is known to have done nothing', async () => {
  const url = await serve(() => {})
  await new Promise((resolve) => server.close(resolve))
  const error = await post<never>(url, {}, { idempotencyKey: 'k' }).catch((error) => error)
  expect(error).toBeInstanceOf(TransientError)
  expect(error).not.toBeInstanceOf(UnknownOutcomeError)
})

test('a caller that gave up does not know the outcome', async () => {
  const url = await serve(() => {})
  const reason = new Error('too late')
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 30)
  const error = await post<never>(url, {}, { idempotencyKey: 'k', signal: controller.signal }).catch((error) => error)
  expect(error).toBeInstanceOf(UnknownOutcomeError)
  expect(error.cause).toBe(reason)
})

test('nobody waits past complete-by', async () => {
  const url = await serve(() => {})
  await expect(post(url, {}, { idempotencyKey: 'k', completeBy: Date.now() + 30 })).rejects.toThrow(UnknownOutcomeError)
})
