import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, type StandardSchema, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, never, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const Paid = z.object({ amount: z.coerce.number<string | number>() })
const order = workflow('order', {
  signals: { paid: Paid },
  run: async (_: null, task) => (await task.waitForSignal('paid')).amount + 1,
})

function schemaOf(validate: (value: unknown) => unknown): StandardSchema<unknown, unknown> {
  return { '~standard': { version: 1, vendor: 'test', validate: validate as never } }
}

describe('a signal that a workflow declares', () => {
  it('is checked where it is sent: what its schema refuses is not sent', async () => {
    await using s = await stage({ workflows: [order], poll: '1s' })
    const task = await s.submit(order, null)
    const bad = { amount: 'much' }
    const senders = [task, s.engine.tasks.get(task.id, order)].map((handle) => () => handle.signal('paid', bad))
    for (const send of [...senders, () => s.engine.tasks.get(task.id).signal('paid', bad)]) {
      const refusal = await send().catch((error) => error)
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', details: { issues: [{ path: 'amount' }] } })
    }
    await s.advance('10s')
    expect(await eventsOf(task, 'signalReceived')).toEqual([])
    await task.signal('paid', { amount: '41' })
    await s.settle()
    expect(await task.result()).toBe(42)
    expect(s.alerts).toEqual([])
  })

  it('is set aside where it is waited for, if its sender did not know: the wait goes on, and the history says why', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const apart = (workflows: (typeof order)[]): Promise<Stage> =>
      stage({ workflows, store: file.store, environment, poll: '1s', ...(workflows.length === 0 && { roles: [] }) })
    await using worker = await apart([order])
    await using client = await apart([])
    const task = await worker.submit(order, null, { id: 't' })
    const foreign = client.engine.tasks.get('t')
    await foreign.signal('paid', { amount: 'much' })
    await worker.advance('10s')
    expect(worker.alerts).toMatchObject([{ code: 'SIGNAL_REFUSED', task: 't' }])
    expect(await eventsOf(task, 'messageIgnored')).toMatchObject([
      { message: 'event', name: 'paid', reason: expect.stringContaining('amount') },
    ])
    expect((await task.status()).status).toBe('running')
    await foreign.signal('paid', { amount: 1 })
    await worker.advance('10s')
    expect(await task.result()).toBe(2)
  })

  it('is checked by the version that the task runs, not by that which the sender has', async () => {
    const next = workflow('order', { version: '2', signals: { paid: z.string() }, run: async () => 0 })
    await using s = await stage({ workflows: [order, next], poll: '1s' })
    await s.submit(order, null, { id: 't' })
    await s.settle()
    const again = await s.submit(next, null, { id: 't', ifExists: 'return' })
    expect(await codeOf(again.signal('paid', 'a text'))).toBe('INVALID_INPUT')
    await s.engine.tasks.get('t').signal('paid', { amount: 2 })
    await s.settle()
    expect(await s.engine.tasks.get('t').result()).toBe(3)
  })

  it('is the only one that may be sent, and waited for', async () => {
    const other = workflow('other', {
      signals: { paid: Paid },
      run: (_: null, task) => codeOf(task.waitForSignal('unpaid' as 'paid')),
    })
    await using s = await stage({ workflows: [order, other], poll: '1s' })
    const task = await s.submit(order, null)
    for (const handle of [s.engine.tasks.get(task.id), s.engine.tasks.get(task.id, order)])
      expect(await codeOf(handle.signal('unpaid' as 'paid', { amount: 1 }))).toBe('UNKNOWN_SIGNAL')
    const refused = await s.submit(other, null)
    await s.settle()
    expect(await refused.result()).toBe('UNKNOWN_SIGNAL')
    expect(await eventsOf(task, 'signalReceived')).toEqual([])
  })

  it('is the only one that is kept: another, whose sender did not know, is set aside when it comes', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const apart = (workflows: (typeof order)[]): Promise<Stage> =>
      stage({ workflows, store: file.store, environment, poll: '1s', ...(workflows.length === 0 && { roles: [] }) })
    await using worker = await apart([order])
    await using client = await apart([])
    const task = await worker.submit(order, null, { id: 't' })
    await client.engine.tasks.get('t').once('hook-1').signal('unpaid', 1, { actor: 'bob' })
    await worker.advance('10s')
    expect(worker.alerts).toMatchObject([{ code: 'SIGNAL_REFUSED', task: 't' }])
    expect(await eventsOf(task, 'messageIgnored')).toMatchObject([
      { message: 'event', name: 'unpaid', reason: expect.stringContaining('declares paid'), actor: 'bob' },
    ])
    expect(await eventsOf(task, 'signalReceived')).toEqual([])
    await client.engine.tasks.get('t').signal('paid', { amount: 1 })
    await worker.advance('10s')
    expect(await task.result()).toBe(2)
  })

  it('is unknown of a task that is unknown, and costs who declares none no look', async () => {
    await using s = await stage({ workflows: [order], poll: '1s' })
    expect(await codeOf(s.engine.tasks.get('nobody').signal('paid', { amount: 1 }))).toBe('UNKNOWN_TASK')
  })
})

