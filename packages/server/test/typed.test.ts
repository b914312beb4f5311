// A client that others generate: the types by openapi-typescript, the requests by openapi-fetch, over real HTTP.
import createClient from 'openapi-fetch'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { openapi } from '../src/openapi.ts'
import { judged } from './document.ts'
import { type Shop, shop } from './shop.ts'
import type { paths } from './typed/api.d.ts'

let here: Shop
let client: ReturnType<typeof createClient<paths>>
beforeAll(async () => {
  here = await shop({
    authenticate: ({ headers }) => (headers.get('authorization') === 'Bearer x' ? { id: 'me' } : null),
  })
  await here.triarch.start()
  const { url } = await here.server.listen({ port: 0, signals: [] })
  client = createClient<paths>({
    ...{ baseUrl: `${url}/api/v1`, headers: { authorization: 'Bearer x' } },
    fetch: async (request) => judged(request.method, new URL(request.url).pathname, await fetch(request)),
  })
})
afterAll(() => here[Symbol.asyncDispose]())

/** The body of a good answer. */
async function good<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked
  expect(error, `${response.status}`).toBeUndefined()
  return data as T
}

describe('a generated client', () => {
  it('has the types that are committed; `npx vitest run packages/server/test/typed -u` writes them anew', async () => {
    const made = astToString(await openapiTS(openapi() as never))
    await expect(`// Made by openapi-typescript of openapi.json.\n${made}`).toMatchFileSnapshot('typed/api.d.ts')
  })

  it('orders, asks again, follows the order to its end, and hears of what went wrong by its code', async () => {
    const params = { header: { 'Idempotency-Key': 'o-1' } }
    const body = { workflow: 'order', version: '1', input: { amount: 7 } }
    const receipt = await good(client.POST('/tasks', { params, body }))
    expect(receipt).toEqual({ id: 'o-1', created: true })
    expectTypeOf(receipt.created).toEqualTypeOf<boolean>()
    const again = await client.POST('/tasks', { params: { ...params, query: { wait: '30s' } }, body })
    expect(again.response.status).toBe(200)
    expect(again.data).toEqual({ id: 'o-1', created: false, outcome: 'success', output: { receipt: 'r-7' } })
    const other = await client.POST('/tasks', { params, body: { ...body, input: { amount: 8 } } })
    expect(other.error?.code).toBe('TASK_EXISTS')
    const path = { id: 'o-1' }
    const task = await good(client.GET('/tasks/{id}', { params: { path } }))
    expect(task).toMatchObject({ status: 'stopped', outcome: 'success' })
    expectTypeOf(task.outcome).toExtend<string>()
    const { steps } = await good(client.GET('/tasks/{id}/steps', { params: { path } }))
    expect(steps.map(({ action, status }) => [action, status])).toEqual([['bank.charge', 'success']])
    const { records } = await good(client.GET('/tasks/{id}/history', { params: { path, query: { limit: 1 } } }))
    expect(records[0]?.events[0]?.type).toBe('submitted')
    const query = { filter: 'id:o-1', status: ['stopped' as const], tags: {} }
    const { tasks } = await good(client.GET('/tasks', { params: { query } }))
    expect(tasks.map(({ id }) => id)).toEqual(['o-1'])
    const refused = await client.POST('/tasks', { body: { workflow: 'order', version: '1', input: { amount: 'x' } } })
    expect([refused.response.status, refused.error?.code]).toEqual([422, 'INVALID_INPUT'])
  })

  it('corrects an order that waits, and has it undone', async () => {
    const body = { workflow: 'order', version: '1', input: { amount: 5_000 }, id: 'o-2', tags: { customer: 'ada' } }
    await good(client.POST('/tasks', { body }))
    const params = { path: { id: 'o-2' } }
    const status = async () => (await good(client.GET('/tasks/{id}', { params }))).status
    await expect.poll(status).toBe('paused')
    const query = { tags: { customer: 'ada' }, status: ['paused' as const, 'running' as const] }
    expect((await good(client.GET('/tasks', { params: { query } }))).tasks).toHaveLength(1)
    const retried = await client.POST('/tasks/{id}/retry', { params, body: { step: 1, input: { amount: 5 } } })
    expect(retried.response.status).toBe(202)
    const wait = { ...params, query: { wait: '30s' } }
    expect(await good(client.GET('/tasks/{id}/outcome', { params: wait }))).toMatchObject({
      output: { receipt: 'r-5' },
    })
    await client.POST('/tasks/{id}/compensate', { params, body: {} })
    const outcome = async () => (await good(client.GET('/tasks/{id}', { params: wait }))).outcome
    await expect.poll(outcome).toBe('compensated')
  })

  it('keeps a schedule', async () => {
    const params = { path: { name: 'nightly' } }
    const body = { workflow: 'order', version: '1', input: { amount: 1 }, cron: '0 3 * * *' }
    expect((await client.PUT('/schedules/{name}', { params, body })).response.status).toBe(201)
    const { occurrences } = await good(client.GET('/schedules/{name}/next', { params: { ...params, query: { count: 2 } } })) // biome-ignore format: one line
    expect(occurrences).toHaveLength(2)
    expect((await client.DELETE('/schedules/{name}', { params })).response.status).toBe(204)
    const gone = await client.GET('/schedules/{name}', { params })
    expect(gone.error?.code).toBe('UNKNOWN_SCHEDULE')
  })
})
