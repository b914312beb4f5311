import { describe, expect, it } from 'vitest'
import { type Alert, agent, type Duration, type StepContext, Triarch, TriarchError, workflow } from '../../src/index.ts'
import { MOST_LOSSES } from '../../src/kernel/step/loss.ts'
import type { StateStore } from '../../src/store/port.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { eventsOf, never, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** One process after the other on one file: each dies or is stopped while the step runs, until one lets it finish. */
function series() {
  const log: string[] = []
  const file = scratch()
  const environment = new VirtualEnvironment()
  let finish = false
  const work = async (_: unknown, step: StepContext) => {
    log.push(`run ${step.attempt}`)
    return finish ? 'done' : never()
  }
  const bank = agent('bank')
  const attemptWithin = '1d'
  const pay = bank.action('pay', {
    attemptWithin,
    retry: { attempts: 2, backoff: { initial: '1h', max: '1h' } },
    run: work,
  })
  const once = bank.action('once', { attemptWithin, semantics: 'at-most-once', run: work })
  const asked = bank.action('asked', {
    attemptWithin,
    retry: { attempts: 2 },
    run: work,
    verify: () => {
      log.push('verify')
      return { done: false }
    },
  })
  const heeds = bank.action('heeds', {
    attemptWithin,
    retry: { attempts: 1, retryIf: () => false },
    run: (input, step) =>
      finish
        ? work(input, step)
        : new Promise((_, reject) => step.signal.addEventListener('abort', () => reject(new Error('cut off')))),
  })
  const local = workflow('local', {
    run: (_, task) => task.run('local', (step) => work(null, step), { attemptWithin, retry: { attempts: 1 } }),
  })
  const flows = Object.fromEntries(
    [pay, once, asked, heeds].map((action) => [
      action.name,
      workflow(action.name, { run: (_: unknown, task) => task.run(action, null) }),
    ]),
  )
  const workflows = { ...flows, local }
  const node = (): Promise<Stage> =>
    stage({
      store: file.store,
      environment,
      workflows: Object.values(workflows),
      agents: [bank],
      lease: '10s',
      sweep: '5s',
      poll: '5s',
    })
  return {
    log,
    node,
    workflows: workflows as Record<'pay' | 'once' | 'asked' | 'heeds' | 'local', typeof local>,
    finish: () => {
      finish = true
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
  }
}

describe('an attempt that is lost with its process', () => {
  it.each(['pay', 'local', 'heeds'] as const)(
    'is no failure of the service, however often it happens (%s)',
    async (name) => {
      using t = series()
      for (let life = 1; life <= 7; life++) {
        const node = await t.node()
        if (life === 1) await node.submit(t.workflows[name], null, { id: 'task' })
        await node.advance('1m')
        await node.kill()
      }
      t.finish()
      await using last = await t.node()
      await last.advance('1m')
      const handle = last.engine.triarch.tasks.get('task')
      expect(await handle.result()).toBe('done')
      expect((await handle.status()).failures).toBe(0)
      expect((await eventsOf(handle, 'attemptFailed')).map(({ lost }) => lost)).not.toContain(undefined)
    },
  )

  it('is tried again at once', async () => {
    using t = series()
    const first = await t.node()
    await first.submit(t.workflows.pay, null, { id: 'task' })
    await first.settle()
    await first.kill()
    t.finish()
    await using second = await t.node()
    await second.settle()
    expect(await second.engine.triarch.tasks.get('task').result()).toBe('done')
    expect(t.log).toEqual(['run 1', 'run 2'])
  })

  it('is asked about before it is tried again, if its action can be asked', async () => {
    using t = series()
    for (let life = 0; life < 4; life++) {
      const node = await t.node()
      if (life === 0) await node.submit(t.workflows.asked, null, { id: 'task' })
      await node.settle()
      await node.kill()
    }
    t.finish()
    await using last = await t.node()
    await last.advance('1m')
    expect(await last.engine.triarch.tasks.get('task').result()).toBe('done')
    expect(t.log).toEqual(['run 1', ...['verify', 'run 2', 'verify', 'run 3', 'verify', 'run 4', 'verify', 'run 5']])
  })

  it('is held for an operator if it must never run twice', async () => {
    using t = series()
    const first = await t.node()
    await first.submit(t.workflows.once, null, { id: 'task' })
    await first.settle()
    await first.kill()
    await using second = await t.node()
    await second.advance('1m')
    expect(await second.engine.triarch.tasks.get('task').status()).toMatchObject({
      status: 'paused',
      pause: { cause: 'unknown-outcome' },
    })
    expect(t.log).toEqual(['run 1'])
  })
})

describe('a step that was lost with its process a hundred times in a row', () => {
  const lost = { name: 'AgentLost', code: 'STEP_LOST', message: 'the node that ran the attempt died' }
  const outcome = { kind: 'failed' as const, error: lost, retryable: true, unknown: true as const }

  it('is quarantined alone, with an alert that says so, and goes on by an operator’s word', async () => {
    let healthy = false
    const bank = agent('bank')
    const pay = bank.action('pay', { attemptWithin: '1d', run: () => (healthy ? 'paid' : never()) })
    const flow = workflow('flow', { run: (_, task) => task.run(pay, null) })
    await using s = await stage({ workflows: [flow], agents: [bank], poll: '10s' })
    const task = await s.submit(flow, null)
    await s.settle()
    for (let attempt = 1; attempt <= MOST_LOSSES; attempt++) {
      expect((await task.status()).status).toBe('running')
      const reply = { type: 'reply' as const, step: 1, operation: 'run' as const, attempt, outcome }
      // As the supervisor speaks for an agent that is gone.
      await s.store.post([
        {
          task: task.id,
          message: { ...reply, startedAt: null, endedAt: s.engine.now().getTime(), node: 'dead' },
          control: false,
        },
      ])
      await s.advance('1m')
    }
    expect(await task.status()).toMatchObject({ status: 'paused', failures: 0, pause: { cause: 'step' } })
    expect(s.alerts.at(-1)?.message).toMatch(/lost with its process 100 times in a row/)
    healthy = true
    await task.resume()
    await s.advance('1m')
    expect(await task.result()).toBe('paid')
  })
})

/** Processes that die when a step of theirs says so: nothing they ask is answered any more. Another follows each. */
function mortals({ lease = '2s', sweep = '500ms' }: { lease?: Duration; sweep?: Duration } = {}) {
  const file = scratch()
  const environment = new VirtualEnvironment()
  /** The process that lives, or has died last. */
  let process = { dead: false }
  const dies = () => {
    process.dead = true
  }
  const deaths: string[] = []
  const begun: string[] = []
  const bank = agent('bank', { concurrency: 10 })
  const attemptWithin = '1h'
  const pause = (ms: number) => new Promise<void>((resolve) => environment.timer(ms, resolve))
  const poison = bank.action('poison', {
    attemptWithin,
    async run(fuse: number, { taskId }) {
      const own = process
      await pause(fuse)
      deaths.push(taskId)
      own.dead = true
      return never()
    },
  })
  const run = async (ms: number, { taskId }: StepContext) => {
    begun.push(taskId)
    await pause(ms)
    return 'done'
  }
  const work = bank.action('work', { attemptWithin, run })
  const brief = bank.action('brief', { attemptWithin: '3s', run })
  const hasty = workflow('hasty', { run: (ms: number, task) => task.run(brief, ms) })
  /** Its step is innocent, and lives for long enough to show it; what comes after it is not. */
  const late = workflow('late', {
    async run(fuse: number, task) {
      await task.run('innocent', () => pause(fuse).then(() => null), { attemptWithin })
      deaths.push(task.id)
      dies()
      return never()
    },
  })
  const killer = workflow('killer', { run: (fuse: number, task) => task.run(poison, fuse) })
  const innocent = workflow('innocent', { run: (ms: number, task) => task.run(work, ms) })
  const mortal = (store: StateStore): StateStore => {
    const own = { dead: false }
    process = own
    return new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          if (state.mute && name === 'reply') return Promise.reject(new TriarchError('STORE_UNAVAILABLE', 'injected'))
          if (own.dead && name !== 'close') return Promise.reject(new TriarchError('STORE_CLOSED', 'dead'))
          return Reflect.apply(method, target, args)
        }
      },
    })
  }
  /** No answer of a step gets through. */
  const state = { mute: false }
  const alerts: Alert[] = []
  let triarch: Triarch
  const start = async () => {
    triarch = new Triarch({
      store: (it) => mortal(file.store(it)),
      ...{ environment, workflows: [killer, innocent, hasty, late], agents: [bank] },
      ...{ lease, sweep, poll: '100ms', grace: 0, onError: () => undefined, notices: false },
    })
    triarch.on('alert', (alert) => alerts.push(alert))
    await triarch.start()
  }
  return {
    ...{ deaths, begun, alerts, killer, innocent, hasty, late, environment, start, state },
    get triarch() {
      return triarch
    },
    kill: dies,
    /** Goes on for so long, with another process soon after each death. */
    async live(ms: number): Promise<void> {
      for (const end = environment.now() + ms; environment.now() < end; ) {
        await environment.advance(100)
        // What still runs in one that is dead may die after it: that is no death of the one that lives.
        if (process.dead) await start()
      }
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
  }
}

