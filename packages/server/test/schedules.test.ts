import { type StoreFactory, TriarchError, workflow } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop()
  await here.triarch.start()
})
afterAll(() => here[Symbol.asyncDispose]())

describe('a schedule', () => {
  const daily = {
    workflow: 'order',
    input: { amount: 1 },
    every: '1d',
    overlap: 'queue',
    catchUp: { limit: 2, within: '2h' },
    tags: { a: 'b' },
  }

  it('is registered, changed, paused, resumed and forgotten', async () => {
    expect((await here.ask('PUT', '/schedules/daily', daily)).status).toBe(201)
    expect((await here.ask('PUT', '/schedules/daily', { ...daily, every: '2d' })).status).toBe(200)
    expect(await here.json('GET', '/schedules/daily')).toMatchObject({
      recurrence: { every: 172_800_000 },
      overlap: 'queue',
    })
    expect(await here.json('POST', '/schedules/daily/pause', { reason: 'stock-taking' })).toMatchObject({
      paused: { reason: 'stock-taking' },
    })
    expect(await here.json('POST', '/schedules/daily/resume')).not.toHaveProperty('paused')
    expect((await here.ask('DELETE', '/schedules/daily')).status).toBe(204)
    expect((await here.ask('DELETE', '/schedules/daily')).status).toBe(404)
  })

  it('is not registered where the store cannot say whether it is there', async () => {
    let failures = 1
    const failing: StoreFactory = (environment) => {
      const store = memory()(environment)
      return new Proxy(store, {
        get(target, key) {
          if (key === 'schedules' && failures > 0)
            return async () => {
              failures--
              throw new TriarchError('STORE_UNAVAILABLE', 'the store is down')
            }
          const own: unknown = Reflect.get(target, key, target)
          return typeof own === 'function' ? own.bind(target) : own
        },
      })
    }
    await using there = await shop({}, failing)
    expect((await there.ask('PUT', '/schedules/daily', daily)).status).toBe(503)
    expect((await there.ask('GET', '/schedules/daily')).status).toBe(404)
    expect((await there.ask('PUT', '/schedules/daily', daily)).status).toBe(201)
  })

  it('says when, and makes up for what has passed', async () => {
    await here.ask('PUT', '/schedules/nightly', {
      workflow: 'order',
      input: { amount: 1 },
      cron: '0 3 * * *',
      timeZone: 'Europe/Vienna',
    })
    const { occurrences } = await here.json<{ occurrences: string[] }>('GET', '/schedules/nightly/next?count=3')
    expect(occurrences).toHaveLength(3)
    const week = { from: '2026-01-01T12:00:00Z', to: '2026-01-03T12:00:00+00:00', overlap: 'allow' }
    expect(await here.json('POST', '/schedules/nightly/backfill', week)).toEqual({
      tasks: ['nightly@2026-01-02T02:00:00.000Z', 'nightly@2026-01-03T02:00:00.000Z'],
    })
    expect((await here.ask('POST', '/schedules/nightly/backfill', { ...week, from: week.to })).status).toBe(400)
    const once = { id: 'beside', reason: 'the files came late' }
    for (let n = 0; n < 2; n++)
      expect(await here.json('POST', '/schedules/nightly/run', once)).toEqual({ task: 'beside' })
  })

  it('is found among others, page by page', async () => {
    for (const name of ['s-1', 's-2', 's-3']) await here.ask('PUT', `/schedules/${name}`, daily)
    type Page = { schedules: { name: string }[]; next?: string }
    const page = await here.json<Page>('GET', '/schedules?cursor=s&limit=2')
    expect(page).toMatchObject({ schedules: [{ name: 's-1' }, { name: 's-2' }], next: 's-2' })
    expect((await here.json<Page>('GET', '/schedules?cursor=s-2')).schedules.map(({ name }) => name)).toEqual(['s-3'])
  })

  it.each([
    [{ workflow: 'failing' }, 400, 'INVALID_OPTION'],
    [{ workflow: 'failing', cron: 'never', every: '1d' }, 400, 'INVALID_OPTION'],
    [{ workflow: 'nothing', every: '1d' }, 404, 'UNKNOWN_WORKFLOW'],
    [{ workflow: 'order', version: '1', input: {}, every: '1d' }, 422, 'INVALID_INPUT'],
    [{ workflow: 'order', every: 5 }, 400, 'INVALID_REQUEST'],
  ])('is refused as %j', async (body, status, code) => {
    const response = await here.ask('PUT', '/schedules/wrong', body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ code })
  })

  it.each(['', '/next', '/pause', '/resume'])('that nobody knows is not found: %s', async (part) => {
    const response = await here.ask(part === '' || part === '/next' ? 'GET' : 'POST', `/schedules/nobody${part}`)
    expect(response.status).toBe(404)
  })
})

