import { describe, expect, it } from 'vitest'
import { agent, type TaskContext, workflow } from '../../src/index.ts'
import { eventsOf, stage } from './harness.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('an error that code leaves behind', () => {
  it('pauses its own task when a workflow left it, with a code, and hurts no other', async () => {
    const fetchRate = async (task: TaskContext) => {
      await task.sleep('1s')
      throw new Error('no rate')
    }
    const flow = workflow('flow', {
      async run(_: null, task) {
        const rate = fetchRate(task)
        await task.sleep('2s')
        return rate
      },
    })
    const fine = workflow('fine', { run: (n: number, task) => task.sleep('2d').then(() => n) })
    await using s = await stage({ workflows: [flow, fine] })
    const [task, other] = [await s.submit(flow, null), await s.submit(fine, 7)]
    await s.advance('1m')
    expect(await task.status()).toMatchObject({
      ...{
        status: 'paused',
        pause: { error: { code: 'UNHANDLED_ERROR', message: expect.stringContaining('no rate') } },
      },
    })
    expect(s.alerts).toMatchObject([{ code: 'TASK_PAUSED' }])
    await s.advance('3d')
    expect(await other.result()).toBe(7)
  })

  it('fails the attempt of a step that left it, which is tried again', async () => {
    const svc = agent('svc')
    const act = svc.action('act', {
      run: async (_: null, step) => {
        if (step.attempt > 1) return step.attempt
        void turn().then(() => Promise.reject(new Error('left behind')))
        return new Promise<number>(() => undefined)
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    await using s = await stage({ workflows: [flow], agents: [svc] })
    const task = await s.submit(flow, null)
    await s.settle()
    await turn()
    await s.advance('1m')
    expect(await task.result()).toBe(2)
    expect(await eventsOf(task, 'attemptFailed')).toMatchObject([{ error: { code: 'UNHANDLED_ERROR' } }])
  })

  it('is told to onError when its attempt was over', async () => {
    const flow = workflow('flow', {
      run: (_: null, task) =>
        task.run('leaving', () => {
          setImmediate(() => setImmediate(() => setImmediate(() => Promise.reject(new Error('late')))))
          return 1
        }),
    })
    const s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.result()).toBe(1)
    for (let at = 0; at < 9; at++) await turn()
    expect(s.errors).toMatchObject([{ code: 'UNHANDLED_ERROR', cause: { message: 'late' } }])
    await s.kill()
  })
})

describe('a workflow that awaits something that is not durable', () => {
  it('is told so once, with the place in its code and what to do', async () => {
    const flow = workflow('flow', {
      async run(_: null, task) {
        await turn()
        await task.sleep('1s')
      },
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    await turn()
    await s.advance('1m')
    const { error } = (await task.status()).pause ?? {}
    expect(error).toMatchObject({
      code: 'WORKFLOW_MISUSE',
      details: { place: expect.stringContaining('left.test.ts:') },
    })
    expect(error?.message.match(/not durable/g)).toHaveLength(1)
    expect(error?.message).toMatch(
      /asked for a sleep at .*left\.test\.ts:\d+:\d+ after awaiting .* put that into a step/,
    )
  })
})
