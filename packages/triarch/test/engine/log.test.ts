import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LOG_RATE } from '../../src/agent/log.ts'
import { agent, type LogOptions, type TaskHandle, Triarch, TriarchError, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { memory, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf } from './harness.ts'
import { scratch } from './scratch.ts'

const shop = agent('shop')
const charge = shop.action('charge', {
  retry: { attempts: 2, backoff: { initial: '1s', jitter: false } },
  run(order: { card: string; amount: number }, step) {
    step.log.info('charging', { amount: order.amount, card: order.card })
    if (step.attempt === 1) {
      step.log.warn('no luck', { error: new TriarchError('INVARIANT', `card ${order.card}`) })
      throw new Error('not yet')
    }
    return { receipt: 'r-1' }
  },
  undo: (_, step) => step.log.info('refunding'),
})
const order = workflow('order', {
  async run(card: string, task) {
    task.log.info('begins', { card })
    const { receipt } = await task.run(charge, { card, amount: 10 })
    task.log.debug(`paid, ${receipt}`)
    await task.run('pack', (step) => step.log.error('no box'))
    return receipt
  },
})
const parts = { workflows: [order], agents: [shop] }

async function said(task: TaskHandle, options: LogOptions = {}): Promise<string[]> {
  const { lines } = await task.logs({ limit: 1_000, ...options })
  return lines.map(({ step, attempt, level, message }) => `${step ?? '-'}/${attempt ?? '-'} ${level} ${message}`)
}

describe('the log of a task', () => {
  it('has what its code and its steps say, with level, fields, attempt and node', async () => {
    await using engine = await testEngine(parts)
    const task = await engine.submit(order, 'c-1', { id: 'o-1' })
    await engine.advance('5s')
    expect(await said(task)).toEqual([
      '-/- info begins',
      '1/1 info charging',
      '1/1 warn no luck',
      '1/2 info charging',
      '-/- debug paid, r-1',
      '2/1 error no box',
    ])
    const { lines } = await task.logs({ step: 1, attempt: 1 })
    expect(lines).toMatchObject([
      {
        seq: 2,
        operation: 'run',
        fields: { amount: 10, card: 'c-1' },
        node: expect.any(String),
        at: expect.any(Date),
        dropped: 0,
      },
      { fields: { error: { code: 'INVARIANT', message: 'card c-1' } } },
    ])
    expect(lines[1]?.fields.error).not.toHaveProperty('stack')
  })

  it('is read a page at a time, by step, attempt and level', async () => {
    await using engine = await testEngine(parts)
    const task = await engine.submit(order, 'c-1')
    await engine.advance('5s')
    expect(await said(task, { step: 0 })).toEqual(['-/- info begins', '-/- debug paid, r-1'])
    expect(await said(task, { level: 'warn' })).toEqual(['1/1 warn no luck', '2/1 error no box'])
    const first = await task.logs({ limit: 4 })
    expect(first).toMatchObject({ next: 4, last: 4, shed: 0 })
    const rest = await task.logs({ after: 4, limit: 4 })
    expect(rest.lines.map(({ seq }) => seq)).toEqual([5, 6])
    expect(rest).not.toHaveProperty('next')
    expect(rest.last).toBe(6)
    const refused = (options: object) => codeOf(task.logs(options))
    expect(await refused({ level: 'loud' })).toBe('INVALID_OPTION')
    expect(await refused({ limit: 0 })).toBe('INVALID_OPTION')
    expect(await refused({ steps: 1 })).toBe('UNKNOWN_OPTION')
    expect(await codeOf(engine.triarch.tasks.get('none').logs())).toBe('UNKNOWN_TASK')
  })

  it('can be followed while the task runs, and ends with it', async () => {
    const go = Promise.withResolvers<void>()
    const slow = workflow('slow', {
      run: (_: null, task) =>
        task.run('work', async (step) => {
          step.log.info('one')
          await go.promise
          step.log.info('two')
        }),
    })
    await using engine = await testEngine({ workflows: [slow] })
    const task = await engine.submit(slow, null)
    await engine.settle()
    const heard: string[] = []
    const ended = (async () => {
      for await (const { message } of task.watchLogs()) heard.push(message)
    })()
    await engine.advance('3s')
    expect(heard).toEqual(['one'])
    go.resolve()
    await engine.advance('5s')
    await ended
    expect(heard).toEqual(['one', 'two'])
    const over = new AbortController()
    over.abort(new Error('enough'))
    await expect(task.watchLogs({ signal: over.signal }).next()).rejects.toThrow('enough')
  })

  it('that is followed says so where its task is deleted, and does not end as if all were told', async () => {
    let isDeleted = false
    const inner = memory()
    const store: StoreFactory = (...given) => {
      const opened = inner(...given)
      const task = opened.task.bind(opened)
      return Object.assign(opened, { task: async (id: string) => (isDeleted ? null : task(id)) })
    }
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    await using engine = await testEngine({ workflows: [waits], store })
    const ended = (await engine.submit(waits, null)).watchLogs().next()
    const failed = expect(ended).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    await engine.advance('2s')
    isDeleted = true
    await engine.advance('2s')
    await failed
  })

  it('is looked at once for all who follow it, however many they are', async () => {
    let looks = 0
    const inner = memory()
    const store: StoreFactory = (...given) => {
      const opened = inner(...given)
      const logs = opened.logs.bind(opened)
      opened.logs = (query) => {
        looks++
        return logs(query)
      }
      return opened
    }
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    await using engine = await testEngine({ workflows: [waits], store })
    const task = await engine.submit(waits, null)
    const over = new AbortController()
    const ended = Array.from({ length: 20 }, async () => {
      for await (const _ of task.watchLogs({ signal: over.signal })) throw new Error('there is no line')
    })
    await engine.advance('10s')
    expect(looks).toBeGreaterThan(10)
    expect(looks).toBeLessThan(25)
    over.abort('enough')
    expect(await Promise.allSettled(ended)).toEqual(ended.map(() => ({ status: 'rejected', reason: 'enough' })))
  })

  it('has each line of the code once, though it is replayed by another node after a crash, and by each that takes it up', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    let runs = 0
    const loop = workflow('loop', {
      async run(rounds: number, task) {
        runs++
        for (let round = 0; round < rounds; round++) {
          task.log.info(`round ${round}`)
          task.log.info('again')
          await task.sleep('1h')
        }
      },
    })
    const options = { store: file.store, environment, workflows: [loop] }
    const first = await testEngine(options)
    const task = await first.submit(loop, 4, { id: 'l' })
    await first.advance('2h')
    await first.stop()
    await using second = await testEngine(options)
    await second.advance('5h')
    expect(runs).toBeGreaterThan(3)
    const all = await said(second.triarch.tasks.get(task.id))
    expect(all).toEqual([0, 1, 2, 3].flatMap((round) => [`-/- info round ${round}`, '-/- info again']))
  })

  it('has lines of each run of a task that continues as new', async () => {
    const counting = workflow('counting', {
      async run(n: number, task) {
        task.log.info(`run ${n}`)
        await task.run('step', () => n)
        return n > 0 ? task.continueAsNew(n - 1) : n
      },
    })
    await using engine = await testEngine({ workflows: [counting] })
    const task = await engine.submit(counting, 2)
    await engine.settle()
    expect(await said(task)).toEqual(['-/- info run 2', '-/- info run 1', '-/- info run 0'])
  })

  it('has nothing of what was decided by a turn that was never written', async () => {
    let fails = true
    const store: StoreFactory = (environment) => {
      const made = memory()(environment)
      const commit = made.commit.bind(made)
      made.commit = async (batch) => {
        if (fails && batch.some(({ events }) => events?.includes('"pay"'))) {
          fails = false
          throw new TriarchError('STORE_UNAVAILABLE', 'injected')
        }
        return commit(batch)
      }
      return made
    }
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run('first', () => 1)
        task.log.info('pays')
        await task.run('pay', () => 1)
      },
    })
    await using engine = await testEngine({ workflows: [flow], store, onError: () => undefined })
    const task = await engine.submit(flow, null)
    await engine.advance('1m')
    expect(fails).toBe(false)
    expect(await said(task)).toEqual(['-/- info pays'])
  })

  it('shows no secret, wherever it is said, before or after the history knows it', async () => {
    const bank = agent('bank')
    const login = bank.action('login', {
      secrets: ['password', 'token'],
      run({ password }: { password: string }, step) {
        step.log.info(`with ${password}`, { nested: [{ password }] })
        const token = 'tok-4711'
        step.log.info('logged in', { token })
        return { token }
      },
    })
    const flow = workflow('flow', {
      secrets: ['pin'],
      async run({ pin }: { pin: string }, task) {
        task.log.info(`pin ${pin}`)
        const { token } = await task.run(login, { password: 'hunter22' })
        task.log.info(`has ${token}`, { token })
      },
    })
    await using engine = await testEngine({ workflows: [flow], agents: [bank] })
    const task = await engine.submit(flow, { pin: '123456' })
    await engine.settle()
    const { lines } = await task.logs()
    expect(lines.map(({ message }) => message)).toEqual(['pin •••', 'with •••', 'logged in', 'has •••'])
    expect(JSON.stringify(lines)).not.toMatch(/123456|hunter22|tok-4711/)
  })

  it('keeps a step that says too much from harming others, and says how many lines were dropped', async () => {
    const chatty = workflow('chatty', {
      run: (_: null, task) =>
        task.run('talk', (step) => {
          for (let n = 0; n < 50_000; n++) step.log.info(`line ${n}`)
        }),
    })
    const coding = workflow('coding', {
      async run(_: null, task) {
        for (let n = 0; n < 5_000; n++) task.log.info(`line ${n}`)
      },
    })
    await using engine = await testEngine({ workflows: [chatty, coding] })
    const [task, other] = [await engine.submit(chatty, null), await engine.submit(coding, null)]
    await engine.advance('5s')
    const { lines } = await task.logs({ limit: 1_000 })
    const { lines: last } = await task.logs({ after: lines.at(-1)?.seq ?? 0 })
    expect(lines).toHaveLength(LOG_RATE.lines)
    const dropped = 50_000 - LOG_RATE.lines
    expect(last).toMatchObject([{ level: 'warn', message: `${dropped} lines were dropped`, dropped, step: 1 }])
    const page = await other.logs({ limit: 1_000 })
    expect(page.lines.at(-1)).toMatchObject({ level: 'warn', dropped: 5_000 - 998, step: undefined })
  })

  it('takes whatever it is given: a line comes of it, and no error', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const odd = workflow('odd', {
      run: (_: null, task) =>
        task.run('odd', ({ log }) => {
          log.info('circle', circle)
          log.info('large', { text: 'x'.repeat(100_000) })
          log.info('y'.repeat(10_000))
          log.info(undefined as unknown as string, null as never)
          log.warn('bigint', { n: 1n, map: new Map() })
        }),
    })
    await using engine = await testEngine({ workflows: [odd] })
    const task = await engine.submit(odd, null)
    await engine.settle()
    expect(await task.status()).toMatchObject({ outcome: 'success' })
    const { lines } = await task.logs()
    expect(lines.map(({ message }) => message.slice(0, 10))).toEqual([
      'circle',
      'large',
      'yyyyyyyyyy',
      'undefined',
      'bigint',
    ])
    expect(lines[2]?.message).toHaveLength(4_096)
    for (const at of [0, 1, 4]) expect(lines[at]?.fields).toEqual({ omitted: expect.any(String) })
  })

  it('survives a store that is away for a while, and neither steps nor tasks notice', async () => {
    let away = true
    const errors: unknown[] = []
    const store: StoreFactory = (environment) => {
      const made = memory()(environment)
      const write = made.writeLogs.bind(made)
      made.writeLogs = async (writes) => {
        // Written, and not answered: written again, it is there once.
        await write(writes)
        if (away) throw new TriarchError('STORE_UNAVAILABLE', 'injected')
      }
      return made
    }
    await using engine = await testEngine({ ...parts, store, onError: (error) => errors.push(error) })
    const task = await engine.submit(order, 'c')
    await engine.advance('10s')
    expect(await task.result()).toBe('r-1')
    away = false
    await engine.advance('1m')
    expect((await said(task)).sort()).toEqual([
      ...['-/- debug paid, r-1', '-/- info begins', '1/1 info charging', '1/1 warn no luck', '1/2 info charging'],
      '2/1 error no box',
    ])
    expect(errors.length).toBeGreaterThan(0)
  })

  it('has the lines of agents on another node', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const shared = { store: file.store, environment, poll: '100ms' } as const
    await using _ = await testEngine({ ...shared, agents: [shop], roles: ['agent'] })
    await using engine = await testEngine({ ...shared, workflows: [order], roles: ['scheduler', 'supervisor'] })
    const task = await engine.submit(order, 'c-1')
    await engine.advance('10s')
    const { lines } = await task.logs({ step: 1 })
    expect(lines.map(({ message }) => message)).toEqual(['charging', 'no luck', 'charging'])
    const nodes = new Set((await task.logs()).lines.map(({ node }) => node))
    expect(nodes.size).toBe(2)
  })

  it('has the lines of code in threads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-log-'))
    const module = join(folder, 'work.mjs')
    writeFileSync(
      module,
      "export const run = (n, step) => { step.log.info('deep', { n }); step.log.warn('odd', { f() {} }); return n }",
    )
    try {
      const cpu = agent('cpu')
      const compute = cpu.action('compute', { thread: pathToFileURL(module) })
      const flow = workflow('flow', { run: (n: number, task) => task.run(compute, n as never) })
      await using triarch = new Triarch({ store: memory(), workflows: [flow], agents: [cpu] })
      await triarch.start()
      const task = await triarch.submit(flow, 7)
      await task.result({ timeout: '30s' })
      const { lines } = await task.logs()
      expect(lines).toMatchObject([
        { message: 'deep', fields: { n: 7 }, step: 1, attempt: 1 },
        { message: 'odd', level: 'warn', fields: { omitted: expect.any(String) } },
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