const trouble: Record<string, (value: unknown) => unknown> = {
  throws: () => {
    throw new Error('boom')
  },
  'gives nothing': () => undefined,
  'gives rubbish': () => ({ issues: 'many' }),
  'gives neither a value nor issues': () => ({}),
  'gives a promise that rejects': () => Promise.reject(new Error('boom')),
  'gives a promise that never settles': () => never(),
  'gives a promise': (value) => Promise.resolve({ value }),
}

describe('a schema that fails', () => {
  for (const [how, validate] of Object.entries(trouble)) {
    const picky = schemaOf((value) => (value === 'good' ? { value } : validate(value)))
    it(`refuses the signal, and the wait goes on: it ${how}`, async () => {
      const flow = workflow('flow', { run: (_: null, task) => task.waitForSignal('x', { schema: picky }) })
      await using s = await stage({ workflows: [flow], poll: '1s' })
      const task = await s.submit(flow, null)
      await task.signal('x', 'bad')
      await s.settle()
      expect(s.alerts).toMatchObject([{ code: 'SIGNAL_REFUSED', task: task.id }])
      await task.signal('x', 'good')
      await s.settle()
      expect(await task.result()).toBe('good')
    })

    it(`refuses the signal where it is sent: it ${how}`, async () => {
      const flow = workflow('flow', { signals: { x: picky }, run: (_: null, task) => task.waitForSignal('x') })
      await using s = await stage({ workflows: [flow], poll: '1s' })
      const task = await s.submit(flow, null)
      expect(['INVALID_INPUT', 'INVALID_OPTION']).toContain(await codeOf(task.signal('x', 'bad')))
      await task.signal('x', 'good')
      await s.settle()
      expect(await task.result()).toBe('good')
    })
  }

  it('is a typed error to who gives a step or a child its input', async () => {
    const broken = schemaOf(trouble.throws as () => unknown)
    const bank = agent('bank')
    const pay = bank.action('pay', { input: broken, run: () => 1 })
    const child = workflow('child', { input: broken, run: () => 1 })
    const flow = workflow('flow', {
      async run(_: null, task) {
        const codes = [task.run(pay, 1), task.call(child, 1), task.start(child, 1)].map((asked) => codeOf(asked))
        return Promise.all(codes)
      },
    })
    await using s = await stage({ workflows: [flow, child], agents: [bank], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toEqual(['INVALID_INPUT', 'INVALID_INPUT', 'INVALID_INPUT'])
    expect(await codeOf(s.submit(child, 1))).toBe('INVALID_INPUT')
  })

  it('is the error of the task whose output it was to check', async () => {
    const flow = workflow('flow', { output: schemaOf(trouble.throws as () => unknown), run: () => 1 })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).error?.code).toBe('INVALID_OUTPUT')
  })
})

describe('a declaration of signals', () => {
  it('has names and schemas, and is no plan’s', async () => {
    const bad = [{ signals: 1 }, { signals: [] }, { signals: { x: null } }, { signals: { x: 'text' } }]
    const run = () => 1
    for (const part of bad)
      expect(await codeOf((async () => workflow('w', { ...(part as object), run }))())).toBe('INVALID_OPTION')
    const plan = { signals: { x: z.string() }, plan: () => 1 } as never
    expect(await codeOf((async () => workflow('w', plan))())).toBe('INVALID_OPTION')
  })
})