describe('the system', () => {
  it('says what can be started, by which schema, and who runs it', async () => {
    interface Listed {
      workflows: { name: string; versions: { version: string; nodes: string[] }[] }[]
      next?: string
    }
    const { workflows } = await here.json<Listed>('GET', '/workflows')
    const versions = (wanted: string) => workflows.find(({ name }) => name === wanted)?.versions
    expect(versions('order')).toMatchObject([
      {
        ...{ version: '1', kind: 'function', startable: true },
        input: { type: 'object', properties: { amount: { type: 'number' } } },
        output: { type: 'object', properties: { receipt: { type: 'string' } } },
        nodes: [expect.any(String)],
      },
      { version: '2', startable: true },
    ])
    expect(versions('approval')).toMatchObject([{ signals: { decided: { payload: { type: 'object' } } } }])
    expect(versions('planned')).toMatchObject([{ kind: 'plan' }])
    expect(versions('failing')?.[0]).not.toHaveProperty('input')
    const page = await here.json<Listed>('GET', '/workflows?limit=2')
    expect(page).toEqual({ workflows: workflows.slice(0, 2), next: workflows[1]?.name })
    const rest = await here.json<Listed>('GET', `/workflows?cursor=${page.next}`)
    expect(rest.workflows).toEqual(workflows.slice(2))
  })

  it('lists what can be started though nobody runs it and the engine does not know it', async () => {
    const alone = workflow('alone', { run: async () => null })
    await using other = await shop({ workflows: [alone] })
    const { workflows } = await other.json<{ workflows: object[] }>('GET', '/workflows')
    expect(workflows[0]).toEqual({
      name: 'alone',
      versions: [{ version: '1', kind: 'function', startable: true, nodes: [] }],
    })
    expect(workflows[1]).toMatchObject({ name: 'approval', versions: [{ version: '1' }] })
    expect(JSON.stringify(workflows[1])).not.toContain('startable')
  })

  it('says which agents there are, and which locks are held', async () => {
    expect(await here.json('GET', '/agents')).toMatchObject({
      agents: [
        { name: 'bank', actions: ['callback', 'charge', 'stack'], nodes: [{ slots: 100 }], queue: { depth: 0 } },
        { name: 'triarch-operation' },
      ],
    })
    const body = { workflow: 'approval', exclusive: { key: 'desk' } }
    for (const id of ['first', 'second']) await here.ask('POST', '/tasks', { ...body, id })
    await expect
      .poll(() => here.json('GET', '/locks'))
      .toMatchObject({
        locks: [{ name: 'desk', holder: 'first', waiting: 1, next: [{ task: 'second' }] }],
      })
    expect(await here.json('GET', '/locks?cursor=desk')).toEqual({ locks: [] })
    expect((await here.ask('GET', '/locks?limit=0')).status).toBe(400)
  })

  it('says which nodes live, and how much there is', async () => {
    expect(await here.json('GET', '/nodes')).toMatchObject({
      nodes: [{ roles: ['scheduler', 'agent', 'supervisor'], place: { pid: process.pid } }],
    })
    expect(await here.json('GET', '/stats')).toMatchObject({ tasks: expect.any(Number), fenced: 0 })
  })
})
