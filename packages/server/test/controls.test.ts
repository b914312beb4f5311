import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop()
  await here.triarch.start()
})
afterAll(() => here[Symbol.asyncDispose]())

const submit = (body: object, query = '') => here.json('POST', `/tasks${query}`, body)
const control = async (id: string, name: string, body?: unknown) =>
  (await here.ask('POST', `/tasks/${id}/${name}`, body)).status
const becomes = (id: string, state: object) => expect.poll(() => here.json('GET', `/tasks/${id}`)).toMatchObject(state)

describe('an operator, from outside', () => {
  it('pauses with a reason and resumes, with or without a body', async () => {
    await submit({ workflow: 'approval', id: 'c-1' })
    expect(await control('c-1', 'pause', { reason: 'stock-taking' })).toBe(202)
    await becomes('c-1', { status: 'paused', pause: { cause: 'operator', reason: 'stock-taking' } })
    expect(await control('c-1', 'resume')).toBe(202)
    await becomes('c-1', { status: 'running' })
    expect(await control('c-1', 'cancel', { reason: 'no more', compensate: false })).toBe(202)
    await becomes('c-1', { outcome: 'cancelled' })
  })

  it('is named in the history: by the server where it knows them, else by the request', async () => {
    const heard = async (shop: Shop, body: object) => {
      await shop.json('POST', '/tasks', { workflow: 'approval', id: 'named' })
      expect((await shop.ask('POST', '/tasks/named/cancel', { compensate: false, ...body })).status).toBe(202)
      await expect.poll(() => shop.json('GET', '/tasks/named')).toMatchObject({ outcome: 'cancelled' })
      const { records } = await shop.json<{ records: { events: object[] }[] }>('GET', '/tasks/named/history')
      return records.flatMap(({ events }) => events).find((event) => 'actor' in event)
    }
    expect(await heard(here, { actor: 'ada', reason: 'no more' })).toMatchObject({ actor: 'ada', reason: 'no more' })
    await using guarded = await shop({ authenticate: () => ({ id: 'bob' }) })
    await guarded.triarch.start()
    expect(await heard(guarded, { actor: 'ada' })).toMatchObject({ type: 'closing', actor: 'bob' })
    expect((await here.ask('POST', '/tasks/named/pause', { actor: 'x'.repeat(201) })).status).toBe(400)
  })

  it('retries and skips the step that failed', async () => {
    const big = { workflow: 'order', input: { amount: 2_000 } }
    await submit({ ...big, id: 'held-1' })
    await submit({ ...big, id: 'held-2' })
    await becomes('held-1', { status: 'paused', steps: [{ held: 'step' }] })
    expect(await control('held-1', 'retry', { step: 1, input: { amount: 5 } })).toBe(202)
    await becomes('held-1', { outcome: 'success', output: { receipt: 'r-5' } })
    await becomes('held-2', { status: 'paused' })
    expect(await control('held-2', 'skip', { step: 1, output: { receipt: 'cash' } })).toBe(202)
    await becomes('held-2', { outcome: 'warning', output: { receipt: 'cash' } })
    expect(await control('held-2', 'compensate', {})).toBe(202)
    await becomes('held-2', { outcome: 'compensated' })
  })

  it('who sends a request again under its key changes nothing, and hears no error', async () => {
    await submit({ workflow: 'approval', id: 'k-1' })
    const keyed = async (name: string, body: unknown, key: string) =>
      (await here.ask('POST', `/tasks/k-1/${name}`, body, { 'idempotency-key': key })).status
    expect(await keyed('pause', {}, 'k')).toBe(202)
    await becomes('k-1', { status: 'paused' })
    expect(await keyed('resume', {}, '"k"')).toBe(202)
    await becomes('k-1', { status: 'running' })
    expect(await keyed('pause', {}, 'k')).toBe(202)
    expect(await keyed('cancel', { compensate: false }, 'c')).toBe(202)
    await becomes('k-1', { outcome: 'cancelled' })
    expect(await keyed('cancel', { compensate: false }, 'c')).toBe(202)
    expect(await keyed('cancel', {}, 'd')).toBe(409)
    expect(await keyed('pause', {}, 'x'.repeat(201))).toBe(400)
    const { records } = await here.json<{ records: { events: { type: string }[] }[] }>('GET', '/tasks/k-1/history')
    const types = records.flatMap(({ events }) => events.map(({ type }) => type))
    expect(types.filter((type) => type === 'paused')).toHaveLength(1)
  })

  it('who sends another one under the same key is refused: 409, whether the first was taken yet or not', async () => {
    await submit({ workflow: 'approval', id: 'k-2' })
    const keyed = (name: string, body: unknown, key: string) =>
      here.ask('POST', `/tasks/k-2/${name}`, body, { 'idempotency-key': key })
    expect((await keyed('pause', { reason: 'audit' }, 'p')).status).toBe(202)
    expect((await keyed('pause', { reason: 'audit' }, 'p')).status).toBe(202)
    const other = await keyed('pause', { reason: 'lunch' }, 'p')
    expect([other.status, await other.json()]).toMatchObject([409, { code: 'REQUEST_DIFFERS' }])
    await becomes('k-2', { status: 'paused' })
    expect((await keyed('pause', { reason: 'lunch' }, 'p')).status).toBe(409)
    // Two at once: one of them counts.
    const both = await Promise.all(
      ['ann', 'bob'].map((by) => keyed('signal', { name: 'decided', payload: { by } }, 's')),
    )
    expect(both.map(({ status }) => status)).toContain(409)
    expect((await keyed('resume', {}, 'p')).status).toBe(202)
    await becomes('k-2', { outcome: 'success' })
    expect((await keyed('signal', { name: 'decided', payload: { by: 'eve' } }, 's')).status).toBe(409)
  })

  it('thaws what was frozen', async () => {
    await submit({ workflow: 'order', input: { amount: 1 }, id: 'ice', frozen: true })
    expect(await control('ice', 'thaw')).toBe(202)
    await becomes('ice', { outcome: 'success' })
    await submit({ workflow: 'planned', input: { amount: 7 }, id: 'asked', frozen: true })
    expect(await here.json('GET', '/tasks/asked/plan')).toMatchObject({
      plan: { steps: [{ action: 'bank.charge', input: { amount: 7 }, standing: 'ready' }] },
    })
    expect(await here.json('GET', '/tasks/asked/explain')).toMatchObject({ reasons: [{ code: 'frozen', planned: 1 }] })
    expect(await control('asked', 'thaw')).toBe(202)
    await becomes('asked', { outcome: 'success' })
    expect(await control('ice', 'thaw', { startAt: '2999-01-01T00:00:00Z' })).toBe(409)
  })

  it('hears that it does not fit: 409, 404, 422', async () => {
    await submit({ workflow: 'failing', id: 'over' }, '?wait=30s')
    expect(await control('over', 'pause')).toBe(409)
    expect(await control('over', 'resume')).toBe(409)
    expect(await control('over', 'signal', { name: 'decided' })).toBe(409)
    for (const name of ['cancel', 'pause', 'resume', 'retry', 'compensate', 'thaw'])
      expect(await control('nobody', name), name).toBe(404)
    await submit({ workflow: 'approval', id: 'asks' })
    expect(await control('asks', 'signal', { name: 'decided', payload: { by: 1 } })).toBe(422)
  })

  it.each([
    ['skip', {}],
    ['skip', { step: 0 }],
    ['retry', { step: 1.5 }],
    ['pause', { why: 'x' }],
    ['signal', {}],
    ['cancel', []],
    ['cancel', 'null'],
  ])('is refused where %s says %j', async (name, body) => {
    expect(await control('asks', name, body)).toBe(400)
  })
})

