import { describe, expect, it } from 'vitest'
import { agent, type OperationReport, type TaskHandle, TriarchError, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { type Stage, seen, stage } from './harness.ts'

const bank = agent('bank')
let isUp = false
const charge = bank.action('charge', {
  run: async () => {
    if (!isUp) throw new Error('card declined')
    return 'paid'
  },
  retry: { attempts: 1 },
  rescue: 'pause',
})
const order = workflow('order', { run: async (_: null, task) => task.run(charge, null) })
const decision = workflow('decision', { run: async (_: null, task) => task.waitForSignal('decided') })
const setup = { workflows: [order, decision], agents: [bank], operations: true }

async function submitted(s: Stage, many: number, what = decision): Promise<string[]> {
  const ids = Array.from({ length: many }, (_, i) => `t${i}`)
  for (const id of ids) await s.submit(what as typeof decision, null, { id })
  await s.settle()
  return ids
}

async function ended(s: Stage, operation: TaskHandle<OperationReport>): Promise<OperationReport> {
  const result = operation.result()
  await s.advance('10s')
  return result
}

async function signals(s: Stage, id: string): Promise<number> {
  const records = await s.engine.triarch.tasks.get(id).history()
  return records.flatMap(({ events }) => events).filter(({ type }) => type === 'signalReceived').length
}

describe('an operation', () => {
  it('asks one thing of all tasks that fit, once, and reports who, what, why and how many', async () => {
    isUp = false
    await using s = await stage(setup)
    const { triarch } = s.engine
    await submitted(s, 3, order as never)
    await s.submit(decision, null, { id: 'other' })
    await s.settle()
    expect(await triarch.tasks.count({ filter: 'status:paused' })).toEqual({ count: 3 })
    isUp = true
    const said = {
      filter: 'status:paused',
      action: 'retry',
      confirm: 3,
      reason: 'the bank is back',
      actor: 'anna',
    } as const
    const operation = await triarch.tasks.operate(said, { id: 'op-1' })
    expect(await ended(s, operation)).toEqual({ ...said, matched: 3, done: 3, failed: 0 })
    for (const id of ['t0', 't1', 't2']) expect((await triarch.tasks.get(id).status()).outcome).toBe('success')
    expect((await triarch.tasks.get('other').status()).status).toBe('running')
    // The same once more is the same.
    expect((await triarch.tasks.operate(said, { id: 'op-1' })).isNew).toBe(false)
    await expect(triarch.tasks.operate({ ...said, action: 'cancel' }, { id: 'op-1' })).rejects.toMatchObject({
      code: 'TASK_EXISTS',
    })
  })

  it('is refused where more tasks fit than were confirmed, and takes no more than these', async () => {
    await using s = await stage(setup)
    const { triarch } = s.engine
    await submitted(s, 5)
    const asks = { filter: 'workflow:decision', action: 'cancel' } as const
    await expect(triarch.tasks.operate({ ...asks, confirm: 4 })).rejects.toMatchObject({ code: 'MORE_THAN_CONFIRMED' })
    const operation = await triarch.tasks.operate({ ...asks, confirm: 5 })
    await s.submit(decision, null, { id: 'later' })
    expect(await ended(s, operation)).toMatchObject({ matched: 5, done: 5, failed: 0 })
    const left = await triarch.tasks.list({ filter: 'workflow:decision -status:stopped' })
    expect(left.tasks).toHaveLength(1)
  })

  it('is never asked of itself, and tells of each task why it did not take it', async () => {
    await using s = await stage(setup)
    const { triarch } = s.engine
    await submitted(s, 2)
    await triarch.tasks.get('t0').cancel()
    await s.settle()
    const operation = await triarch.tasks.operate({ filter: '', action: 'pause', confirm: 2 })
    expect(await ended(s, operation)).toMatchObject({ matched: 2, done: 1, failed: 1 })
    const { tasks } = await operation.children()
    expect(tasks.map(({ outcome, error }) => [outcome, error?.cause?.code ?? error?.code])).toEqual(
      expect.arrayContaining([
        ['success', undefined],
        ['error', 'TASK_STOPPED'],
      ]),
    )
  })

  it('asks a task once though the answer was lost', async () => {
    let lost = 0
    const lossy = (store: StateStore) => ({
      post: async (posts: Parameters<StateStore['post']>[0]) => {
        const outcome = await store.post(posts)
        const isSignal = posts.some(({ message }) => message.type === 'event' || message.type === 'signal')
        if (isSignal && lost++ === 0) throw new TriarchError('STORE_UNAVAILABLE', 'lost')
        return outcome
      },
    })
    await using s = await stage({ ...setup, store: seen(memory(), lossy) })
    await submitted(s, 2)
    const options = { name: 'note', payload: 1 }
    const operation = await s.engine.triarch.tasks.operate({
      filter: 'workflow:decision',
      action: 'signal',
      options,
      confirm: 2,
    })
    const result = operation.result()
    await s.advance('2m')
    expect(await result).toMatchObject({ done: 2, failed: 0 })
    expect(lost).toBeGreaterThan(2)
    expect([await signals(s, 't0'), await signals(s, 't1')]).toEqual([1, 1])
  })

  it('is called off like any task', async () => {
    await using s = await stage(setup)
    await submitted(s, 2)
    const operation = await s.engine.triarch.tasks.operate({ filter: 'workflow:decision', action: 'pause', confirm: 2 })
    await operation.cancel({ compensate: false })
    await s.advance('10s')
    expect((await operation.status()).outcome).toBe('cancelled')
  })

  it.each([
    [{ filter: 'nonsense:1' }, 'INVALID_FILTER'],
    [{ action: 'delete' }, 'INVALID_OPTION'],
    [{ confirm: 0 }, 'INVALID_OPTION'],
    [{ confirm: 10_001 }, 'INVALID_OPTION'],
    [{ action: 'signal' }, 'INVALID_NAME'],
    [{ options: [] }, 'INVALID_OPTION'],
    [{ dryRun: true }, 'UNKNOWN_OPTION'],
  ])('is refused where it makes no sense: %j', async (change, code) => {
    await using s = await stage(setup)
    const order = { filter: '', action: 'pause', confirm: 1, ...change } as never
    await expect(s.engine.triarch.tasks.operate(order)).rejects.toMatchObject({ code })
  })
})

describe('a count', () => {
  it('goes no further than it is asked to', async () => {
    await using s = await stage(setup)
    await submitted(s, 5)
    const { triarch } = s.engine
    expect(await triarch.tasks.count()).toEqual({ count: 5 })
    expect(await triarch.tasks.count({ most: 5 })).toEqual({ count: 5 })
    expect(await triarch.tasks.count({ filter: 'workflow:decision', most: 3 })).toEqual({ count: 3, truncated: true })
    await expect(triarch.tasks.count({ most: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await s.kill()
  })
})
