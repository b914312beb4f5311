import { describe, expect, it } from 'vitest'
import { agent, type StepContext, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'

const deaf = workflow('deaf', {
  async run(_: null, task) {
    await task.sleep('1m')
    const got: unknown[] = []
    while (got.at(-1) !== 'last') got.push(await task.event('e'))
    return got
  },
})

describe('an event that emit() acknowledged', () => {
  it('is kept however full the mailbox is; what has no room is refused, until there is room again', async () => {
    await using s = await stage({ workflows: [deaf], limits: { mailbox: 3 }, poll: '1s' })
    const task = await s.submit(deaf, null)
    const taken: number[] = []
    const refused: number[] = []
    for (let n = 1; n <= 6; n++) {
      await task.emit('e', n).then(
        () => taken.push(n),
        (error) => {
          expect(error.code).toBe('MAILBOX_FULL')
          refused.push(n)
        },
      )
      await s.advance('2s')
    }
    expect(taken).toEqual([1, 2, 3])
    await s.advance('2m')
    await task.emit('e', 'last')
    expect(await task.result()).toEqual([...taken, 'last'])
    expect((await s.engine.triarch.statistics()).stale).toBe(0)
    expect(await s.store.counts()).toMatchObject({ inbox: 0 })
  })

  it('that is waited for finds room however full the mailbox is of others', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.event('approved') })
    await using s = await stage({ workflows: [waits], limits: { mailbox: 2 }, poll: '1s' })
    const task = await s.submit(waits, null)
    await s.settle()
    for (let n = 0; n < 2; n++) await task.emit('noise')
    await s.advance('2s')
    expect(await codeOf(task.emit('noise'))).toBe('MAILBOX_FULL')
    await task.emit('approved', 'yes')
    await s.advance('2s')
    expect(await task.result()).toBe('yes')
  })

  it('survives the full mailbox of a paused task, and the node that had it', async () => {
    await using s = await stage({ workflows: [deaf], limits: { mailbox: 2 }, poll: '1s' })
    const task = await s.submit(deaf, null)
    await task.pause()
    for (let n = 1; n <= 2; n++) await task.emit('e', n)
    await s.advance('10s')
    expect(await codeOf(task.emit('e', 3))).toBe('MAILBOX_FULL')
    await task.resume()
    await s.advance('2m')
    await task.emit('e', 'last')
    expect(await task.result()).toEqual([1, 2, 'last'])
  })

  it('is in the history when its task stopped before it could be heard', async () => {
    const quick = workflow('quick', { run: (_: null, task) => task.event('go') })
    await using s = await stage({ workflows: [quick], poll: '1s' })
    const task = await s.submit(quick, null)
    await s.settle()
    // Both are posted before the task is told of either.
    await Promise.all([task.emit('go', 1), task.emit('more', 2)])
    await s.advance('10s')
    expect(await task.result()).toBe(1)
    const said = [...(await eventsOf(task, 'unheeded')), ...(await eventsOf(task, 'eventReceived'))]
    expect(said.map((event) => ('message' in event ? (event.name ?? event.message) : event.name)).sort()).toEqual(
      expect.arrayContaining(['go', 'more']),
    )
    expect(await codeOf(task.emit('go'))).toBe('TASK_STOPPED')
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
        state.log.push(step.event ? [step.event.name, step.event.payload] : 'begins')
        if (step.event?.payload === 'pay' && state.fail) throw new Error('broken')
        return step.event ? step.event.payload : step.suspend()
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
    await s.engine.triarch.resume(state.token, 'pay')
    await s.advance('5s')
    expect((await task.status()).pause).toMatchObject({ reason: 'step' })
    state.fail = false
    await task.retry()
    await s.advance('5s')
    expect(await task.result()).toBe('pay')
    expect(state.log).toEqual(['begins', ['resume', 'pay'], 'begins', ['resume', 'pay']])
  })

  it('is kept by a step that an operator holds, and delivered when it waits again', async () => {
    const { state, bank, flow } = waiting()
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '1s' })
    state.fail = true
    const task = await s.submit(flow, null)
    await s.settle()
    await s.engine.triarch.resume(state.token, 'pay')
    await s.advance('5s')
    await s.engine.triarch.resume(state.token, 'second')
    await s.advance('5s')
    expect((await task.status()).status).toBe('paused')
    await task.retry()
    await s.advance('5s')
    expect((await task.status()).status).toBe('paused')
    await task.skip(1, 'by hand')
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
    await s.engine.triarch.resume(state.token, 'yes')
    await s.advance('5s')
    expect(await codeOf(s.engine.triarch.resume(state.token, 'again'))).toBe('TOKEN_SPENT')
    await s.engine.triarch.resume(state.token, 'again', { optional: true })
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
    await Promise.all([task.skip(1, 'a'), task.skip(1, 'b')])
    await s.advance('5s')
    expect(await task.result()).toBe('a')
    expect(await eventsOf(task, 'unheeded')).toMatchObject([{ message: 'skip', step: 1 }])
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