describe('a step that kills its process', () => {
  it.each([
    ['at once', 0],
    ['after half a second', 500],
  ])('is held after few deaths, and costs those beside it little more (%s)', async (_, fuse) => {
    using t = mortals()
    await t.start()
    const ids = Array.from({ length: 20 }, (_, i) => `innocent ${i}`)
    for (const [i, id] of ids.entries()) await t.triarch.submit(t.innocent, i % 2 ? 30_000 : 50, { id })
    await t.triarch.submit(t.killer, fuse, { id: 'killer' })
    await t.live(120_000)
    expect(t.deaths).toEqual(Array.from({ length: 5 }, () => 'killer'))
    expect(await t.triarch.tasks.get('killer').status()).toMatchObject({
      status: 'paused',
      failures: 0,
      pause: { cause: 'step', error: { code: 'STEP_KEEPS_DYING' } },
    })
    expect(t.alerts.at(-1)?.message).toMatch(/was lost with its process 5 times in a row/)
    for (const id of ids) expect([id, (await t.triarch.tasks.get(id).status()).outcome]).toEqual([id, 'success'])
    // And not once more, whatever becomes of the process.
    t.kill()
    await t.start()
    await t.live(60_000)
    expect(t.deaths).toHaveLength(5)
    expect((await t.triarch.tasks.get('killer').explain()).text).toMatch(/lost with its process 5 times/)
    await t.triarch.stop({ grace: 0 })
  })

  it('is told from others of its kind, and all of them from who is innocent', async () => {
    using t = mortals()
    await t.start()
    const killers = Array.from({ length: 6 }, (_, i) => `killer ${i}`)
    const ids = Array.from({ length: 12 }, (_, i) => `innocent ${i}`)
    for (const [i, id] of ids.entries()) await t.triarch.submit(t.innocent, 10 ** (i % 5), { id })
    for (const id of killers) await t.triarch.submit(t.killer, 20, { id })
    await t.live(400_000)
    for (const id of killers) {
      expect([id, (await t.triarch.tasks.get(id).status()).status]).toEqual([id, 'paused'])
      expect(t.deaths.filter((one) => one === id).length).toBeLessThanOrEqual(5)
    }
    for (const id of ids) expect([id, (await t.triarch.tasks.get(id).status()).outcome]).toEqual([id, 'success'])
    await t.triarch.stop({ grace: 0 })
  })

  it('is not one that is hit again and again by what kills its process for other reasons', async () => {
    using t = mortals()
    await t.start()
    await t.triarch.submit(t.innocent, 9_000, { id: 'innocent' })
    // It needs longer than any process lives.
    for (let life = 0; life < 20; life++) {
      await t.live(8_000)
      t.kill()
      await t.start()
    }
    expect(t.begun.length).toBeGreaterThan(8)
    await t.live(90_000)
    expect((await t.triarch.tasks.get('innocent').status()).outcome).toBe('success')
    await t.triarch.stop({ grace: 0 })
  })

  it.each([
    ['at once', 0],
    ['for a while', 1_500],
  ])('is told from the code after it, which is quarantined after few deaths (it ran %s)', async (_, fuse) => {
    using t = mortals()
    await t.start()
    await t.triarch.submit(t.late, fuse, { id: 'late' })
    await t.live(240_000)
    expect((await t.triarch.tasks.get('late').status()).status).toBe('paused')
    expect(t.deaths.length).toBeLessThan(10)
    await t.triarch.stop({ grace: 0 })
  })

  it('is not one whose answers do not get through', async () => {
    using t = mortals()
    await t.start()
    await t.triarch.submit(t.hasty, 300, { id: 'hasty' })
    for (let losses = 1; losses <= 2; losses++) {
      while (t.begun.length < losses) await t.live(100)
      t.kill()
      await t.start()
    }
    t.state.mute = true
    await t.live(60_000)
    expect(await t.triarch.tasks.get('hasty').status()).toMatchObject({ outcome: 'success', failures: 0 })
    t.state.mute = false
    await t.live(10_000)
    await t.triarch.stop({ grace: 0 })
  })

  it('is tried all the same where no process lives for long', async () => {
    using t = mortals({ lease: '600ms', sweep: '100ms' })
    await t.start()
    await t.triarch.submit(t.innocent, 300, { id: 'innocent' })
    for (let losses = 1; losses <= 2; losses++) {
      while (t.begun.length < losses) await t.live(100)
      t.kill()
      await t.start()
    }
    const began = t.environment.now()
    const isDone = async () => (await t.triarch.tasks.get('innocent').status()).outcome === 'success'
    while (t.environment.now() - began < 120_000 && !(await isDone())) {
      await t.live(1_500)
      t.kill()
      await t.start()
    }
    expect(await isDone()).toBe(true)
    await t.triarch.stop({ grace: 0 })
  })
})
