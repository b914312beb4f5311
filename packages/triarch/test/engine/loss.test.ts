import { describe, expect, it } from 'vitest'
import { agent, type StepContext, workflow } from '../../src/index.ts'
import { MOST_LOSSES } from '../../src/kernel/policy.ts'
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
  const completeWithin = '1d'
  const pay = bank.action('pay', {
    completeWithin,
    retry: { attempts: 2, backoff: { initial: '1h', max: '1h' } },
    run: work,
  })
  const once = bank.action('once', { completeWithin, semantics: 'at-most-once', run: work })
  const asked = bank.action('asked', {
    completeWithin,
    retry: { attempts: 2 },
    run: work,
    verify: () => {
      log.push('verify')
      return { done: false }
    },
  })
  const heeds = bank.action('heeds', {
    completeWithin,
    retry: { attempts: 1, retryIf: () => false },
    run: (input, step) =>
      finish
        ? work(input, step)
        : new Promise((_, reject) => step.signal.addEventListener('abort', () => reject(new Error('cut off')))),
  })
  const local = workflow('local', {
    run: (_, task) => task.run('local', (step) => work(null, step), { completeWithin, retry: { attempts: 1 } }),
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
      const handle = last.engine.triarch.task('task')
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
    expect(await second.engine.triarch.task('task').result()).toBe('done')
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
    expect(await last.engine.triarch.task('task').result()).toBe('done')
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
    expect(await second.engine.triarch.task('task').status()).toMatchObject({
      status: 'paused',
      pause: { reason: 'unknown-outcome' },
    })
    expect(t.log).toEqual(['run 1'])
  })
})

describe('a step that was lost with its process a hundred times in a row', () => {
  const lost = { name: 'AgentLost', code: 'STEP_LOST', message: 'the node that ran the attempt died' }
  const outcome = { kind: 'failed' as const, error: lost, retryable: true, unknown: true as const }

  it('is set apart alone, with an alert that says so, and goes on by an operator’s word', async () => {
    let healthy = false
    const bank = agent('bank')
    const pay = bank.action('pay', { completeWithin: '1d', run: () => (healthy ? 'paid' : never()) })
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
    expect(await task.status()).toMatchObject({ status: 'paused', failures: 0, pause: { reason: 'step' } })
    expect(s.alerts.at(-1)?.message).toMatch(/lost with its process 100 times in a row/)
    healthy = true
    await task.resume()
    await s.advance('1m')
    expect(await task.result()).toBe('paid')
  })
})
