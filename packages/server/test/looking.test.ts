// Every route that only looks, asked of a store that has one of everything.
import { agent, type KeptEndpoint, workflow } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { routes } from '../src/route/index.ts'
import { opened } from './events.ts'
import { type Shop, shop } from './shop.ts'

const clinic = agent('clinic', {
  circuitBreaker: { failureRate: 0.5, window: '30s', open: '10s', probes: 1 },
  rateLimit: { limit: 1_000, per: '1s' },
})
clinic.action('heal', { run: async (_: null) => null })
const locking = workflow('locking', {
  run: async (_: unknown, task): Promise<null> => {
    await task.lock('till')
    task.log.info('locked')
    await task.sleep('1h')
    return null
  },
})
const looked = { at: new Date(5), ms: 7.5, redirects: [] }
const probed: KeptEndpoint[] = [
  { name: 'shop', url: 'http://127.0.0.1/', state: 'up', since: new Date(6), streak: 3, lateAt: new Date(8), last: looked, history: [looked] }, // biome-ignore format: one line
]

let here: Shop
beforeAll(async () => {
  here = await shop({}, memory(), {
    ...{ agents: [clinic], workflows: [locking], sweep: '50ms', statistics: true },
    alerts: { every: '50ms', rules: { check: { for: 0 } }, sinks: [{ name: 'desk', send: async () => undefined }] },
    health: { checks: { cellar: () => false } },
  })
  const { triarch } = here
  await triarch.start()
  const isKept = Promise.withResolvers<void>()
  void triarch.leaders.lead('prober', async ({ signal, keepProbes }) => {
    await keepProbes(probed)
    isKept.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await isKept.promise
  await here.ask('POST', '/tasks?wait=30s', { workflow: 'planned', id: 'done', input: { amount: 4 } })
  await here.ask('POST', '/tasks?wait=30s', { workflow: 'parent', id: 'mother' })
  await here.ask('POST', '/tasks', { workflow: 'approval', id: 'approval' })
  await triarch.submit(locking, null, { id: 'locking' })
  await here.ask('POST', '/operations', {
    filter: 'id:approval',
    action: 'pause',
    confirm: 1,
    id: 'op',
    reason: 'a test',
  })
  await triarch.tasks.get('op').result({ timeout: '30s' })
  await here.ask('PUT', '/schedules/nightly', { workflow: 'approval', every: '1d', jitter: '5m' })
  await here.ask('POST', '/breakers/clinic/open', { reason: 'a test' })
  await here.ask('POST', '/rate-limits/clinic/change', { limit: 5, per: '1s', reason: 'a test' })
  await here.ask('PUT', '/settings/triarch.agent.bank', { value: { priority: 3 }, reason: 'a test' })
  await triarch.keys.get('billing').create({ rights: ['read'] })
  const isFiring = async () => (await triarch.alerts.list()).alerts.some(({ name }) => name === 'check:cellar')
  const isCounted = async () => (await triarch.statistics.figures({ by: ['workflow'] })).rows.some(({ workflow }) => workflow === 'planned') // biome-ignore format: one line
  const isLogged = async () => (await triarch.tasks.get('locking').logs()).lines.length > 0
  for (const isThere of [isFiring, isCounted, isLogged]) await vi.waitUntil(isThere, { timeout: 60_000 })
}, 120_000)
afterAll(() => here[Symbol.asyncDispose]())

const named = (...names: string[]) => expect.arrayContaining(names.map((name) => expect.objectContaining({ name })))
const some = expect.arrayContaining([expect.anything()])

/** What to ask of each, and what its answer has; its schema is held against it in any case. A stream: its first event. */
const cases: Readonly<Record<string, readonly [path: string, has: object | string]>> = {
  '/tasks/events': ['/tasks/events?filter=id:done', 'page'],
  '/tasks/{id}/events': ['/tasks/locking/events', 'task'],
  '/tasks/{id}/logs/events': ['/tasks/locking/logs/events', 'line'],
  '/stats/events': ['/stats/events', 'counts'],
  '/tasks': ['/tasks?workflow=planned', { tasks: [{ id: 'done' }] }],
  '/tasks/{id}': ['/tasks/done', { id: 'done', outcome: 'success' }],
  '/tasks/{id}/outcome': ['/tasks/done/outcome', { outcome: 'success', output: 'r-4' }],
  '/tasks/{id}/change': ['/tasks/done/change', { task: { id: 'done' }, mark: expect.any(String) }],
  '/tasks/{id}/steps': ['/tasks/done/steps', { steps: [{ name: 'charge' }] }],
  '/tasks/{id}/moment': ['/tasks/done/moment', { status: 'stopped', steps: [{ name: 'charge' }] }],
  '/tasks/{id}/history': ['/tasks/done/history', { records: some }],
  '/tasks/{id}/export': ['/tasks/done/export', { task: 'done', records: some }],
  '/tasks/{id}/logs': ['/tasks/locking/logs', { lines: [{ message: 'locked' }] }],
  '/tasks/{id}/plan': ['/tasks/done/plan', { plan: { steps: [{ standing: 'done' }] } }],
  '/tasks/{id}/children': ['/tasks/mother/children', { tasks: [{ parent: 'mother' }] }],
  '/tasks/{id}/explain': ['/tasks/locking/explain', { task: 'locking', holds: [{ lock: 'till' }] }],
  '/operations': ['/operations', { operations: [{ id: 'op', action: 'pause', matched: 1, done: 1, failed: 0 }] }],
  '/operations/{id}': ['/operations/op', { id: 'op', filter: 'id:approval', reason: 'a test', matched: 1, pending: 0 }],
  '/schedules': ['/schedules', { schedules: [{ name: 'nightly' }] }],
  '/schedules/{name}': ['/schedules/nightly', { name: 'nightly', workflow: 'approval' }],
  '/schedules/{name}/next': ['/schedules/nightly/next?count=2', { occurrences: [expect.any(String), expect.any(String)] }], // biome-ignore format: one line
  '/workflows': ['/workflows', { workflows: named('order', 'locking') }],
  '/agents': ['/agents', { agents: named('bank', 'clinic') }],
  '/demand': ['/demand?within=1m', {}],
  '/locks': ['/locks', { locks: [{ name: 'till' }] }],
  '/leaders': ['/leaders', { leaders: named('prober') }],
  '/nodes': ['/nodes', { nodes: [{ roles: some }] }],
  '/stats': ['/stats', { tasks: expect.any(Number) }],
  '/stats/tasks': ['/stats/tasks?filter=id:done', { count: 1 }],
  '/breakers': ['/breakers', { breakers: named('clinic') }],
  '/breakers/{name}': ['/breakers/clinic', { name: 'clinic', state: 'open' }],
  '/rate-limits': ['/rate-limits', { rateLimits: named('clinic') }],
  '/rate-limits/{name}': ['/rate-limits/clinic', { name: 'clinic', forced: { limit: 5 } }],
  '/alerts': ['/alerts', { alerts: named('check:cellar') }],
  '/alerts/{name}': ['/alerts/check:cellar', { name: 'check:cellar', phase: 'firing' }],
  '/health': ['/health?check=cellar&report=true', { checks: [{ name: 'cellar' }] }],
  '/health/live': ['/health/live', { status: 'ok' }],
  '/health/ready': ['/health/ready', { status: 'ok' }],
  '/probes': ['/probes?name=shop&history=true', { endpoints: [{ name: 'shop', history: [{ ms: 7.5 }] }] }],
  '/statistics': ['/statistics?by=workflow', { asOf: expect.any(String), rows: expect.arrayContaining([expect.objectContaining({ workflow: 'planned' })]) }], // biome-ignore format: one line
  '/settings': ['/settings', { settings: named('triarch.agent.bank') }],
  '/settings/{name}': [
    '/settings/triarch.agent.bank',
    { name: 'triarch.agent.bank', live: { value: { priority: 3 } } },
  ],
  '/settings/{name}/history': ['/settings/triarch.agent.bank/history', { changes: [{ reason: 'a test' }] }],
  '/audit': ['/audit?action=breaker.open', { entries: [{ subject: 'breaker:clinic', reason: 'a test' }] }],
  '/keys': ['/keys', { keys: named('billing') }],
  '/keys/{name}': ['/keys/billing', { name: 'billing', rights: ['read'] }],
  '/principal': ['/principal', { rights: some }],
}

describe('a route that only looks', () => {
  it('stands in the table, and no other does', () => {
    const paths = routes.filter(({ method }) => method === 'GET').map(({ path }) => path as string)
    expect(Object.keys(cases).sort()).toEqual(paths.sort())
  })

  it.each(Object.entries(cases))('answers with what there is: %s', async (_, [path, has]) => {
    if (typeof has === 'string') {
      await using stream = await opened(here, path)
      expect((await stream.next())?.event).toBe(has)
      return
    }
    const answer = await here.ask('GET', path)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject(has)
  })

  it.each([
    ['/audit?since=2000-01-01T00:00:00Z&limit=1', 'entries', 1],
    ['/audit?until=2999-01-01T00:00:00Z&limit=1', 'entries', 1],
    ['/audit?since=2999-01-01T00:00:00Z', 'entries', 0],
    ['/audit?until=2000-01-01T00:00:00Z', 'entries', 0],
    ['/statistics?by=none', 'rows', 1],
    ['/statistics?by=none&from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z', 'rows', 0],
  ] as const)('says of a span of time what is in it: %s', async (path, name, count) => {
    const answer = await here.json<Record<string, unknown[]>>('GET', path)
    expect(answer[name]).toHaveLength(count)
  })

  it('refuses a span of the demand that it does not know, and a date before the one that it is to come after', async () => {
    expect((await here.ask('GET', '/demand?within=1ms')).status).toBe(400)
    for (const span of ['from=2999-01-01T00:00:00Z', 'to=2000-01-01T00:00:00Z'])
      expect(await here.json('GET', `/statistics?by=workflow&${span}`), span).not.toEqual(
        await here.json('GET', '/statistics?by=workflow'),
      )
  })
})

describe('what looks, though it is posted', () => {
  it('counts the tasks of an operation that is not begun', async () => {
    const dry = { filter: 'id:done', action: 'cancel', dryRun: true }
    expect(await here.json('POST', '/operations', dry)).toEqual({ count: 1 })
    const answer = await here.ask('POST', '/operations', { filter: 'id:done', action: 'cancel' })
    expect([answer.status, ((await answer.json()) as { errors: unknown }).errors]).toEqual([
      400,
      [{ path: 'body.confirm', message: 'say how many tasks it may be' }],
    ])
  })

  it('tries each sink of alerts', async () => {
    expect(await here.json('POST', '/alerts/test', {})).toMatchObject({
      sinks: [{ sink: 'log' }, { sink: 'desk', ok: true }],
    })
  })
})

it('a schedule is registered with its jitter', async () => {
  const plain = { workflow: 'approval', every: '1d' }
  expect(await here.json('PUT', '/schedules/plain', plain)).toMatchObject({
    next: expect.stringContaining('T00:00:00.000Z'),
  })
  expect(await here.json('PUT', '/schedules/plain', { ...plain, jitter: '1d' })).toMatchObject({
    next: expect.not.stringContaining('T00:00:00.000Z'),
  })
})

it.each([
  ['', 50],
  ['?limit=10', 10],
  ['?limit=1000', 50],
])('a log that is followed is read fifty lines at a time, or fewer: %s', async (query, limit) => {
  const task = here.triarch.tasks.get('locking')
  const asked = vi.spyOn(task, 'watchLogs')
  const known = vi.spyOn(here.triarch.tasks, 'get').mockReturnValue(task as never)
  onTestFinished(() => known.mockRestore())
  await using stream = await opened(here, `/tasks/locking/logs/events${query}`)
  expect((await stream.next())?.event).toBe('line')
  expect(asked.mock.calls.map(([options]) => options?.limit)).toEqual([limit])
})

it('an operation is new once, and is cancelled without asking any more', async () => {
  const pause = { value: { paused: 'a test' }, reason: 'a test' }
  expect((await here.ask('PUT', '/settings/triarch.workflow.triarch-operation', pause)).status).toBe(200)
  const order = { filter: 'id:approval', action: 'resume', confirm: 1, id: 'late' }
  const created = async () => (await here.json<{ created: boolean }>('POST', '/operations', order)).created
  expect([await created(), await created()]).toEqual([true, false])
  const answer = await here.ask('POST', '/operations/late/cancel', { reason: 'a mistake' })
  expect(answer.status).toBe(202)
  await here.ask('POST', '/settings/triarch.workflow.triarch-operation/clear', { reason: 'a test' })
  await expect.poll(() => here.json('GET', '/operations/late'), { timeout: 30_000 }).toMatchObject({ outcome: 'cancelled' }) // biome-ignore format: one line
  expect(await here.json('GET', '/tasks/approval')).toMatchObject({ status: 'paused' })
})

it('what counts anew says since when, until it is done; where nobody counts, nothing is said of how far that is', async () => {
  await using closed = await shop({}, memory())
  await closed.triarch.open()
  expect(await closed.json('GET', '/statistics?by=none')).toMatchObject({ asOf: null })
  expect((await closed.ask('POST', '/statistics/recount', { reason: 'a test' })).status).toBe(202)
  expect(await closed.json('GET', '/statistics?by=none')).toMatchObject({ recount: { since: expect.any(String) } })
})
