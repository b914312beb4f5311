import { describe, expect, it } from 'vitest'
import { type Action, agent, PermanentError, TransientError, UnknownOutcomeError, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { causes, events, eventsOf, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const quick = { attempts: 100, backoff: { initial: '100ms', max: '100ms', jitter: false } } as const
const rule = { minimum: 4, open: '10s', openMax: '10s', probes: 1 } as const

interface Order {
  region: string
  n: number
}

interface Given {
  keyed?: boolean
  /** What the second bank does when its own breaker is open. */
  otherwise?: 'park' | 'fail'
  concurrency?: number
}

/** A bank that may be ill, another that does its work then, and a vault that does that of the other. */
function banks({ keyed = false, otherwise, concurrency = 100 }: Given = {}) {
  const calls: string[] = []
  const state = { ill: false, broken: false }
  const key = (input: unknown) => (input as Order).region
  const vault = agent('vault')
  const store = vault.action('store', {
    run: (order: Order) => {
      calls.push(`vault ${order.n}`)
      return { by: 'vault', n: order.n }
    },
  })
  const second = agent('second', { circuitBreaker: rule })
  const lend = second.action('lend', {
    ...{ attemptWithin: '7s', retry: { attempts: 3, backoff: { initial: '1s', jitter: false } } },
    whenOpen: otherwise ?? { fallback: store },
    run: (order: Order, { idempotencyKey, attempt }) => {
      calls.push(`second ${order.n}`)
      if (state.broken) throw new TransientError('broken')
      return { by: `second ${idempotencyKey} ${attempt}`, n: order.n }
    },
    undo: ({ output }) => void calls.push(`second undo ${output.n}`),
  })
  const first = agent('first', { concurrency, circuitBreaker: { ...rule, ...(keyed && { key }) } })
  const pay = first.action('pay', {
    ...{ retry: quick, whenOpen: { fallback: lend } },
    run: (order: Order) => {
      calls.push(`first ${order.n}`)
      if (state.ill) throw new TransientError('ill')
      return { by: 'first', n: order.n }
    },
    undo: ({ output }) => void calls.push(`first undo ${output.n}`),
  })
  const look = first.action('look', { run: (order: Order) => order.n })
  const order = workflow('order', { run: (given: Order, task) => task.run(pay, given) })
  const planned = workflow('planned', { plan: (given: Order, plan) => plan.step(pay, given).output })
  const looking = workflow('looking', { run: (given: Order, task) => task.run(look, given) })
  const saga = workflow('saga', {
    async run(given: Order, task) {
      await task.run(pay, given)
      await task.waitForSignal('go')
      throw new PermanentError('undo it')
    },
  })
  const no = second.action('no', {
    run: () => {
      throw new PermanentError('no')
    },
  })
  const plannedSaga = workflow('planned-saga', {
    plan(given: Order, plan) {
      plan.sequence(() => {
        plan.step(pay, given)
        plan.step(no, undefined)
      })
    },
  })
  const workflows = [order, planned, looking, saga, plannedSaga]
  return {
    calls,
    state,
    pay,
    order,
    planned,
    looking,
    saga,
    plannedSaga,
    workflows,
    agents: [first, second, vault],
  }
}

async function staged(of: ReturnType<typeof banks>, options: Parameters<typeof stage>[0] = {}): Promise<Stage> {
  const s = await stage({ workflows: of.workflows, agents: of.agents, ...options })
  await s.advance('1s')
  return s
}

async function open(s: Stage, name = 'first'): Promise<void> {
  await s.engine.triarch.breakers.get(name).open({ reason: 'maintenance' })
  await s.advance('1s')
}

const given = (n: number, region = 'eu'): Order => ({ region, n })

describe('while its circuit breaker is open, a step whose action has a fallback', () => {
  for (const driver of ['order', 'planned'] as const)
    it(`is done by that, and says so (${driver})`, async () => {
      const of = banks()
      await using s = await staged(of)
      await open(s)
      const task = await s.submit(of[driver], given(1), { id: 't' })
      await s.settle()
      expect(await task.result()).toEqual({ by: expect.stringMatching(/^second t~\w+:1~1 2$/), n: 1 })
      expect(of.calls).toEqual(['second 1'])
      const [step] = await task.steps()
      expect(step).toMatchObject({ action: 'second.lend', fallbackOf: 'first.pay', name: 'pay', status: 'success' })
      const seen = (await task.history()).flatMap(({ events }) => events)
      expect(seen.filter(({ type }) => type === 'fallbackRequested')).toMatchObject([{ id: 1, action: 'second.lend' }])
      expect(await eventsOf(task, 'attemptFailed')).toEqual([])
      // The next is asked of the first again, once that is well.
      await s.engine.triarch.breakers.get('first').close({ reason: 'done' })
      await s.advance('1s')
      const next = await s.submit(of[driver], given(2))
      await s.settle()
      expect(await next.result()).toEqual({ by: 'first', n: 2 })
    })

  for (const driver of ['saga', 'plannedSaga'] as const)
    it(`is undone by whoever did it (${driver})`, async () => {
      const of = banks()
      await using s = await staged(of)
      await open(s)
      const task = await s.submit(of[driver], given(1))
      await s.settle()
      if (driver === 'saga') await task.signal('go')
      await s.settle()
      expect((await task.status()).outcome).toBe('compensated')
      expect(of.calls).toEqual(['second 1', 'second undo 1'])
    })

  it('needs no slot and no place in the queue of the first, and those that waited there go to the fallback', async () => {
    const of = banks({ concurrency: 1 })
    await using s = await staged(of)
    await open(s)
    const tasks = await Promise.all(Array.from({ length: 50 }, (_, n) => s.submit(of.order, given(n))))
    await s.settle()
    expect((await Promise.all(tasks.map((task) => task.result()))).every(({ by }) => by !== 'first')).toBe(true)
    expect((await s.engine.triarch.statistics.get()).work).toBe(0)
    expect(of.calls).toHaveLength(50)
  })

  it('does not take those with it that are to wait', async () => {
    const of = banks()
    await using s = await staged(of)
    await open(s)
    const looking = await s.submit(of.looking, given(1))
    const paying = await s.submit(of.order, given(2))
    await s.advance('5s')
    expect((await paying.result()).n).toBe(2)
    expect((await looking.explain()).reasons).toMatchObject([{ code: 'breaker', breaker: 'first', waiting: 1 }])
    await s.engine.triarch.breakers.get('first').close({ reason: 'done' })
    await s.advance('1s')
    expect(await looking.result()).toBe(1)
  })

  it('is tried as the fallback says, and fails as the workflow says', async () => {
    const of = banks()
    of.state.broken = true
    await using s = await staged(of)
    await open(s)
    const task = await s.submit(of.order, given(1))
    await s.advance('1m')
    expect((await task.status()).outcome).toBe('error')
    expect(of.calls).toEqual(['second 1', 'second 1', 'second 1'])
    expect(causes((await task.status()).error)).toContain('broken')
    const [requested] = await eventsOf(task, 'fallbackRequested')
    expect(requested?.policy).toMatchObject({ completeWithin: 7_000, retry: { attempts: 3 }, undo: true })
  })

  it('waits for its fallback, where the breaker of that is open, too', async () => {
    const of = banks({ otherwise: 'park' })
    await using s = await staged(of)
    await open(s)
    await open(s, 'second')
    const task = await s.submit(of.order, given(1))
    await s.advance('1s')
    const { reasons, text } = await task.explain()
    expect(reasons).toMatchObject([{ code: 'breaker', breaker: 'second', action: 'second.lend' }])
    expect(text).toContain('in place of first.pay')
    await s.engine.triarch.breakers.get('second').close({ reason: 'done' })
    await s.advance('1s')
    expect((await task.result()).n).toBe(1)
    expect(of.calls).toEqual(['second 1'])
  })

  it('fails, or goes to the fallback of its fallback, where that says so', async () => {
    for (const otherwise of ['fail', undefined] as const) {
      const of = banks(otherwise && { otherwise })
      await using s = await staged(of)
      await open(s)
      await open(s, 'second')
      const task = await s.submit(of.saga, given(1))
      await s.settle()
      expect(of.calls).toEqual(otherwise ? [] : ['vault 1'])
      if (otherwise)
        expect(causes((await task.status()).error).join()).toContain('the circuit breaker of second is open')
      else expect((await task.steps())[0]).toMatchObject({ action: 'vault.store', fallbackOf: 'first.pay' })
      if (otherwise) continue
      await task.signal('go')
      await s.settle()
      // What the vault did cannot be undone: nobody else is asked to.
      expect((await task.status()).outcome).toBe('error')
      expect(of.calls).toEqual(['vault 1'])
    }
  })

  it('goes by its key', async () => {
    const of = banks({ keyed: true })
    await using s = await staged(of)
    await open(s, 'first#eu')
    const [eu, us] = await Promise.all([s.submit(of.order, given(1)), s.submit(of.order, given(2, 'us'))])
    await s.settle()
    expect((await eu.result()).by).toMatch(/^second/)
    expect((await us.result()).by).toBe('first')
  })

  it('is told of as done by its fallback', async () => {
    const of = banks()
    const told: unknown[] = []
    await using s = await staged(of, {
      telemetry: {
        'step:fallback': ({ action, fallback }) => void told.push([action, fallback]),
        'step:ended': ({ action }) => void told.push(action),
      },
    })
    await open(s)
    await s.submit(of.order, given(1))
    await s.settle()
    expect(told).toEqual([['first.pay', 'second.lend'], 'second.lend'])
  })
})

describe('a step that may be done already', () => {
  /** The first attempt's answer is lost, and the breaker opens before the second. */
  async function doubtful(changes: boolean) {
    const calls: string[] = []
    const spare = agent('spare').action('do', {
      run: (n: number) => {
        calls.push('spare')
        return n
      },
    })
    const main = agent('main', { circuitBreaker: rule })
    let slow = true
    const act = main.action('do', {
      ...{ retry: { attempts: 9, backoff: { initial: '2s', jitter: false } }, whenOpen: { fallback: spare } },
      run: (n: number) => {
        calls.push('main')
        if (slow) throw new UnknownOutcomeError('no answer')
        return n
      },
      ...(changes && { undo: () => undefined }),
    })
    const order = workflow('order', { run: (n: number, task) => task.run(act, n) })
    const s = await stage({ workflows: [order], agents: [main, spare.agent] })
    const task = await s.submit(order, 1)
    await s.advance('1s')
    await open(s, 'main')
    await s.advance('3s')
    slow = false
    return { s, task, calls }
  }

  it('is not done again by another, where it changes something: it is put off', async () => {
    const { s, task, calls } = await doubtful(true)
    await using _ = s
    expect(calls).toEqual(['main'])
    expect((await task.explain()).reasons).toMatchObject([{ code: 'breaker', breaker: 'main' }])
    await s.engine.triarch.breakers.get('main').close({ reason: 'done' })
    await s.advance('2m')
    expect(await task.result()).toBe(1)
    expect(calls).toEqual(['main', 'main'])
  })

  it('is done by its fallback where it only reads', async () => {
    const { s, task, calls } = await doubtful(false)
    await using _ = s
    expect(await task.result()).toBe(1)
    expect(calls).toEqual(['main', 'spare'])
  })
})

describe('a fallback', () => {
  it('is known to whoever takes the task over, in processes of which each has one of the agents', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const of = banks()
    const [first, second] = of.agents
    const common = { store: file.store, environment, lease: '5s', sweep: '1s', poll: '100ms' } as const
    const owner = await stage({ ...common, workflows: of.workflows, roles: ['scheduler', 'supervisor'] })
    await using one = await stage({ ...common, agents: [first as never], roles: ['agent'] })
    await owner.advance('1s')
    await open(one)
    const task = await owner.submit(of.saga, given(1), { id: 't' })
    await owner.advance('1s')
    expect((await task.explain()).reasons).toMatchObject([{ code: 'no-agent', action: 'second.lend' }])
    await owner.kill()
    await using heir = await stage({ ...common, workflows: of.workflows, roles: ['scheduler', 'supervisor'] })
    await using _ = await stage({ ...common, agents: [second as never], roles: ['agent'] })
    await heir.advance('10s')
    const seen = heir.engine.tasks.get('t')
    expect((await seen.steps())[0]).toMatchObject({ action: 'second.lend', fallbackOf: 'first.pay', status: 'success' })
    await seen.signal('go')
    await heir.advance('5s')
    expect((await seen.status()).outcome).toBe('compensated')
    expect(of.calls).toEqual(['second 1', 'second undo 1'])
  })

  it('undoes what it did, also when its task was rewound to before', async () => {
    const of = banks()
    let failed = false
    const early = workflow('early', {
      rescue: 'fail',
      async run(given: Order, task) {
        await Promise.all([task.run('n', () => given.n), task.run(of.pay, given)])
        if (!failed) {
          failed = true
          throw new PermanentError('not this time')
        }
        await task.waitForSignal('never')
      },
    })
    await using s = await staged(of, { workflows: [early] })
    of.state.ill = true
    const task = await s.submit(early, given(1))
    await s.settle()
    await open(s)
    const order = (await events(task)).flatMap((event) => ('id' in event ? [`${event.type} ${event.id}`] : []))
    expect(order.indexOf('stepCompleted 1')).toBeLessThan(order.indexOf('fallbackRequested 2'))
    await task.retry({ step: 1 })
    await s.settle()
    expect(await eventsOf(task, 'reset')).toMatchObject([{ step: 1 }])
    await task.cancel({ compensate: true })
    await s.settle()
    expect(of.calls).toEqual(['first 1', 'second 1', 'second undo 1'])
  })

  it('is of another agent, without a circle, and an action that runs', () => {
    const breaker = { circuitBreaker: {} }
    const a = agent('a', breaker)
    const b = agent('b', breaker)
    const run = (n: number) => n
    const own = a.action('own', { run })
    const back = b.action('back', { run, whenOpen: { fallback: own } })
    const plain = agent('plain')
    const codeAt = (make: () => unknown): string => {
      try {
        make()
      } catch (error) {
        return String((error as { code?: string }).code)
      }
      return 'nothing'
    }
    const given: [string, () => unknown][] = [
      ['INVALID_OPTION', () => a.action('x1', { run, whenOpen: { fallback: own } })],
      ['INVALID_OPTION', () => a.action('x2', { run, whenOpen: { fallback: back } })],
      ['INVALID_OPTION', () => plain.action('x3', { run, whenOpen: { fallback: own } })],
      ['INVALID_OPTION', () => plain.action('x4', { run, whenOpen: 'fail' })],
      ['INVALID_OPTION', () => a.action('x5', { run, whenOpen: 'wait' as never })],
      ['UNKNOWN_ACTION', () => a.action('x6', { run, whenOpen: { fallback: 'b.back' as never } })],
      ['UNKNOWN_OPTION', () => a.action('x7', { run, whenOpen: { fallBack: back } as never })],
      [
        'INVALID_OPTION',
        () => a.action('x8', { run, finalize: () => undefined, whenOpen: { fallback: plain.action('y8', { run }) } }),
      ],
      [
        'INVALID_OPTION',
        () => a.action('x9', { run, whenOpen: { fallback: plain.action('y9', { run, finalize: () => undefined }) } }),
      ],
      ['INVALID_OPTION', () => agent('c', { circuitBreaker: { whenOpen: { fallback: own } as never } })],
      ['nothing', () => a.action('x10', { run, whenOpen: { fallback: plain.action('y10', { run }) } })],
    ]
    expect(given.map(([, make]) => codeAt(make))).toEqual(given.map(([code]) => code))
  })

  it('takes what its action takes, and gives what that gives', () => {
    const spare = agent('spare')
    const main = agent('main', { circuitBreaker: {} })
    const text: Action<string, string> = spare.action('text', { run: (it: string) => it })
    const run = (n: number) => n
    // @ts-expect-error: it takes and gives a text
    main.action('one', { run, whenOpen: { fallback: text } })
    // @ts-expect-error: it gives another thing
    main.action('two', { run, whenOpen: { fallback: spare.action('other', { run: (n: number) => String(n) }) } })
    main.action('three', { run, whenOpen: { fallback: spare.action('same', { run: (n: number) => n }) } })
    expect([...main.actions.keys()]).toEqual(['one', 'two', 'three'])
  })
})
