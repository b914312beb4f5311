import { describe, expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { MOST_CARRIED } from '../../src/kernel/step/carry.ts'
import { codeOf, eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** A shop that writes down what it does, and what it takes back. */
function shop() {
  const log: string[] = []
  const own = agent('shop')
  const pay = own.action('pay', {
    run(n: number) {
      log.push(`pay ${n}`)
      return { receipt: `r${n}` }
    },
    undo: ({ input, output }) => void log.push(`refund ${input} ${output.receipt}`),
  })
  const fail = own.action('fail', {
    run(_: null): never {
      throw new PermanentError('no')
    },
  })
  return { log, own, pay, fail }
}

describe('a task that continues as another run', () => {
  it('undoes what all its runs did, the last first, under the keys of their steps', async () => {
    const { log, own, pay, fail } = shop()
    const flow = workflow('flow', {
      async run(n: number, task) {
        await task.run(pay, n)
        if (n < 3) return task.continueAsNew(n + 1)
        await task.run(pay, 4)
        return task.run(fail, null)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, 1)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual([
      'pay 1',
      'pay 2',
      'pay 3',
      'pay 4',
      'refund 4 r4',
      'refund 3 r3',
      'refund 2 r2',
      'refund 1 r1',
    ])
    const steps = await task.steps()
    expect(steps.map(({ id, status }) => [id, status])).toEqual([[1, 'compensated'], [2, 'compensated'], [3, 'compensated'], [4, 'compensated'], [5, 'error']]) // biome-ignore format: one line
  })

  it('undoes them all the same when another process takes it over', async () => {
    const { log, own, pay } = shop()
    const flow = workflow('flow', {
      async run(n: number, task) {
        await task.run(pay, n)
        if (n < 3) return task.continueAsNew(n + 1)
        return task.waitForSignal('never')
      },
    })
    using file = scratch()
    const first = await stage({ workflows: [flow], agents: [own], store: file.store })
    await first.submit(flow, 1, { id: 't' })
    await first.settle()
    await first.kill()
    await using s = await stage({ workflows: [flow], agents: [own], store: file.store, seed: 2 })
    await s.advance('1m')
    await s.engine.tasks.get('t').cancel()
    await s.settle()
    expect((await s.engine.tasks.get('t').status()).outcome).toBe('cancelled')
    expect(log.slice(-3)).toEqual(['refund 3 r3', 'refund 2 r2', 'refund 1 r1'])
  })

  it('undoes side by side what an earlier run did side by side, and its batches and children', async () => {
    const { log, own, pay, fail } = shop()
    const child = workflow('child', { run: (n: number, task) => task.run(pay, n) })
    const flow = workflow('flow', {
      async run(isLast: boolean, task) {
        if (isLast) return task.run(fail, null)
        await task.batch('each', { workflow: child, items: [1, 2] })
        await task.call(child, 3)
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [flow, child], agents: [own] })
    const task = await s.submit(flow, false)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log.slice(0, 4)).toEqual(expect.arrayContaining(['pay 1', 'pay 2', 'pay 3', 'refund 3 r3']))
    expect(log.slice(4).sort()).toEqual(['refund 1 r1', 'refund 2 r2'])
  })

  it('is not called compensated when a compensation was a function of an earlier run: it says how much is left', async () => {
    const { log, own, pay, fail } = shop()
    const flow = workflow('flow', {
      async run(isLast: boolean, task) {
        if (isLast) return task.run(fail, null)
        await task.run(pay, 1)
        await task.run('note', () => 1, { undo: () => void log.push('never') })
        task.undo(() => void log.push('never'))
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, false)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    const { outcome, error } = await task.status()
    expect(outcome).toBe('error')
    expect(error).toMatchObject({ code: 'UNDO_INCOMPLETE', details: { left: 2 }, cause: { code: 'STEP_FAILED' } })
    expect(log).toEqual(['pay 1', 'refund 1 r1'])
  })

  it('says how much is left also when that is all that there was to undo', async () => {
    const { log, own, pay, fail } = shop()
    const child = workflow('child', { run: (n: number, task) => task.run(pay, n) })
    const flow = workflow('flow', {
      async run(run: number, task) {
        if (run === 1) await task.call(child, 1, { undo: true })
        if (run < 3) return task.continueAsNew(run + 1)
        return task.run(fail, null)
      },
    })
    await using s = await stage({ workflows: [flow, child], agents: [own] })
    const task = await s.submit(flow, 1)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    const { error } = await task.status()
    expect(error).toMatchObject({ code: 'UNDO_INCOMPLETE', details: { left: 1 }, cause: { code: 'STEP_FAILED' } })
    expect(log).toEqual(['pay 1'])
  })

  it('carries a bounded number of steps, the newest, and counts the others', async () => {
    const { log, own, pay, fail } = shop()
    const flow = workflow('flow', {
      async run(run: number, task) {
        if (run === 3) return task.run(fail, null)
        for (let n = 0; n < MOST_CARRIED / 2 + 1; n++) await task.run(pay, n)
        return task.continueAsNew(run + 1)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, 1)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect((await task.status()).error).toMatchObject({ code: 'UNDO_INCOMPLETE', details: { left: 2 } })
    expect(log.filter((line) => line.startsWith('refund'))).toHaveLength(MOST_CARRIED)
    expect(log.at(-1)).toBe('refund 2 r2')
    const [continued] = await eventsOf(task, 'continuedAsNew')
    expect(continued?.left).toBeUndefined()
  })

  it('that starts over with an edited input still undoes what it did before', async () => {
    const { log, own, pay, fail } = shop()
    const flow = workflow('flow', {
      rescue: 'fail',
      async run(n: number, task) {
        await task.run(pay, n)
        return task.run(fail, null)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, 1)
    await s.settle()
    await task.retry({ input: 2 })
    await s.settle()
    expect((await task.status()).outcome).toBe('error')
    await task.retry({ step: 4 })
    await s.settle()
    expect(log).toEqual(['pay 1', 'pay 2'])
    const undoable = (await task.steps()).filter((step) => step.undoable).map(({ id }) => id)
    expect(undoable).toEqual([1, 3])
  })

  it('hides what is secret in a step of an earlier run', async () => {
    const own = agent('own')
    const sign = own.action('sign', {
      secrets: ['key'],
      run: ({ key }: { key: string }) => ({ key, signed: true }),
      undo: () => undefined,
    })
    const flow = workflow('flow', {
      async run(isLast: boolean, task) {
        if (isLast) return task.waitForSignal('never')
        await task.run(sign, { key: 'hush-4711' })
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, false)
    await s.settle()
    expect(await eventsOf(task, 'stepCarried')).toHaveLength(1)
    expect(JSON.stringify([await task.history(), await task.steps()])).not.toContain('hush-4711')
  })
})
