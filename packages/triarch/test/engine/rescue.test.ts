import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type RescueOption, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'

/** `first` can be undone; `second` fails until it is given something that works. */
function shop(rescue: { action?: RescueOption; workflow?: RescueOption; step?: RescueOption } = {}) {
  const log: string[] = []
  const own = agent('shop')
  const first = own.action('first', {
    run: () => void log.push('first'),
    undo: () => void log.push('undo first'),
  })
  const second = own.action('second', {
    ...(rescue.action && { rescue: rescue.action }),
    retry: { attempts: 2, backoff: { initial: 0 } },
    run(input: { works: boolean }) {
      log.push('second')
      if (!input.works) throw new PermanentError('sold out')
      return 'reserved'
    },
    undo: () => void log.push('undo second'),
  })
  const flow = workflow('flow', {
    ...(rescue.workflow && { rescue: rescue.workflow }),
    async run(input: { works: boolean }, task) {
      await task.run(first, undefined as never)
      const got = await task.run(second, input, rescue.step ? { rescue: rescue.step } : {})
      return { got }
    },
  })
  return { log, flow, parts: { workflows: [flow], agents: [own] } }
}

const fails = { works: false }

describe('a step whose attempts are used up', () => {
  it('compensates the task by default', async () => {
    const { log, flow, parts } = shop()
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['first', 'second', 'undo first'])
    expect((await task.status()).error?.message).toContain('sold out')
  })

  it('is skipped with its substitute, and the task ends in warning', async () => {
    const { log, flow, parts } = shop({ action: { skip: 'later' } })
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    expect(await task.result()).toEqual({ got: 'later' })
    expect((await task.status()).outcome).toBe('warning')
    expect(log).toEqual(['first', 'second'])
    expect((await eventsOf(task, 'stepSkipped'))[0]).toMatchObject({ id: 2, output: 'later', by: 'rescue' })
  })

  it('fails the task without undoing anything', async () => {
    const { log, flow, parts } = shop({ action: 'fail' })
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'error' })
    expect(log).toEqual(['first', 'second'])
  })

  it('pauses the task, with an alert, until an operator retries it with another input', async () => {
    const { log, flow, parts } = shop({ action: 'pause' })
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    await s.settle()
    expect(await task.status()).toMatchObject({
      status: 'paused',
      pause: { cause: 'step', error: { message: 'sold out' } },
    })
    expect(s.alerts).toMatchObject([{ task: task.id, workflow: 'flow', cause: 'step', step: 2 }])
    await task.retry()
    await s.settle()
    expect((await task.status()).status).toBe('paused')
    await task.retry({ step: 2, input: { works: true } })
    expect(await task.result()).toEqual({ got: 'reserved' })
    expect(log).toEqual(['first', 'second', 'second', 'second'])
  })

  it('pauses the task until an operator skips it', async () => {
    const { flow, parts } = shop({ action: 'pause' })
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    await s.settle()
    await task.skip({ step: 2, output: 'by hand' })
    expect(await task.result()).toEqual({ got: 'by hand' })
    expect((await task.status()).outcome).toBe('warning')
  })

  it('pauses the task until an operator gives it up: then what was done is undone', async () => {
    const { log, flow, parts } = shop({ action: 'pause' })
    await using s = await stage(parts)
    const task = await s.submit(flow, fails)
    await s.settle()
    await task.cancel()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(log).toEqual(['first', 'second', 'undo first'])
  })

  it('takes the strategy of the workflow over its action, and of the step over both', async () => {
    const over = async (rescue: Parameters<typeof shop>[0]) => {
      const { flow, parts } = shop(rescue)
      await using s = await stage(parts)
      const task = await s.submit(flow, fails)
      await s.settle()
      const { status, outcome } = await task.status()
      return `${status} ${outcome}`
    }
    expect(await over({ action: 'pause', workflow: 'fail' })).toBe('stopped error')
    expect(await over({ action: 'pause', workflow: 'fail', step: { skip: 1 } })).toBe('stopped warning')
    expect(await over({ workflow: 'fail', step: 'compensate' })).toBe('stopped compensated')
    expect(await over({ step: 'pause' })).toBe('paused pending')
  })
})

describe("a workflow's own error", () => {
  const broken = (rescue?: RescueOption) => {
    const log: string[] = []
    let mended = false
    const flow = workflow('broken', {
      ...(rescue && { rescue }),
      async run(_: null, task) {
        await task.run('made', () => void log.push('made'), { undo: () => void log.push('undone') })
        if (!mended) throw new RangeError('a fault of its own')
        return 'fine'
      },
    })
    return { flow, log, mend: () => (mended = true) }
  }

  it('compensates by default', async () => {
    const { flow, log } = broken()
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect((await task.status()).error).toMatchObject({ name: 'RangeError', message: 'a fault of its own' })
    expect(log).toEqual(['made', 'undone'])
  })

  it('only fails where the workflow says so', async () => {
    const { flow, log } = broken('fail')
    await using s = await stage({ workflows: [flow] })
    expect(await codeOf((await s.submit(flow, null)).result())).toBe('TASK_FAILED')
    expect(log).toEqual(['made'])
  })

  it('pauses where the workflow says so, and goes on with mended code', async () => {
    const { flow, log, mend } = broken('pause')
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'error' } })
    expect(s.alerts).toHaveLength(1)
    mend()
    await task.resume()
    expect(await task.result()).toBe('fine')
    expect(log).toEqual(['made'])
  })
})
