import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { testEngine, VirtualEnvironment } from '../../src/testing/index.ts'

/** Real time that a wait in these tests takes before it is given up. */
const patience = '20ms'

const codeOf = (wait: Promise<unknown>) =>
  wait.then(
    () => 'done',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  )

describe('a result that is awaited on virtual time', () => {
  it('comes though a retry, a rate limit, a sleep and a child need time', async () => {
    let tries = 0
    const bank = agent('bank', { rateLimit: { limit: 1, per: '1h' } })
    const pay = bank.action('pay', {
      retry: { attempts: 5, backoff: { initial: '10m' } },
      run: async () => {
        if (++tries < 3) throw new Error('out of order')
        return tries
      },
    })
    const child = workflow('child', {
      async run(_: null, task) {
        await task.sleep('10d')
        return task.run(pay, null)
      },
    })
    const parent = workflow('parent', { run: (_: null, task) => task.call(child, null) })
    await using engine = await testEngine({ workflows: [parent, child], agents: [bank] })
    const begun = engine.now().getTime()
    const task = await engine.submit(parent, null)
    expect(await task.result()).toBe(3)
    const passed = engine.now().getTime() - begun
    expect(passed).toBeGreaterThanOrEqual(10 * 86_400_000 + 2 * 3_600_000)
    expect(passed).toBeLessThan(11 * 86_400_000)
  })

  it('moves time no further than it needs, and not at all when it is there', async () => {
    const nap = workflow('nap', { run: (_: null, task) => task.sleep('90s') })
    await using engine = await testEngine({ workflows: [nap] })
    const begun = engine.now().getTime()
    const task = await engine.submit(nap, null)
    await task.result()
    expect(engine.now().getTime() - begun).toBe(90_000)
    await task.result()
    expect(engine.now().getTime() - begun).toBe(90_000)
  })

  it('moves nothing while it is only kept for later', async () => {
    const nap = workflow('nap', {
      async run(_: null, task) {
        await task.waitForSignal('go', { timeout: '2d' })
        return task.now().toISOString()
      },
    })
    await using engine = await testEngine({ workflows: [nap] })
    const task = await engine.submit(nap, null)
    const result = task.result()
    await engine.settle()
    expect(engine.now().toISOString()).toBe('2026-01-01T00:00:00.000Z')
    await engine.advance('1d')
    await task.signal('go')
    expect(await result).toBe('2026-01-02T00:00:00.000Z')
  })

  it('leaves time to whoever advances it', async () => {
    const nap = workflow('nap', { run: (_: null, task) => task.sleep('30d') })
    await using engine = await testEngine({ workflows: [nap] })
    const task = await engine.submit(nap, null)
    const done = task.result().then(() => engine.now().toISOString())
    await engine.advance('1d')
    expect(engine.now().toISOString()).toBe('2026-01-02T00:00:00.000Z')
    expect(await done).toBe('2026-01-31T00:00:00.000Z')
  })

  it('comes by what another task does later', async () => {
    const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal('go') })
    const desk = agent('desk')
    const send = desk.action('send', { run: (id: string) => engine.tasks.get(id).signal('go', 'sent') })
    const sender = workflow('sender', {
      async run(id: string, task) {
        await task.sleep('3d')
        await task.run(send, id)
      },
    })
    await using engine = await testEngine({ workflows: [waiting, sender], agents: [desk] })
    const task = await engine.submit(waiting, null)
    await engine.submit(sender, task.id)
    expect(await task.result()).toBe('sent')
    expect(engine.now().toISOString()).toBe('2026-01-04T00:00:00.000Z')
  })

  it('says what the task waits for, where no time that passes brings it', async () => {
    const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal('approved') })
    await using engine = await testEngine({ workflows: [waiting], patience })
    const task = await engine.submit(waiting, null, { id: 'o-1' })
    const said = await codeOf(task.result())
    expect(said).toMatch(/^WAIT_ENDLESS: the result of task "o-1" does not come: no time that passes will end it\./)
    expect(said).toContain('waits for signal "approved"')
    await task.signal('approved', 7)
    expect(await task.result()).toBe(7)
  })

  it('is given up when the engine stops meanwhile', async () => {
    const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal('approved') })
    const engine = await testEngine({ workflows: [waiting], patience })
    const task = await engine.submit(waiting, null)
    const said = codeOf(task.result())
    await engine.stop({ grace: 0 })
    expect(await said).toMatch(/^(WAIT_ENDLESS|STORE_CLOSED): .*the store is not open/)
  })

  it('waits for real work of an action, whose time does not pass meanwhile', async () => {
    const disk = agent('disk')
    const read = disk.action('read', {
      attemptWithin: '1s',
      run: () => new Promise<string>((resolve) => setTimeout(() => resolve('read'), 30)),
    })
    const reading = workflow('reading', { run: (_: null, task) => task.run(read, null) })
    await using engine = await testEngine({ workflows: [reading], agents: [disk] })
    expect(await (await engine.submit(reading, null)).result()).toBe('read')
    expect(engine.now().toISOString()).toBe('2026-01-01T00:00:00.000Z')
  })

  it('says so, where the code of an action does not end', async () => {
    const disk = agent('disk')
    const hang = disk.action('hang', { attemptWithin: '1m', run: () => new Promise<string>(() => undefined) })
    const hanging = workflow('hanging', { run: (_: null, task) => task.run(hang, null) })
    await using engine = await testEngine({ workflows: [hanging], agents: [disk], patience })
    const task = await engine.submit(hanging, null)
    const said = await codeOf(task.result())
    expect(said).toContain('WAIT_ENDLESS')
    expect(said).toContain('time stands still while its code is at work')
    expect(said).toContain('to be done by 2026-01-01 00:01:00 UTC')
  })

  it('ends by its own timeout, in virtual time', async () => {
    const waiting = workflow('waiting', { run: (_: null, task) => task.waitForSignal('approved') })
    await using engine = await testEngine({ workflows: [waiting], patience })
    const task = await engine.submit(waiting, null)
    expect(await codeOf(task.result({ timeout: '1h' }))).toContain('WAIT_TIMEOUT')
    expect(engine.now().toISOString()).toBe('2026-01-01T01:00:00.000Z')
  })

  it('comes for several who wait, each at its time', async () => {
    const nap = workflow('nap', {
      async run(days: number, task) {
        await task.sleep(`${days}d`)
        return task.now().toISOString()
      },
    })
    await using engine = await testEngine({ workflows: [nap], environment: new VirtualEnvironment({ seed: 3 }) })
    const tasks = await Promise.all([3, 1, 2].map((days) => engine.submit(nap, days)))
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(
      [3, 1, 2].map((days) => `2026-01-0${days + 1}T00:00:00.000Z`),
    )
  })
})

describe('an instant that nobody was told to look for', () => {
  it('is noticed on time: a frozen task whose start-before passes', async () => {
    const frozen = workflow('frozen', { run: async (_: null) => 'begun' })
    await using engine = await testEngine({ workflows: [frozen] })
    const task = await engine.submit(frozen, null, { frozen: true, startBefore: '10m' })
    expect(await codeOf(task.result())).toContain('TASK_EXPIRED')
    expect(engine.now().toISOString()).toBe('2026-01-01T00:10:00.001Z')
  })
})
