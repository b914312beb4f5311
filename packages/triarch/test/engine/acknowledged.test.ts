import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type StepContext, Triarch, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, seen, stage } from './harness.ts'

const deaf = workflow('deaf', {
  async run(_: null, task) {
    await task.sleep('1m')
    const got: unknown[] = []
    while (got.at(-1) !== 'last') got.push(await task.waitForSignal('e'))
    return got
  },
})

describe('a submission', () => {
  it('of a task that is dropped while its sender looks whether it is the same is made again', async () => {
    const quick = workflow('quick', { run: (n: number) => n })
    const environment = new VirtualEnvironment()
    await using s = await stage({ workflows: [quick], environment, poll: '1s' })
    let there = 1
    const store = seen(
      () => s.store,
      (own) => ({
        submit: (tasks) => (there-- > 0 ? Promise.resolve([{ created: false, key: 1 }]) : own.submit(tasks)),
        open: async () => {},
        close: async () => {},
      }),
    )
    const client = new Triarch({ store, environment, workflows: [quick], roles: [] })
    await client.submit(quick, 7, { id: 'again' })
    await s.advance('2s')
    expect((await s.engine.triarch.tasks.get('again').status()).outcome).toBe('success')
    expect(there).toBe(-1)
    await client.stop()
  })
})