describe('a token', () => {
  it('gives its step a signal, once', async () => {
    await submit({ workflow: 'called', id: 'hook' })
    await becomes('hook', { status: 'running', steps: [{ name: 'callback' }] })
    await expect.poll(() => here.token()).not.toBe('')
    const path = `/tokens/${here.token()}`
    const first = { 'idempotency-key': 'hook-1' }
    expect((await here.ask('POST', path, { value: { paid: true } }, first)).status).toBe(202)
    await becomes('hook', { outcome: 'success', output: { paid: true } })
    expect((await here.ask('POST', path, { value: { paid: true } }, first)).status).toBe(202)
    expect((await here.ask('POST', path, { value: 1 })).status).toBe(410)
    expect((await here.ask('POST', path, { value: 1, optional: true })).status).toBe(202)
  })

  it.each([
    ['body', (token: string) => here.ask('POST', '/tokens', { token, value: 'paid' })],
    ['header', (token: string) => here.ask('POST', '/tokens', { value: 'paid' }, { 'triarch-token': token })],
  ])('may be in the %s instead of the path', async (place, give) => {
    const known = here.token()
    await submit({ workflow: 'called', id: `hook-${place}` })
    await expect.poll(() => here.token()).not.toBe(known)
    expect((await give(here.token())).status).toBe(202)
    await becomes(`hook-${place}`, { outcome: 'success', output: 'paid' })
  })

  it('that is none is not found', async () => {
    expect((await here.ask('POST', '/tokens/xyz', {})).status).toBe(404)
    for (const body of [{}, { token: 'xyz' }]) expect((await here.ask('POST', '/tokens', body)).status).toBe(404)
  })
})
