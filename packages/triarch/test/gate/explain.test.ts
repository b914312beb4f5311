import { describe, expect, it } from 'vitest'
import { agent, type Explanation, type ReasonCode, type Role, type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { codeOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

const payments = agent('payments', { concurrency: 1 })
const slow = payments.action('slow', { attemptWithin: '1h', run: (_: null, { signal }) => aborted(signal) })
const flaky = payments.action('flaky', {
  retry: { attempts: 3, backoff: { initial: '10m', jitter: false } },
  run: () => {
    throw new Error('the bank is closed')
  },
})
const held = payments.action('held', {
  retry: { attempts: 1 },
  rescue: 'pause',
  run: () => {
    throw new Error('no such account')
  },
})
const callback = payments.action('callback', {
  run: (_: null, step, event) => (event ? 1 : step.suspend({ timeout: '2d', signals: [{ name: 'remind', in: '1d' }] })),
})
const sure = payments.action('sure', {
  run: () => 1,
  undoRetry: { attempts: 1 },
  undo: () => {
    throw new Error('the bank keeps it')
  },
})

const nap = workflow('nap', { run: (_: null, task: TaskContext) => task.sleep('1d') })
const alone = workflow('alone', { exclusive: {}, run: (_: null, task: TaskContext) => task.sleep('1d') })
const one = workflow('one', {
  async run(which: 'slow' | 'flaky' | 'held' | 'callback', task: TaskContext) {
    const action = { slow, flaky, held, callback }[which]
    await task.run(action as typeof slow, null)
  },
})
const listens = workflow('listens', {
  run: (_: null, task: TaskContext) => task.waitForSignal('approved', { timeout: '2d' }),
})
const parent = workflow('parent', { run: (_: null, task: TaskContext) => task.call(nap, null, { id: 'kid' }) })
const undone = workflow('undone', {
  async run(_: null, task: TaskContext) {
    await task.run(sure, null)
    throw new Error('no')
  },
})
const child = workflow('child', {
  async run(name: string, task: TaskContext) {
    if (name === 'bad') throw new Error('no')
    await task.sleep('1d')
  },
})
const many = workflow('many', {
  run: (_: null, task: TaskContext) =>
    task.batch('all', { workflow: child, items: ['a', 'bad', 'c'], concurrency: 2, tolerate: 'any', failFast: false }),
})
const workflows = [nap, alone, one, listens, parent, undone, child, many]

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

async function all(): Promise<Stage> {
  return stage({ workflows, agents: [payments] })
}

async function whyOf(s: Stage, id: string): Promise<Explanation> {
  await s.settle()
  return s.engine.triarch.tasks.get(id).explain()
}

/** The one reason there is. */
async function only(s: Stage, id: string, code: ReasonCode): Promise<Explanation['reasons'][0]> {
  const { reasons, text } = await whyOf(s, id)
  expect(
    reasons.map((reason) => reason.code),
    text,
  ).toEqual([code])
  return reasons[0] as Explanation['reasons'][0]
}

describe('explain() says of a task', () => {
  it('that it has stopped, how and why', async () => {
    await using s = await all()
    const task = await s.submit(nap, null, { id: 't' })
    await task.cancel()
    expect(await only(s, 't', 'stopped')).toMatchObject({ outcome: 'cancelled' })
    expect((await whyOf(s, 't')).text).toBe('Task "t" (nap) has stopped (cancelled).')
    const other = await s.submit(nap, null, { id: 'o' })
    await other.cancel({ reason: 'the customer left' })
    expect(await only(s, 'o', 'stopped')).toMatchObject({ outcome: 'cancelled', error: 'the customer left' })
    expect((await whyOf(s, 'o')).text).toBe('Task "o" (nap) has stopped (cancelled): the customer left.')
    expect(await codeOf(s.engine.triarch.tasks.get('none').explain())).toBe('UNKNOWN_TASK')
  })

  it('that it sleeps, and until when', async () => {
    await using s = await all()
    await s.submit(nap, null, { id: 't' })
    const until = new Date(s.engine.now().getTime() + 86_400_000)
    await s.advance('6h')
    expect(await only(s, 't', 'timer')).toMatchObject({ until, text: expect.stringContaining('for 18 h more') })
  })

  it('that it is scheduled, and frozen, and comes after others', async () => {
    await using s = await all()
    await s.submit(nap, null, { id: 'first' })
    await s.submit(nap, null, { id: 't', startAt: '90m' })
    expect(await only(s, 't', 'scheduled')).toMatchObject({ text: expect.stringContaining('in 1 h 30 min') })
    await s.submit(nap, null, { id: 'f', frozen: true })
    expect((await only(s, 'f', 'frozen')).text).toBe('is frozen, until somebody approves it by a thaw')
    await s.submit(nap, null, { id: 'c', after: 'first' })
    expect(await only(s, 'c', 'predecessor')).toMatchObject({
      ...{ task: 'first', status: 'running' },
      text: 'comes after task "first", which is running',
    })
    await s.submit(nap, null, { id: 'all', after: 'first', frozen: true, startAt: '2h' })
    expect((await whyOf(s, 'all')).reasons.map(({ code }) => code)).toEqual(['frozen', 'scheduled', 'predecessor'])
  })

  it('who holds its lock since when, and who is before it', async () => {
    await using s = await all()
    for (const id of ['a', 'b', 'c']) await s.submit(alone, null, { id })
    expect(await only(s, 'b', 'lock')).toMatchObject({ lock: 'alone', holder: 'a', ahead: 1 })
    expect(await only(s, 'c', 'lock')).toMatchObject({
      holder: 'a',
      ahead: 2,
      text: expect.stringContaining('1 is before it in line'),
    })
  })

  it('that a function waits for a lock', async () => {
    const locker = workflow('locker', { run: async (_: null, task: TaskContext) => void (await task.lock('alone')) })
    await using s = await stage({ workflows: [alone, locker] })
    await s.submit(alone, null, { id: 'a' })
    await s.submit(locker, null, { id: 't' })
    expect(await only(s, 't', 'lock')).toMatchObject({ lock: 'alone', holder: 'a', since: s.engine.now() })
  })

  it('by whom it is paused, since when and why', async () => {
    await using s = await all()
    const task = await s.submit(nap, null, { id: 't' })
    await s.settle()
    await task.pause({ reason: 'the bank asked us to' })
    await s.settle()
    const since = s.engine.now()
    await s.advance('1h')
    expect(await only(s, 't', 'paused')).toMatchObject({ cause: 'operator', reason: 'the bank asked us to', since })
    expect((await whyOf(s, 't')).text).toContain('is paused by an operator since')
  })

  it('which step waits for an operator', async () => {
    await using s = await all()
    await s.submit(one, 'held', { id: 't' })
    expect(await only(s, 't', 'paused')).toMatchObject({ cause: 'step', step: 1 })
    expect((await whyOf(s, 't')).text).toContain('step 1 (held): no such account')
    await s.submit(undone, null, { id: 'u' })
    expect(await only(s, 'u', 'paused')).toMatchObject({
      ...{ cause: 'undo', step: 1 },
      text: expect.stringContaining('the bank keeps it'),
    })
  })

  it('that a stopped one that goes on waits for its locks', async () => {
    await using s = await all()
    const a = await s.submit(alone, null, { id: 'a' })
    await s.settle()
    await a.cancel()
    await s.settle()
    await s.submit(alone, null, { id: 'b' })
    await s.settle()
    await a.retry()
    const { reasons } = await whyOf(s, 'a')
    expect(reasons.map(({ code }) => code)).toEqual(['paused', 'lock'])
    expect(reasons).toMatchObject([{ cause: 'lock' }, { holder: 'b' }])
  })

  it('which step of which agent runs where, since when and until when', async () => {
    await using s = await all()
    await s.submit(one, 'slow', { id: 't' })
    await s.settle()
    const since = s.engine.now()
    await s.advance('1m')
    const completeBy = new Date(since.getTime() + 3_600_000)
    expect(await only(s, 't', 'step')).toMatchObject({
      step: 1,
      action: 'payments.slow',
      attempt: 1,
      since,
      completeBy,
    })
    expect((await whyOf(s, 't')).text).toContain('waits for step 1 (slow of agent payments), attempt 1, on node ')
    await s.engine.tasks.get('t').cancel({ force: true })
  })

  it('when it tries a step again, and what went wrong', async () => {
    await using s = await all()
    await s.submit(one, 'flaky', { id: 't' })
    await s.settle()
    await s.advance('1m')
    expect(await only(s, 't', 'retry')).toMatchObject({
      ...{ step: 1, attempt: 2, error: 'the bank is closed' },
      text: expect.stringContaining('again in 9 min'),
    })
  })

  it('that a step waits for a signal, until when, and what it will send itself', async () => {
    await using s = await all()
    await s.submit(one, 'callback', { id: 't' })
    await s.settle()
    const day = 86_400_000
    expect(await only(s, 't', 'suspended')).toMatchObject({
      ...{ step: 1, until: new Date(s.engine.now().getTime() + 2 * day) },
      next: { name: 'remind', at: new Date(s.engine.now().getTime() + day) },
    })
  })

  it('how far a batch is, whose children run', async () => {
    await using s = await all()
    await s.submit(many, null, { id: 't' })
    await s.advance('1h')
    const counts = { total: 3, started: 3, pending: 2, success: 0, failed: 1, cancelled: 0 }
    expect(await only(s, 't', 'batch')).toMatchObject({
      ...{ step: 1, ...counts },
      text: expect.stringContaining('1 of 3 children have ended, 1 failed'),
    })
  })

  it('for which signal it waits', async () => {
    await using s = await all()
    await s.submit(listens, null, { id: 't' })
    expect(await only(s, 't', 'signal')).toMatchObject({ name: 'approved', until: expect.any(Date) })
  })

  it('for which child it waits', async () => {
    await using s = await all()
    await s.submit(parent, null, { id: 't' })
    expect(await only(s, 't', 'child')).toMatchObject({ task: 'kid', workflow: 'nap', status: 'running' })
  })

  it('everything it waits for at once', async () => {
    const many = workflow('many', {
      run: (_: null, task: TaskContext) =>
        Promise.all([task.sleep('1h'), task.waitForSignal('go'), task.run(callback, null)]),
    })
    await using s = await stage({ workflows: [many], agents: [payments] })
    await s.submit(many, null, { id: 't' })
    expect((await whyOf(s, 't')).reasons.map(({ code }) => code)).toEqual(['suspended', 'timer', 'signal'])
  })

  it('that its plan is being made', async () => {
    const planned = workflow('planned', { plan: () => new Promise(() => undefined) })
    await using s = await stage({ workflows: [planned] })
    const task = await s.submit(planned, null, { id: 't', startAt: '1m' })
    await s.advance('61s')
    expect((await only(s, 't', 'planning')).text).toContain('is being planned since')
    await task.cancel({ force: true })
  })
})

describe('explain() says of a town of nodes', () => {
  function town() {
    const file = scratch()
    const environment = new VirtualEnvironment()
    const node = (roles: Role[], given = workflows) =>
      stage({
        ...{ store: file.store, environment, roles, lease: '10s', sweep: '1s', poll: '100ms' },
        workflows: roles.includes('scheduler') ? given : [],
        agents: roles.includes('agent') ? [payments] : [],
      })
    return { node, [Symbol.dispose]: () => file[Symbol.dispose]() }
  }

  it('that none runs the workflow, or which is before the task in line', async () => {
    using t = town()
    await using client = await t.node(['supervisor'])
    await client.submit(nap, null, { id: 'a' })
    await client.submit(nap, null, { id: 'b' })
    expect(await only(client, 'a', 'no-scheduler')).toMatchObject({ workflow: 'nap', version: '1' })
    await using other = await t.node(['scheduler'], [alone])
    expect(await only(client, 'a', 'no-scheduler')).toMatchObject({ workflow: 'nap' })
    await other.settle()
    // One that says it would run it, but has not come to it: a node that only registers.
    await client.store.heartbeat({
      id: 'n',
      roles: ['scheduler'],
      lease: 10_000,
      runs: { workflows: ['nap@1'], actions: [] },
    })
    expect(await only(client, 'b', 'queued')).toMatchObject({ ahead: 1 })
  })

  it('that none has the action, or how long the queue before the step is', async () => {
    using t = town()
    await using client = await t.node(['supervisor', 'scheduler'])
    for (const id of ['a', 'b', 'c']) await client.submit(one, 'slow', { id })
    expect(await only(client, 'a', 'no-agent')).toMatchObject({ step: 1, action: 'payments.slow' })
    await using _agent = await t.node(['agent'])
    await client.advance('1s')
    expect(await only(client, 'a', 'step')).toMatchObject({ node: expect.any(String) })
    expect(await only(client, 'b', 'step-queued')).toMatchObject({ ahead: 0 })
    expect(await only(client, 'c', 'step-queued')).toMatchObject({
      ahead: 1,
      text: expect.stringContaining('1 is before it'),
    })
    for (const id of ['a', 'b', 'c']) await client.engine.tasks.get(id).cancel({ force: true })
    await client.advance('2s')
  })

  it('that its node gives no sign of life', async () => {
    using t = town()
    await using client = await t.node([])
    await client.submit(nap, null, { id: 't' })
    await client.store.heartbeat({ id: 'dead', roles: ['scheduler'], lease: 1_000 })
    await client.store.claim({ node: 'dead', runnable: [{ workflow: 'nap', version: '1' }], limit: 1 })
    await client.advance('2s')
    expect(await only(client, 't', 'node-lost')).toMatchObject({ node: 'dead' })
  })
})