describe('a signal that signal() acknowledged', () => {
  it('is kept however full the inbox is; what has no room is refused, until there is room again', async () => {
    await using s = await stage({ workflows: [deaf], limits: { inbox: 3 }, poll: '1s' })
    const task = await s.submit(deaf, null)
    const taken: number[] = []
    const refused: number[] = []
    for (let n = 1; n <= 6; n++) {
      await task.signal('e', n).then(
        () => taken.push(n),
        (error) => {
          expect(error.code).toBe('INBOX_FULL')
          refused.push(n)
        },
      )
      await s.advance('2s')
    }
    expect(taken).toEqual([1, 2, 3])
    await s.advance('2m')
    await task.signal('e', 'last')
    expect(await task.result()).toEqual([...taken, 'last'])
    expect((await s.engine.triarch.statistics.get()).stale).toBe(0)
    expect(await s.store.counts()).toMatchObject({ inbox: 0 })
  })

  it('that is waited for finds room however full the inbox is of others', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('approved') })
    await using s = await stage({ workflows: [waits], limits: { inbox: 2 }, poll: '1s' })
    const task = await s.submit(waits, null)
    await s.settle()
    for (let n = 0; n < 2; n++) await task.signal('noise')
    await s.advance('2s')
    expect(await codeOf(task.signal('noise'))).toBe('INBOX_FULL')
    await task.signal('approved', 'yes')
    await s.advance('2s')
    expect(await task.result()).toBe('yes')
  })

  it('never undoes its task, however much of it there is', async () => {
    const undone: string[] = []
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('pay', () => 1, { undo: () => void undone.push('pay') })
        return task.waitForSignal('go')
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    const codes = new Map<string, number>()
    const size = 120_000
    for (let n = 0; n < 320; n++) {
      const code = await codeOf(task.signal('other', 'q'.repeat(size)))
      codes.set(code, (codes.get(code) ?? 0) + 1)
      if (n % 10 === 0) await s.settle()
    }
    await s.advance('1m')
    const taken = codes.get('nothing') ?? 0
    expect([...codes.keys()].sort()).toEqual(['INBOX_FULL', 'nothing'])
    // Half of what a history may have.
    expect(taken * size).toBeLessThanOrEqual(16 * 1024 * 1024)
    expect(taken * size).toBeGreaterThan(15.8 * 1024 * 1024)
    expect(await task.status()).toMatchObject({ status: 'running' })
    await task.signal('go', 'q'.repeat(size))
    await s.settle()
    expect(await task.result()).toHaveLength(size)
    expect(undone).toEqual([])
  })

  it('counts towards no bound of the history until it is asked for, nor across continueAsNew', async () => {
    const flow = workflow('flow', {
      async run(round: number, task): Promise<unknown> {
        const got = await task.waitForSignal('go')
        return round === 3 ? got : task.continueAsNew(round + 1)
      },
    })
    const limits = { history: 20, historyBytes: 40_000, inbox: 100 }
    await using s = await stage({ workflows: [flow], limits, poll: '1s' })
    const task = await s.submit(flow, 1)
    await s.settle()
    for (let n = 0; n < 90; n++) {
      await task.signal('other', n)
      await s.settle()
    }
    expect(await codeOf(task.signal('large', 'x'.repeat(19_000)))).toBe('INBOX_FULL')
    for (let n = 1; n <= 3; n++) {
      await task.signal('go', n)
      await s.advance('5s')
    }
    expect(await task.result()).toBe(3)
  })

  it('is one of as many as limits.inbox says, whoever sends at once and however often it is read', async () => {
    await using s = await stage({ workflows: [deaf], limits: { inbox: 5 }, poll: '1s' })
    const task = await s.submit(deaf, null)
    const flood = async () => {
      const codes = await Promise.all(
        Array.from({ length: 20 }, (_, n) => codeOf(task.signal(n === 3 ? 'e' : 'noise', n))),
      )
      return codes.filter((code) => code === 'nothing').length
    }
    expect(await flood()).toBe(5)
    expect(await flood()).toBe(0)
    for (let n = 0; n < 5; n++) {
      await s.advance('1s')
      expect(await flood()).toBe(0)
    }
    await s.advance('2m')
    // One was heard, and leaves room for one.
    expect(await flood()).toBe(2)
    await task.cancel()
    await s.advance('1m')
    expect((await task.status()).status).toBe('stopped')
    expect(await s.store.counts()).toMatchObject({ inbox: 0 })
  })

  it('finds room if the task waits for it, though nobody has read what fills the inbox', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('approved') })
    await using s = await stage({ workflows: [waits], limits: { inbox: 2 }, poll: '1s' })
    const task = await s.submit(waits, null)
    await s.settle()
    const names = ['noise', 'noise', 'noise', 'approved', 'approved', 'noise']
    const codes = await Promise.all(names.map((name, n) => codeOf(task.signal(name, n))))
    expect(codes.slice(0, 4)).toEqual(['nothing', 'nothing', 'INBOX_FULL', 'nothing'])
    expect(codes.slice(4)).toEqual(['INBOX_FULL', 'INBOX_FULL'])
    await s.settle()
    expect(await task.result()).toBe(3)
  })

  it('survives the full inbox of a paused task, and the node that had it', async () => {
    await using s = await stage({ workflows: [deaf], limits: { inbox: 2 }, poll: '1s' })
    const task = await s.submit(deaf, null)
    await task.pause()
    for (let n = 1; n <= 2; n++) await task.signal('e', n)
    await s.advance('10s')
    expect(await codeOf(task.signal('e', 3))).toBe('INBOX_FULL')
    await task.resume()
    await s.advance('2m')
    await task.signal('e', 'last')
    expect(await task.result()).toEqual([1, 2, 'last'])
  })

  it('is in the history when its task stopped before it could be heard', async () => {
    const quick = workflow('quick', { run: (_: null, task) => task.waitForSignal('go') })
    await using s = await stage({ workflows: [quick], poll: '1s' })
    const task = await s.submit(quick, null)
    await s.settle()
    // Both are posted before the task is told of either.
    await Promise.all([task.signal('go', 1), task.signal('more', 2)])
    await s.advance('10s')
    expect(await task.result()).toBe(1)
    const said = [...(await eventsOf(task, 'messageIgnored')), ...(await eventsOf(task, 'signalReceived'))]
    expect(said.map((event) => ('message' in event ? (event.name ?? event.message) : event.name)).sort()).toEqual(
      expect.arrayContaining(['go', 'more']),
    )
    expect(await codeOf(task.signal('go'))).toBe('TASK_STOPPED')
    expect((await task.status()).status).toBe('stopped')
  })
})

