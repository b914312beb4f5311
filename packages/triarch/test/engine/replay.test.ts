import { describe, expect, it } from 'vitest'
import { agent, type StepContext, type TaskContext, type TaskHandle, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { checkFold, codeOf, eventsOf, never, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** A workflow that does a bit of everything, and what its code did besides. */
function everything() {
  const log: string[] = []
  const own = agent('own')
  const work = own.action('work', {
    run(name: string) {
      log.push(name)
      return name.toUpperCase()
    },
  })
  const child = workflow('child', { run: (n: number, task) => task.run(work, `child${n}`) })
  const flow = workflow('flow', {
    async run(_: null, task) {
      const first = await task.run(work, 'first')
      const [left, right] = await Promise.all([task.run(work, 'left'), task.call(child, 1)])
      await task.sleep('1d')
      const event = await task.waitForSignal('go')
      const race = await Promise.race([task.sleep('10d').then(() => 'late'), task.run(work, 'race')])
      const local = await task.run('local', () => log.push('local'))
      await task.sleep('1d')
      return { first, left, right, event, race, local, chance: task.random() }
    },
  })
  return { log, flow, parts: { workflows: [flow, child], agents: [own] } }
}

describe('a task', () => {
  it('continues from its history wherever it was interrupted, doing nothing twice', async () => {
    const whole = everything()
    await using s = await stage(whole.parts)
    const task = await s.submit(whole.flow, null, { id: 't' })
    await task.signal('go', 1)
    await s.advance('2d')
    const expected = await task.result()

    const cut = everything()
    using file = scratch()
    const environment = new VirtualEnvironment({ seed: 5 })
    const parts = { ...cut.parts, store: file.store, environment }
    const life = async (days: number, between: () => Promise<void>) => {
      await using node = await stage(parts)
      await node.advance(days * 86_400_000)
      await between()
      await node.settle()
    }
    {
      await using client = await stage({ ...parts, roles: ['agent'] })
      await client.submit(cut.flow, null, { id: 't' })
    }
    await life(0, async () => {})
    await life(0.5, async () => {})
    {
      await using client = await stage({ ...parts, roles: ['supervisor'] })
      await client.engine.tasks.get('t').signal('go', 1)
    }
    await life(0.5, async () => {})
    await life(0.5, async () => {})
    await life(0.5, async () => {})
    await using last = await stage(parts)
    expect(await last.engine.tasks.get('t').result()).toEqual(expected)
    expect(cut.log).toEqual(whole.log)
  })

  it('is taken over when its node dies: what ran there is lost, recorded as unknown, and tried again', async () => {
    const runs: string[] = []
    let hangs = true
    const own = agent('own')
    const act = own.action('act', {
      run(_: null, step: StepContext) {
        runs.push(`${step.attempt} ${step.idempotencyKey} ${JSON.stringify(step.checkpoint ?? null)}`)
        step.heartbeat({ checkpoint: { done: step.attempt } })
        return hangs ? never() : 'done'
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    using file = scratch()
    const environment = new VirtualEnvironment()
    const parts = { workflows: [flow], agents: [own], store: file.store, environment }
    const first = await stage(parts)
    await first.submit(flow, null, { id: 't' })
    await first.settle()
    await first.kill()
    hangs = false
    await using second = await stage(parts)
    await second.advance('1m')
    const task = second.engine.tasks.get('t')
    expect(await task.result()).toBe('done')
    const key = runs[0]?.split(' ')[1]
    expect(key).toMatch(/^t~\w+:1$/)
    expect(runs).toEqual([`1 ${key} null`, `2 ${key} {"done":1}`])
    expect((await eventsOf(task, 'attemptFailed'))[0]).toMatchObject({ unknown: true, error: { code: 'STEP_LOST' } })
  })

  it('is taken over once the lease of a node that fell silent is over, and its late writes are refused', async () => {
    const log: string[] = []
    const own = agent('own')
    let finish: (value: string) => void = () => undefined
    const act = own.action('act', {
      attemptWithin: '1d',
      run(_: null, step: StepContext) {
        log.push(`attempt ${step.attempt}`)
        return step.attempt > 1
          ? 'second'
          : new Promise<string>((resolve) => {
              finish = resolve
            })
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    using file = scratch()
    const parts = {
      workflows: [flow],
      agents: [own],
      store: file.store,
      lease: '1m',
      sweep: '10s',
      poll: '1s',
    } as const
    // Two clocks: the first node's stands still, as that of a process that hangs.
    const silent = await stage(parts)
    await silent.submit(flow, null, { id: 't' })
    await silent.settle()
    await using living = await stage({ ...parts, seed: 2 })
    await living.advance('2m')
    expect(await living.engine.tasks.get('t').result()).toBe('second')
    finish('first')
    await silent.settle()
    expect(log).toEqual(['attempt 1', 'attempt 2'])
    expect(await eventsOf(living.engine.tasks.get('t'), 'stepCompleted')).toMatchObject([{ output: 'second' }])
    await silent.advance('1m')
    await silent.kill()
  })

  it('leaves memory when it has nothing to do, and comes back for a signal', async () => {
    const waiter = workflow('waiter', { run: (_: null, task) => task.waitForSignal('e') })
    await using s = await stage({ workflows: [waiter], poll: '1s' })
    const task = await s.submit(waiter, null)
    await s.settle()
    expect((await task.status()).lockedBy).toBeDefined()
    await s.advance('1m')
    expect((await task.status()).lockedBy).toBeUndefined()
    await task.signal('e', 'hello')
    expect(await task.result()).toBe('hello')
  })

  it('gives its place to others when memory is full', async () => {
    const waiter = workflow('waiter', { run: (_: number, task) => task.waitForSignal('e') })
    await using s = await stage({ workflows: [waiter], limits: { tasks: 3 }, poll: '1s' })
    const tasks: TaskHandle[] = []
    for (let n = 0; n < 12; n++) tasks.push(await s.submit(waiter, n))
    await s.advance('10s')
    for (const task of tasks) expect((await task.status()).status).toBe('running')
    for (const task of tasks) await task.signal('e', task.id)
    await s.advance('10s')
    for (const task of tasks) expect(await task.result()).toBe(task.id)
  })
})

describe('code that does not fit its history', () => {
  type Code = (task: TaskContext) => Promise<unknown>
  const run = (name: string) => async (task: TaskContext) => {
    await task.run(name, () => name)
    await task.sleep('1d')
    return name
  }
  const changes: [string, Code, Code, string, string][] = [
    ['another step', run('pack'), run('ship'), 'step "pack"', 'step "ship"'],
    [
      'another kind of decision',
      run('pack'),
      async (task) => {
        await task.waitForSignal('paid')
        await task.sleep('1d')
      },
      'step "pack"',
      'a wait for signal "paid"',
    ],
    ['an end too early', run('pack'), async () => 'already', 'step "pack"', 'the return'],
    [
      'more than was recorded',
      run('pack'),
      async (task) => {
        await Promise.all([task.run('pack', () => 1), task.run('more', () => 2)])
        await task.sleep('1d')
      },
      'a sleep',
      'step "more"',
    ],
    [
      'less than was recorded',
      async (task) => {
        await Promise.all([task.sleep('1d'), task.run('b', () => 2)])
      },
      (task) => task.sleep('1d'),
      'step "b"',
      'nothing',
    ],
  ]

  it.each(changes)(
    'pauses the task, both sides shown: %s; the right code continues',
    async (_, before, after, was, is) => {
      let code = before
      const flow = workflow('flow', { run: (_: null, task) => code(task) })
      await using s = await stage({ workflows: [flow] })
      const task = await s.submit(flow, null)
      await s.settle()
      code = after
      await s.advance('1d')
      const { status, pause } = await task.status()
      expect({ status, reason: pause?.cause }).toEqual({ status: 'paused', reason: 'mismatch' })
      expect(pause?.error?.code).toBe('HISTORY_MISMATCH')
      expect(pause?.error?.details).toMatchObject({ recorded: was, asked: is })
      expect(pause?.error?.message).toContain(was)
      expect(pause?.error?.message).toContain(is)
      expect(s.alerts).toMatchObject([{ task: task.id, cause: 'mismatch' }])
      code = before
      await task.resume()
      await s.settle()
      expect((await task.status()).outcome).toBe('success')
    },
  )

  it('pauses again when it is resumed with code that is still wrong, and has run nothing new', async () => {
    const log: string[] = []
    let name = 'pack'
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(name, () => void log.push(name))
        await task.sleep('1d')
        await task.run('last', () => void log.push('last'))
      },
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.settle()
    name = 'ship'
    await s.advance('1d')
    await task.resume()
    await s.settle()
    expect((await task.status()).pause?.cause).toBe('mismatch')
    await s.advance('1d')
    expect(log).toEqual(['pack'])
  })
})

describe('versions', () => {
  const version = (version: string) =>
    workflow('order', {
      version,
      async run(_: null, task) {
        await task.sleep('1d')
        return `made by ${version}, as ${task.version}`
      },
    })

  it('stay side by side: a task keeps the one it started with', async () => {
    const [one, two] = [version('1'), version('2')]
    await using s = await stage({ workflows: [one, two] })
    const old = await s.submit(one, null)
    const fresh = await s.submit(two, null)
    await s.advance('1d')
    expect(await old.result()).toBe('made by 1, as 1')
    expect(await fresh.result()).toBe('made by 2, as 2')
  })

  it('that nobody runs leave their tasks waiting where all can see it, and others go on', async () => {
    const [one, two] = [version('1'), version('2')]
    using file = scratch()
    const environment = new VirtualEnvironment()
    {
      await using s = await stage({ workflows: [two], store: file.store, environment })
      const stuck = await s.submit(one, null, { id: 'stuck' })
      const fine = await s.submit(two, null)
      await s.advance('2d')
      expect(await fine.result()).toBe('made by 2, as 2')
      expect(await stuck.status()).toMatchObject({ status: 'pending', version: '1', ready: true })
      expect(
        (await s.engine.triarch.tasks.list({ status: 'pending', version: '1' })).tasks.map(({ id }) => id),
      ).toEqual(['stuck'])
    }
    await using s = await stage({ workflows: [one], store: file.store, environment })
    await s.advance('1d')
    expect(await s.engine.tasks.get('stuck').result()).toBe('made by 1, as 1')
  })

  it('that nobody runs can still be cancelled', async () => {
    await using s = await stage({ workflows: [] })
    const task = await s.submit(version('1'), null)
    await task.cancel()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
  })

  it('that no node runs any more leave a running task where it is, and others go on', async () => {
    const one = version('1')
    using file = scratch()
    const environment = new VirtualEnvironment()
    {
      await using s = await stage({ workflows: [one], store: file.store, environment })
      await s.submit(one, null, { id: 'old' })
    }
    {
      await using s = await stage({ workflows: [version('2')], store: file.store, environment })
      await s.engine.tasks.get('old').pause()
      await s.advance('2d')
      expect((await s.engine.tasks.get('old').status()).status).toBe('paused')
      await s.engine.tasks.get('old').resume()
      await s.advance('2d')
      expect((await s.engine.tasks.get('old').status()).status).toBe('running')
    }
    await using s = await stage({ workflows: [one], store: file.store, environment })
    await s.settle()
    expect(await s.engine.tasks.get('old').result()).toBe('made by 1, as 1')
  })
})

describe('a history', () => {
  it('folds to the row of its task at every single moment', async () => {
    const { flow, parts } = everything()
    await using s = await stage({ ...parts })
    const task = await s.submit(flow, null)
    for (let round = 0; round < 60; round++) {
      await checkFold(s.store, task.id)
      if (round === 10) await task.pause()
      if (round === 12) await task.resume()
      if (round === 20) await task.signal('go')
      await s.advance('1h')
    }
    expect((await task.status()).outcome).toBe('success')
  })
})
