import { describe, expect, it, vi } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { memory, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'

describe('virtual time', () => {
  it('stands still until it is advanced', async () => {
    const time = new VirtualEnvironment()
    expect(new Date(time.now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
    await time.settle()
    expect(time.monotonic()).toBeLessThan(10 * 30 * 24)
    await time.advance(1_500)
    expect([time.now() - Date.UTC(2026, 0, 1), time.monotonic()]).toEqual([1_500, 1_500])
  })

  it('fires timers by instant, then by arrival, also those set meanwhile, and none that was cancelled', async () => {
    const time = new VirtualEnvironment({ start: new Date(0) })
    const log: string[] = []
    const at = (ms: number, name: string, then?: () => void) =>
      time.timer(ms, () => {
        log.push(`${name} ${time.now()}`)
        then?.()
      })
    at(30, 'c')
    at(10, 'a', () => at(5, 'nested'))
    at(20, 'b1', () => b3.cancel())
    at(20, 'b2')
    const b3 = at(20, 'b3')
    at(10.2, 'rounded up')
    at(100, 'beyond')
    await time.advance(50)
    expect(log).toEqual(['a 10', 'rounded up 11', 'nested 15', 'b1 20', 'b2 20', 'c 30'])
    await time.advance(50)
    expect(log.at(-1)).toBe('beyond 100')
  })

  it('keeps its order with thousands of timers', async () => {
    const time = new VirtualEnvironment({ start: new Date(0) })
    const fired: number[] = []
    const timers = Array.from({ length: 2_000 }, () => Math.floor(time.random() * 1_000) + 1)
    for (const [index, ms] of timers.entries()) {
      const timer = time.timer(ms, () => fired.push(time.now()))
      if (index % 3 === 0) timer.cancel()
    }
    await time.advance(1_000)
    const expected = timers.filter((_, index) => index % 3 !== 0).sort((a, b) => a - b)
    expect(fired).toEqual(expected)
  })

  it('fires what is due now without an advance', async () => {
    const time = new VirtualEnvironment()
    let fired = 0
    time.timer(0, () => fired++)
    time.timer(-5, () => fired++)
    await time.settle()
    expect(fired).toBe(2)
  })

  it('lets everything settle between two timers', async () => {
    const time = new VirtualEnvironment({ start: new Date(0) })
    const log: string[] = []
    time.timer(10, () => {
      time.soon(() => {
        log.push(`soon ${time.now()}`)
        void Promise.resolve().then(() => time.drain(() => log.push(`drained ${time.now()}`)))
      })
    })
    time.timer(11, () => log.push('next'))
    await time.advance(20)
    expect(log).toEqual(['soon 10', 'drained 10', 'next'])
  })

  it('gives the same chance and ids for the same seed, others for another', () => {
    const draw = (seed: number) => {
      const time = new VirtualEnvironment({ seed })
      return [time.random(), time.id(), time.id()]
    }
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
  })
})

describe('a test engine', () => {
  const own = agent('own')
  const act = own.action('act', { retry: { attempts: 3 }, run: (n: number) => Promise.reject(new Error(`${n}`)) })
  const month = workflow('month', {
    async run(_: null, task) {
      await task.sleep('30d')
      return task.now().toISOString()
    },
  })
  const failing = workflow('failing', { run: (n: number, task) => task.run(act, n) })

  it('passes a month with few timers, with somebody waiting for the result', async () => {
    await using engine = await testEngine({ workflows: [month] })
    const task = await engine.submit(month, null)
    const result = task.result()
    const timers = vi.spyOn(engine.environment, 'timer')
    await engine.advance('30d')
    expect(timers.mock.calls.length).toBeLessThan(10 * 30 * 24)
    expect(await result).toBe('2026-01-31T00:00:00.000Z')
    expect(engine.now().toISOString()).toBe('2026-01-31T00:00:00.000Z')
  })

  it('needs no advance for what needs no time', async () => {
    const instant = workflow('instant', { run: (_: null, task) => task.run('now', () => 'done') })
    await using engine = await testEngine({ workflows: [instant] })
    expect(await (await engine.submit(instant, null)).result()).toBe('done')
  })

  it('runs the same way twice: same seed, same history to the byte', async () => {
    const play = async (seed: number) => {
      await using engine = await testEngine({ workflows: [failing, month], agents: [own], seed })
      const tasks = await Promise.all([1, 2, 3].map((n) => engine.submit(failing, n)))
      await engine.submit(month, null)
      await engine.advance('1d')
      const histories = await Promise.all(tasks.map((task) => task.history()))
      return JSON.stringify(histories).replaceAll(/"stack":"[^"]*"/g, '')
    }
    expect(await play(3)).toBe(await play(3))
    expect(await play(3)).not.toBe(await play(4))
  })

  it('takes a store and settings of its own, and shared time', async () => {
    const environment = new VirtualEnvironment()
    await using one = await testEngine({ environment, store: memory(), poll: '1s' })
    await using two = await testEngine({ environment })
    await one.advance('1h')
    expect(two.now()).toEqual(one.now())
  })

  it('stops though a step hangs', async () => {
    const hang = own.actions.get('hang') ?? own.action('hang', { run: () => new Promise(() => undefined) })
    const stuck = workflow('stuck', { run: (_: null, task) => task.run(hang, null) })
    const engine = await testEngine({ workflows: [stuck], agents: [own] })
    await engine.submit(stuck, null)
    await engine.settle()
    await engine.stop({ grace: '10s' })
    await engine.stop()
  })
})