describe('what resume(token) acknowledged', () => {
  function waiting() {
    const state = { token: '', fail: false, log: [] as unknown[] }
    const bank = agent('bank')
    const wait = bank.action('wait', {
      rescue: 'pause',
      retry: { attempts: 1 },
      async run(_: null, step: StepContext) {
        state.token = step.token
        state.log.push(step.received ? [step.received.name, step.received.payload] : 'begins')
        if (step.received?.payload === 'pay' && state.fail) throw new Error('broken')
        return step.received ? step.received.payload : step.suspend()
      },
    })
    return { state, bank, flow: workflow('flow', { run: (_: null, task) => task.run(wait, null) }) }
  }

  it('comes again when the step that broke over it is tried again', async () => {
    const { state, bank, flow } = waiting()
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    state.fail = true
    const task = await s.submit(flow, null)
    await s.settle()
    await s.engine.triarch.tasks.resume(state.token, 'pay')
    await s.advance('5s')
    expect((await task.status()).pause).toMatchObject({ cause: 'step' })
    state.fail = false
    await task.retry()
    await s.advance('5s')
    expect(await task.result()).toBe('pay')
    expect(state.log).toEqual(['begins', ['resume', 'pay'], 'begins', ['resume', 'pay']])
  })

  it('of a busy step never undoes its task, and has its bound', async () => {
    const { state, bank, flow } = waiting()
    const limits = { history: 60, inbox: 30 }
    await using s = await stage({ workflows: [flow], agents: [bank], limits, poll: '1s' })
    state.fail = true
    const task = await s.submit(flow, null)
    await s.settle()
    await s.engine.triarch.tasks.resume(state.token, 'pay')
    await s.advance('5s')
    const codes: string[] = []
    for (let n = 0; n < 50; n++) {
      codes.push(await codeOf(s.engine.triarch.tasks.resume(state.token, n)))
      await s.settle()
    }
    // Three quarters of the inbox: the rest is for those who may send to the task itself.
    expect(codes.filter((code) => code === 'nothing')).toHaveLength(23)
    expect(new Set(codes.slice(23))).toEqual(new Set(['INBOX_FULL']))
    expect(await codeOf(task.signal('anything', 1))).toBe('nothing')
    state.fail = false
    await task.retry()
    await s.advance('5s')
    expect(await task.result()).toBe('pay')
  })

  it('is kept by a step that an operator holds, and delivered when it waits again', async () => {
    const { state, bank, flow } = waiting()
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    state.fail = true
    const task = await s.submit(flow, null)
    await s.settle()
    await s.engine.triarch.tasks.resume(state.token, 'pay')
    await s.advance('5s')
    await s.engine.triarch.tasks.resume(state.token, 'second')
    await s.advance('5s')
    expect((await task.status()).status).toBe('paused')
    await task.retry()
    await s.advance('5s')
    expect((await task.status()).status).toBe('paused')
    await task.skip({ step: 1, output: 'by hand' })
    await s.advance('5s')
    expect(await task.result()).toBe('by hand')
    expect(await eventsOf(task, 'stepSignalled')).toHaveLength(2)
  })

  it('is refused when its step is done', async () => {
    const { state, bank, flow } = waiting()
    const long = workflow('long', {
      async run(_: null, task) {
        await task.call(flow, null, { id: 'child' })
        await task.sleep('1d')
      },
    })
    const both = workflow('both', {
      async run(_: null, task) {
        const [action] = bank.actions.values()
        await task.run(action as never, null as never)
        await task.sleep('1d')
      },
    })
    await using s = await stage({ workflows: [flow, long, both], agents: [bank], poll: '1s' })
    await s.submit(both, null)
    await s.settle()
    await s.engine.triarch.tasks.resume(state.token, 'yes')
    await s.advance('5s')
    expect(await codeOf(s.engine.triarch.tasks.resume(state.token, 'again'))).toBe('TOKEN_SPENT')
    await s.engine.triarch.tasks.resume(state.token, 'again', { optional: true })
  })
})

