// Routes by which operators change what is not a task, and those that read what they are sent: each answers with what it did.
import { agent } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Shop, shop } from './shop.ts'

const clinic = agent('clinic', {
  circuitBreaker: { failureRate: 0.5, window: '30s', open: '10s', probes: 1 },
  rateLimit: { limit: 1_000, per: '1s' },
})
clinic.action('heal', { run: async (_: null) => null })

let here: Shop
beforeAll(async () => {
  here = await shop({}, memory(), {
    ...{ agents: [clinic], sweep: '50ms' },
    alerts: { every: '50ms', rules: { check: { for: 0 } } },
    health: { checks: { cellar: () => false } },
  })
  await here.triarch.start()
  const isFiring = async () => (await here.triarch.alerts.list()).alerts.some(({ name }) => name === 'check:cellar')
  await vi.waitUntil(isFiring, { timeout: 60_000 })
}, 120_000)
afterAll(() => here[Symbol.asyncDispose]())

const reason = 'a test'
const until = '2999-01-01T00:00:00.000Z'
const word = expect.objectContaining({ reason })

it.each<[path: string, body: object, has: object]>([
  ['/breakers/clinic/open', { until }, { name: 'clinic', state: 'open', nextProbe: until }],
  ['/breakers/clinic/open', {}, { name: 'clinic', state: 'open' }],
  ['/breakers/clinic/reset', {}, { name: 'clinic', state: expect.stringMatching(/^(?:closed|releasing)$/) }],
  ['/rate-limits/clinic/change', { limit: 5, per: '1s', burst: 2, until }, { forced: { limit: 5, burst: 2, until } }],
  ['/rate-limits/clinic/change', { limit: 6, per: '1s' }, { forced: { limit: 6 } }],
  ['/rate-limits/clinic/lift', { until }, { forced: { lifted: true, until } }],
  ['/rate-limits/clinic/restore', {}, { name: 'clinic', limit: 1_000 }],
  ['/alerts/check:cellar/acknowledge', {}, { owner: word }],
  ['/alerts/check:cellar/silence', { until }, { silence: { reason, until } }],
  ['/alerts/check:cellar/end', {}, { phase: 'ended', endedBy: word }],
  ['/secret/rotate', {}, {}],
])('answers with what it did: %s', async (path, body, has) => {
  const answer = await here.ask('POST', path, { ...body, reason })
  expect(answer.status).toBe(200)
  const said = (await answer.json()) as { forced?: { until?: string }; nextProbe?: string }
  expect(said).toMatchObject(has)
  if (!('until' in body)) expect([said.nextProbe, said.forced?.until]).toEqual([undefined, undefined])
})

it('what is cached is invalidated, and a key has another secret', async () => {
  expect((await here.ask('POST', '/cache/invalidate', { tag: 'prices', reason })).status).toBe(204)
  const { entries } = await here.triarch.audit.list({ action: 'cache.invalidate' })
  expect(entries).toMatchObject([{ reason }])
  const { secret } = await here.triarch.keys.get('billing').create({ rights: ['read'] })
  const rotated = await here.ask('POST', '/keys/billing/rotate', { reason })
  expect(rotated.status).toBe(200)
  const issued = (await rotated.json()) as { secret: string }
  expect(issued).toMatchObject({ secret: expect.stringMatching(/^triarch_/), key: { name: 'billing' } })
  expect(issued.secret).not.toBe(secret)
})

it('a secret of tokens is rotated by whoever may control tasks and give out keys', async () => {
  await using guarded = await shop({
    authenticate: ({ headers }) => ({ id: 'ada', rights: (headers.get('x-rights') ?? '').split(' ') as never[] }),
  })
  const ask = async (rights: string) =>
    (await guarded.ask('POST', '/secret/rotate', { reason }, { 'x-rights': rights })).status
  expect([await ask('keys'), await ask('control'), await ask('keys control')]).toEqual([403, 403, 200])
})

it('what is submitted or imported a second time is not new', async () => {
  const order = { workflow: 'approval', tasks: [{ id: 'one' }, { id: 'two' }] }
  const submit = async () => (await here.json<{ results: object[] }>('POST', '/submissions', order)).results
  expect(await submit()).toEqual([
    { id: 'one', created: true },
    { id: 'two', created: true },
  ])
  expect(await submit()).toMatchObject([{ created: false }, { created: false }])
  await here.ask('POST', '/tasks?wait=30s', { workflow: 'order', id: 'done', input: { amount: 4 } })
  const history = await here.triarch.tasks.get('done').export({ secrets: true })
  await using other = await shop({}, memory())
  await other.triarch.open()
  const answers = [await other.ask('POST', '/imports', { history }), await other.ask('POST', '/imports', { history })]
  expect(await Promise.all(answers.map(async (it) => [it.status, await it.json()]))).toEqual([
    [201, { id: 'done', created: true }],
    [200, { id: 'done', created: false }],
  ])
})

it('a key that is sent as a display string stands for its characters', async () => {
  const submit = (key: string) => here.ask('POST', '/tasks', { workflow: 'approval' }, { 'idempotency-key': key })
  const answer = await submit('%"caf%c3%a9"')
  expect([answer.status, await answer.json()]).toMatchObject([201, { id: 'café' }])
  expect((await submit('%"%zz"')).status).toBe(400)
})

it('nobody has an end, or a change, of a task that is not there', async () => {
  for (const path of ['outcome', 'change']) expect((await here.ask('GET', `/tasks/nobody/${path}`)).status).toBe(404)
})

it('metrics are told to whoever may read, and take nothing', async () => {
  const metrics = { respond: async () => new Response('up 1\n') }
  await using measured = await shop({
    ...{ metrics: metrics as never },
    authenticate: ({ headers }) => ({ id: 'ada', rights: (headers.get('x-rights') ?? '').split(' ') as never[] }),
  })
  const ask = (method: string, rights: string) =>
    measured.server.fetch(new Request('http://localhost/metrics', { method, headers: { 'x-rights': rights } }))
  expect(await (await ask('GET', 'read')).text()).toBe('up 1\n')
  expect((await ask('HEAD', 'read')).status).toBe(200)
  expect((await ask('GET', 'control')).status).toBe(403)
  const refused = await ask('DELETE', 'read')
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})
