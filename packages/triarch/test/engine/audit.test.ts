import { expect, it } from 'vitest'
import { type AuditOptions, agent, PermanentError, type Triarch, workflow } from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'

const shop = agent('shop', { circuitBreaker: { failureRate: 0.5, minimum: 2 } })
const broken = shop.action('broken', {
  rescue: 'pause',
  run(): string {
    throw new PermanentError('broken')
  },
})
const order = workflow('order', { run: (_: string, task) => task.waitForSignal('go') })
const repair = workflow('repair', { run: (_: string, task) => task.run(broken, null) })
const all = { workflows: [order, repair], agents: [shop], operations: true }

const told = async (triarch: Triarch, options: AuditOptions = {}) =>
  (await triarch.audit.list(options)).entries.map(({ actor, action, subject, reason, request }) =>
    [actor, action, subject, reason, request].filter((it) => it !== undefined).join(' '),
  )

async function begun(s: Stage, id: string): Promise<void> {
  await s.engine.triarch.submit(order, 'pen', { id })
  await s.settle()
}

it('whoever acts is kept: who, what, on what, why and by which request', async () => {
  await using s = await stage(all)
  const { triarch } = s.engine
  await begun(s, 'a')
  const ada = { actor: 'ada' }
  await triarch.tasks.get('a').pause({ reason: 'stock-taking', ...ada })
  await s.settle()
  await triarch.serving.acting({ actor: 'bob', request: 'r-1' }, async () => {
    await triarch.tasks.get('a').resume()
    await triarch.breakers.get('shop').open({ reason: 'ill' })
    await triarch.settings.get('triarch.agent.shop').change({ priority: 3 }, { reason: 'hurry', ...ada })
    const nightly = triarch.schedules.get('nightly')
    await nightly.register({ workflow: order, input: 'pen', every: '1d' })
    await nightly.pause({ reason: 'no night' })
    await nightly.remove()
    const done = triarch.caches.invalidate({ tag: 'x' })
    await s.settle()
    await s.advance('1m')
    await done
  })
  expect(await told(triarch)).toEqual([
    'bob cache.invalidate cache:tag x r-1',
    'bob schedule.remove schedule:nightly r-1',
    'bob schedule.pause schedule:nightly no night r-1',
    'bob schedule.register schedule:nightly r-1',
    'ada setting.change setting:triarch.agent.shop hurry r-1',
    'bob breaker.open breaker:shop ill r-1',
    'bob task.resume task:a r-1',
    'ada task.pause task:a stock-taking',
  ])
  // The history says so as well.
  const events = (await triarch.tasks.get('a').history()).flatMap((record) => record.events)
  expect(events.find(({ type }) => type === 'resumed')).toMatchObject({ actor: 'bob' })
  expect((await triarch.breakers.get('shop').info()).changes.at(-1)).toMatchObject({ actor: 'bob' })
  expect((await triarch.audit.list({ subject: 'setting:triarch.agent.shop' })).entries).toMatchObject([
    { details: { move: 'set', version: 1, revision: 1 }, outcome: 'done' },
  ])
})

it('what a task does not take is no act, and what programs tell tasks is none unless somebody is named', async () => {
  await using s = await stage(all)
  const { triarch } = s.engine
  await begun(s, 'a')
  const task = triarch.tasks.get('a', order)
  expect(await codeOf(task.resume({ actor: 'ada' }))).toBe('TASK_NOT_PAUSED')
  expect(await codeOf(triarch.tasks.get('none').pause({ actor: 'ada' }))).toBe('UNKNOWN_TASK')
  await task.signal('other', 1)
  await task.signal('go', 1, { actor: 'ada' })
  await s.settle()
  expect(await told(triarch)).toEqual(['ada task.signal task:a'])
})

it('an operation is kept, and each task that takes it, by the request that it is', async () => {
  await using s = await stage(all)
  const { triarch } = s.engine
  for (const id of ['a', 'b']) await begun(s, id)
  const operation = await triarch.serving.acting({ actor: 'ada' }, () =>
    triarch.tasks.operate({ filter: 'workflow:order', action: 'pause', confirm: 5, reason: 'fire' }, { id: 'op' }),
  )
  await s.settle()
  await operation.result()
  await triarch.tasks.operate(
    { filter: 'workflow:order', action: 'pause', confirm: 5, reason: 'fire', actor: 'ada' },
    { id: 'op' },
  )
  const entries = await told(triarch)
  expect(entries.at(-1)).toBe('ada operation.start operation:op fire')
  expect(entries.slice(0, -1).sort()).toEqual(['a', 'b'].map((id) => `ada task.pause task:${id} fire operation op`))
})

it('pages lose nothing, and say when they are asked for what they do not have', async () => {
  await using s = await stage(all)
  const { triarch } = s.engine
  for (let n = 0; n < 5; n++)
    await triarch.serving.refused({ action: 'breaker.open', subject: `breaker:${n}`, actor: 'eve' })
  const first = await triarch.audit.list({ actor: 'eve', limit: 3 })
  const rest = await triarch.audit.list({ actor: 'eve', limit: 3, cursor: first.next ?? '' })
  expect([...first.entries, ...rest.entries].map(({ subject }) => subject.slice(-1)).join('')).toBe('43210')
  expect(rest.next).toBeUndefined()
  expect(first.entries[0]).toMatchObject({ outcome: 'refused' })
  expect((await triarch.audit.list({ until: first.entries[0]?.at ?? new Date() })).entries).toEqual([])
  for (const wrong of [{ cursor: 'x' }, { limit: 0 }, { since: 'now' as never }, { actor: 'x'.repeat(301) }])
    expect(await codeOf(triarch.audit.list(wrong))).toBe('INVALID_OPTION')
  expect(await codeOf(triarch.audit.list({ who: 'x' } as never))).toBe('UNKNOWN_OPTION')
})

it('it forgets what is older than it is to be kept', async () => {
  await using s = await stage({ ...all, audit: { keep: '1h' }, sweep: '10m' })
  const { triarch } = s.engine
  await triarch.serving.refused({ action: 'x.y', subject: 'x:old' })
  await s.advance('59m')
  await triarch.serving.refused({ action: 'x.y', subject: 'x:new' })
  await s.advance('30m')
  expect(await told(triarch)).toEqual(['x.y x:new'])
})

it('whoever acts very often does not make it forget what they did', async () => {
  await using s = await stage({ ...all, audit: { entries: 1_000, atLeast: '1d' }, sweep: '10m' })
  const { triarch } = s.engine
  await triarch.serving.acting({ actor: 'eve' }, () => triarch.breakers.get('shop').open({ reason: 'the deed' }))
  for (let n = 0; n < 1_100; n++) await triarch.serving.refused({ action: 'x.y', subject: `x:${n}`, actor: 'eve' })
  await s.advance('23h')
  expect(await told(triarch, { subject: 'breaker:shop' })).toEqual(['eve breaker.open breaker:shop the deed'])
  await s.advance('2h')
  expect(await told(triarch, { subject: 'breaker:shop' })).toEqual([])
  expect(await codeOf(Promise.resolve().then(() => stage({ ...all, audit: { atLeast: 0 as never } })))).toBe(
    'INVALID_DURATION',
  )
})