describe('a control', () => {
  it('that no longer fits when it is read is in the history, with the reason', async () => {
    const bank = agent('bank')
    const act = bank.action('act', {
      rescue: 'pause',
      run: () => Promise.reject(new Error('no')),
      retry: { attempts: 1 },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    await Promise.all([task.skip({ step: 1, output: 'a' }), task.skip({ step: 1, output: 'b' })])
    await s.advance('5s')
    expect(await task.result()).toBe('a')
    expect(await eventsOf(task, 'messageIgnored')).toMatchObject([{ message: 'skip', step: 1 }])
  })

  it('never undoes its task, however often it is given', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    await using s = await stage({ workflows: [waits], limits: { history: 30, historyBytes: 20_000 }, poll: '1s' })
    const task = await s.submit(waits, null)
    await s.settle()
    for (let n = 0; n < 40; n++) {
      await task.pause({ reason: 'x'.repeat(1_000) })
      await s.settle()
      await task.resume()
      await s.settle()
    }
    await task.signal('go', 'fine')
    await s.settle()
    expect(await task.result()).toBe('fine')
  })

  it('is refused where a thousand of its kind wait to be read', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    await using s = await stage({ workflows: [waits], poll: '1s' })
    const task = await s.submit(waits, null)
    await s.settle()
    const codes = await Promise.all(Array.from({ length: 1_010 }, () => codeOf(task.pause())))
    expect(codes.filter((code) => code === 'INBOX_FULL')).toHaveLength(10)
    await task.cancel()
    await s.advance('10s')
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'cancelled' })
  })

  it('retry with an input is of one step: which, must be said where several are held', async () => {
    const paid: unknown[] = []
    const bank = agent('bank')
    let broken = true
    const pay = bank.action('pay', {
      rescue: 'pause',
      retry: { attempts: 1 },
      run: (amount: number) => (broken ? Promise.reject(new Error('no')) : paid.push(amount)),
    })
    const flow = workflow('flow', { run: (_: null, task) => Promise.all([task.run(pay, 10), task.run(pay, 20)]) })
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.settle()
    broken = false
    expect(await codeOf(task.retry({ input: 11 }))).toBe('ILLEGAL_MOVE')
    await task.retry({ step: 1, input: 11 })
    await s.advance('1s')
    await task.retry({ input: 21 })
    await s.advance('1s')
    await task.result()
    expect(paid).toEqual([11, 21])
  })
})

