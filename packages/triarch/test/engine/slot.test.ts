import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { stage } from './harness.ts'

/** Code that goes on until it is told to return, whatever becomes of its attempt. */
function stubborn(options: { concurrency?: number } = {}) {
  const running: (() => void)[] = []
  const counts = { now: 0, most: 0, begun: 0 }
  const svc = agent('svc', { concurrency: 1 })
  const act = svc.action('act', {
    ...options,
    attemptWithin: '20s',
    retry: { attempts: 2, backoff: { initial: '1ms' } },
    run: async (_: null) => {
      counts.begun++
      counts.most = Math.max(counts.most, ++counts.now)
      await new Promise<void>((resolve) => running.push(resolve))
      counts.now--
      return 'done'
    },
  })
  const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
  return { workflows: [flow], agents: [svc], flow, counts, running }
}

describe('code that outlives its attempt', () => {
  it('keeps its slot until it returns: the next one waits', async () => {
    const { flow, counts, running, ...definitions } = stubborn()
    await using s = await stage(definitions)
    const task = await s.submit(flow, null)
    await s.advance('21s')
    expect(counts).toMatchObject({ begun: 1, now: 1 })
    running.shift()?.()
    await s.advance('1s')
    expect(counts).toMatchObject({ begun: 2, now: 1, most: 1 })
    running.shift()?.()
    await s.settle()
    expect(await task.result()).toBe('done')
    expect(s.alerts).toEqual([])
  })

  it('keeps the place of its action as well', async () => {
    const { flow, counts, running, ...definitions } = stubborn({ concurrency: 1 })
    await using s = await stage(definitions)
    const task = await s.submit(flow, null)
    await s.advance('25s')
    expect(counts).toMatchObject({ begun: 1, now: 1 })
    running.shift()?.()
    await s.advance('1s')
    running.shift()?.()
    await s.settle()
    expect(await task.result()).toBe('done')
    expect(counts).toMatchObject({ begun: 2, most: 1 })
  })

  it('loses it after as long again as the attempt had, and an alert names it', async () => {
    const { flow, counts, running, ...definitions } = stubborn()
    await using s = await stage(definitions)
    const task = await s.submit(flow, null, { id: 'slow' })
    await s.advance('39s')
    expect(counts.begun).toBe(1)
    await s.advance('2s')
    expect(counts.begun).toBe(2)
    expect(s.alerts).toMatchObject([{ task: 'slow', step: 1, cause: 'slot-overrun' }])
    expect(s.alerts[0]?.message).toContain('svc.act')
    for (const end of running) end()
    await s.settle()
    expect(await task.result()).toBe('done')
  })

  it('holds up no stop', async () => {
    const { flow, counts, running: _, ...definitions } = stubborn()
    const s = await stage(definitions)
    const task = await s.submit(flow, null)
    await task.cancel({ force: true })
    await s.settle()
    expect(counts.now).toBe(1)
    const before = s.engine.now().getTime()
    await s.engine.stop({ grace: '1h' })
    expect(s.engine.now().getTime() - before).toBeLessThan(60_000)
  })
})