describe('a control that names a step', () => {
  /** Two steps that are held; `mend()` makes them succeed from then on. */
  async function twoHeld(kind: 'function' | 'plan', extra: { local?: boolean } = {}) {
    let broken = true
    const ran: number[] = []
    const bank = agent('bank')
    const code = (n: number) => {
      if (broken) throw new Error('no')
      ran.push(n)
      return n
    }
    const pay = bank.action('pay', { rescue: 'pause', retry: { attempts: 1 }, run: code })
    const once = { rescue: 'pause', retry: { attempts: 1 } } as const
    const flow = workflow('flow', {
      run: (_: null, task) =>
        Promise.all([1, 2].map((n) => (extra.local ? task.run(`pay ${n}`, () => code(n), once) : task.run(pay, n)))),
    })
    const planned = workflow('planned', {
      plan: (_: null, plan) => [plan.step(pay, 1).output, plan.step(pay, 2).output],
    })
    const s = await stage({ workflows: [flow, planned], agents: [bank], poll: '1s' })
    const task = await (kind === 'plan' ? s.submit(planned, null) : s.submit(flow, null))
    await s.advance('5s')
    expect(await task.status()).toMatchObject({ status: 'paused' })
    const mend = () => {
      broken = false
    }
    return { s, task, ran, mend }
  }

  it.each([
    ['an action of a function', 'function', {}],
    ['a local step', 'function', { local: true }],
    ['a plan', 'plan', {}],
  ] as const)('retry lets one of two held steps go on at once, the other waits on: %s', async (_, kind, extra) => {
    const { s, task, ran, mend } = await twoHeld(kind, extra)
    mend()
    await task.retry({ step: 2 })
    await s.advance('5s')
    expect(ran).toEqual([2])
    expect(await task.status()).toMatchObject({ status: 'paused' })
    expect((await task.steps()).map(({ status }) => status).sort()).toEqual(['error', 'success'])
    await task.retry()
    await s.advance('5s')
    expect((await task.status()).outcome).toBe('success')
    expect(ran).toEqual([2, 1])
    await s.leave()
  })

  it('one that is let go and fails again is held again, and its retries happen though the task is paused', async () => {
    let runs = 0
    let broken = true
    const bank = agent('bank')
    const pay = bank.action('pay', {
      rescue: 'pause',
      retry: { attempts: 3, backoff: { initial: '1m' } },
      run(n: number) {
        if (broken) throw new PermanentError('no')
        if (n === 1 && ++runs < 3) throw new Error('not yet')
        return n
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => Promise.all([task.run(pay, 1), task.run(pay, 2)]) })
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    await task.retry({ step: 1 })
    await s.advance('1h')
    expect((await task.steps()).map(({ status }) => status)).toEqual(['error', 'error'])
    broken = false
    await task.retry({ step: 1 })
    await s.advance('1h')
    expect((await task.steps()).map(({ status }) => status)).toEqual(['success', 'error'])
    expect(runs).toBe(3)
    await task.skip({ step: 2, output: 'two' })
    await s.settle()
    expect(await task.result()).toEqual([1, 'two'])
  })

  it('is refused where there is no such step, or it is not held', async () => {
    const { s, task, mend } = await twoHeld('function')
    expect(await codeOf(task.retry({ step: 99 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.retry({ step: 99, input: 5 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 99, output: 1 }))).toBe('ILLEGAL_MOVE')
    mend()
    await task.retry({ step: 1 })
    await s.advance('5s')
    expect(await codeOf(task.retry({ step: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 1, output: 1 }))).toBe('ILLEGAL_MOVE')
    await task.retry()
    await s.advance('5s')
    expect(await codeOf(task.retry({ step: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 1, output: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await eventsOf(task, 'messageIgnored')).toEqual([])
    expect(await codeOf(s.engine.tasks.get('none').retry({ step: 1 }))).toBe('UNKNOWN_TASK')
    await s.leave()
  })

  it('is refused for a failed task that has no such step; its own failed step is another matter', async () => {
    let broken = true
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('a', () => 1)
        const once = { rescue: 'fail', retry: { attempts: 1 } } as const
        return task.run('b', () => (broken ? Promise.reject(new Error('no')) : 2), once)
      },
    })
    await using s = await stage({ workflows: [flow], poll: '1s' })
    const task = await s.submit(flow, null)
    await s.advance('5s')
    expect((await task.status()).outcome).toBe('error')
    expect(await codeOf(task.retry({ step: 99 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 1, output: 1 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(task.skip({ step: 99, output: 1 }))).toBe('ILLEGAL_MOVE')
    broken = false
    await task.retry({ step: 2 })
    await s.advance('5s')
    expect(await task.result()).toBe(2)
  })

  it('retry, together with a pause of the whole task, is still heard: it was the later word on that step', async () => {
    const { s, task, ran, mend } = await twoHeld('function', { local: true })
    mend()
    await Promise.all([task.retry({ step: 2 }), task.pause().catch(() => undefined)])
    await s.advance('5s')
    expect(ran).toEqual([2])
    await task.resume()
    await s.advance('5s')
    expect(await task.result()).toEqual([1, 2])
    await s.leave()
  })
})
