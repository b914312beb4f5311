import { describe, expect, it } from 'vitest'
import { agent, PermanentError, polling, type StandardSchema, type StepSignal, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const text: StandardSchema<string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'no string' }] }),
  },
}

/** An action that waits: what it was told, and the tokens it handed out. */
function waiter(options: Parameters<typeof suspendWith>[0] = {}) {
  const told: (string | null)[] = []
  const tokens: string[] = []
  const own = agent('svc', { concurrency: 1 })
  const wait = own.action('wait', {
    async run(input: { until: string }, step, event) {
      told.push(event ? event.name : null)
      tokens.push(step.token)
      if (event?.name === input.until) return { got: event.payload, checkpoint: step.checkpoint ?? null }
      if (event?.name === 'timeout') throw new PermanentError('nobody came')
      return step.suspend(suspendWith(options))
    },
  })
  const flow = workflow('flow', { run: (until: string, task) => task.run(wait, { until }) })
  return { told, tokens, own, wait, flow, agents: [own] }
}

function suspendWith(options: { timeout?: string; checkpoint?: unknown; every?: string; onCancel?: boolean }) {
  const { every, timeout, ...rest } = options
  return {
    ...rest,
    ...(timeout !== undefined && { timeout: timeout as '1s' }),
    ...(every !== undefined && { signals: [{ name: 'tick', in: every as '1s' }] }),
  }
}

describe('a suspended step', () => {
  it('holds no slot and no work row, and goes on with what its token is given', async () => {
    const { told, tokens, flow, agents } = waiter({ checkpoint: { at: 3 } })
    await using s = await stage({ workflows: [flow], agents })
    const tasks = [await s.submit(flow, 'resume'), await s.submit(flow, 'resume')]
    await s.settle()
    // One slot, and both have been there.
    expect(told).toEqual([null, null])
    expect(await s.engine.triarch.statistics.get()).toMatchObject({ work: 0, inbox: 0 })
    await s.engine.triarch.tasks.resume(tokens[1] as string, { approved: true })
    expect(await tasks[1]?.result()).toEqual({ got: { approved: true }, checkpoint: { at: 3 } })
    await s.engine.triarch.tasks.resume(tokens[0] as string, 1)
    expect(await tasks[0]?.result()).toEqual({ got: 1, checkpoint: { at: 3 } })
    expect(new Set(tokens).size).toBe(2)
  })

  it('survives its node: token, signals for itself and timeout are durable', async () => {
    const { told, tokens, flow, agents } = waiter({ every: '1h', timeout: '1d' })
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    await first.submit(flow, 'resume', { id: 'a' })
    await first.submit(flow, 'never', { id: 'b' })
    await first.advance('90m')
    expect(told).toEqual([null, null, 'tick', 'tick'])
    await first.kill()
    await using second = await stage({
      workflows: [flow],
      agents,
      store: file.store,
      seed: 2,
      environment: first.engine.environment,
    })
    await second.advance('1h')
    expect(told.slice(4)).toEqual(['tick', 'tick'])
    await second.engine.triarch.tasks.resume(tokens[0] as string, 'late')
    expect(await second.engine.tasks.get('a').result()).toMatchObject({ got: 'late' })
    expect(await eventsOf(second.engine.tasks.get('a'), 'attemptFailed')).toEqual([])
  })

  it('is told when nothing else came in time', async () => {
    const { told, flow, agents } = waiter({ timeout: '2h' })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, 'resume')
    await s.advance('119m')
    expect(told).toEqual([null])
    await s.advance('1m')
    expect(told).toEqual([null, 'timeout'])
    await expect(task.result()).rejects.toMatchObject({ cause: { cause: { message: 'nobody came' } } })
  })

  it('fails at the complete-by of the whole step, whatever it waits for', async () => {
    const own = agent('svc')
    const wait = own.action('wait', { stepWithin: '1h', run: (_: null, step) => step.suspend() })
    const flow = workflow('flow', { run: (_: null, task) => task.run(wait, null) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.advance('1h')
    await expect(task.result()).rejects.toMatchObject({ cause: { cause: { code: 'STEP_TIMEOUT' } } })
  })

  it('gets signals one at a time, in order, also those that came while it ran', async () => {
    const gates: (() => void)[] = []
    const told: unknown[] = []
    const tokens: string[] = []
    const own = agent('svc')
    const collect = own.action('collect', {
      async run(_: null, step, event) {
        tokens.push(step.token)
        told.push(event?.payload ?? null)
        await new Promise<void>((resolve) => gates.push(resolve))
        return event?.payload === 3 ? told : step.suspend()
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(collect, null) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.settle()
    for (const n of [1, 2, 3]) await s.engine.triarch.tasks.resume(tokens[0] as string, n)
    await s.settle()
    expect(told).toEqual([null])
    for (let n = 0; n < 4; n++) {
      gates.shift()?.()
      await s.settle()
    }
    expect(await task.result()).toEqual([null, 1, 2, 3])
    expect(await codeOf(s.engine.triarch.tasks.resume(tokens[0] as string, 4))).toBe('TOKEN_SPENT')
    await s.engine.triarch.tasks.resume(tokens[0] as string, 4, { optional: true })
  })

  it('is told the same signal again when the attempt that had it is lost', async () => {
    const told: (StepSignal | undefined)[] = []
    const tokens: string[] = []
    const own = agent('svc')
    let stuck = true
    const wait = own.action('wait', {
      async run(_: null, step, event) {
        tokens.push(step.token)
        told.push(event)
        if (!event) return step.suspend()
        if (stuck) await new Promise(() => undefined)
        return event.payload
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(wait, null) })
    using file = scratch()
    const first = await stage({ workflows: [flow], agents: [own], store: file.store })
    await first.submit(flow, null, { id: 't' })
    await first.settle()
    await first.engine.triarch.tasks.resume(tokens[0] as string, 'once')
    await first.settle()
    await first.kill()
    stuck = false
    await using second = await stage({ workflows: [flow], agents: [own], store: file.store, seed: 2 })
    await second.advance('1m')
    expect(await second.engine.tasks.get('t').result()).toBe('once')
    expect(told.map((event) => event?.payload ?? null)).toEqual([null, 'once', 'once'])
  })

  it('is given up when its task is cancelled, or told first if it wants to be', async () => {
    const plain = waiter()
    const calls: string[] = []
    const wary = plain.own.action('wary', {
      async run(_: null, step, event) {
        if (event?.name !== 'cancel') return step.suspend({ onCancel: true })
        calls.push(`called off, aborted: ${step.signal.aborted}`)
        throw new PermanentError('called off')
      },
    })
    const careful = workflow('careful', { run: (_: null, task) => task.run(wary, null) })
    await using s = await stage({ workflows: [plain.flow, careful], agents: plain.agents })
    const tasks = [await s.submit(plain.flow, 'resume'), await s.submit(careful, null)]
    await s.settle()
    for (const task of tasks) await task.cancel()
    await s.settle()
    for (const task of tasks) expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(plain.told).toEqual([null])
    expect(calls).toEqual(['called off, aborted: false'])
    expect(s.alerts).toMatchObject([{ cause: 'unknown-outcome' }])
  })

  it('is told of the stop of its task also when it begins to wait only then', async () => {
    const { own, agents } = waiter()
    const calls: string[] = []
    let release: (() => void) | undefined
    const book = own.action('book', {
      async run(_: null, step, event) {
        calls.push(event?.name ?? 'begin')
        if (event?.name === 'cancel') throw new PermanentError('called off')
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return step.suspend({ onCancel: true })
      },
    })
    const flow = workflow('careful', { run: (_: null, task) => task.run(book, null) })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    await task.cancel()
    await s.settle()
    release?.()
    await s.settle()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(calls).toEqual(['begin', 'cancel'])
  })

  it('waits in its workflow’s own process just the same', async () => {
    const tokens: string[] = []
    const flow = workflow('flow', {
      run: (_: null, task) =>
        task.run('local', async (step) => {
          tokens.push(step.token)
          return step.received ? step.received.payload : step.suspend()
        }),
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    await s.engine.triarch.tasks.resume(tokens[0] as string, 'there', { name: 'mine' })
    expect(await task.result()).toBe('there')
  })

  it('waits as well when its code says so and returns nothing', async () => {
    const own = agent('svc')
    const tokens: string[] = []
    const wait = own.action('wait', {
      output: text,
      run: async (_: null, step, event): Promise<string> => {
        if (event) return String(event.payload)
        tokens.push(step.token)
        step.suspend()
        return undefined as never
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(wait, null) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect((await task.status()).status).toBe('running')
    await s.engine.triarch.tasks.resume(tokens[0] as string, 'there')
    expect(await task.result()).toBe('there')
  })

  it('refuses what makes no sense', async () => {
    const own = agent('svc')
    const found: string[] = []
    const bad = own.action('bad', {
      run(_: null, step) {
        for (const options of [{ timeout: 'x' }, { timout: 1 }, { signals: [{ name: 'timeout', in: 1 }] }]) {
          try {
            step.suspend(options as never)
          } catch (error) {
            found.push((error as { code: string }).code)
          }
        }
        return found
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(bad, null) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const { triarch } = s.engine
    expect(await (await s.submit(flow, null)).result()).toEqual(['INVALID_DURATION', 'UNKNOWN_OPTION', 'INVALID_NAME'])
    expect(await codeOf(triarch.tasks.resume('nonsense'))).toBe('INVALID_TOKEN')
    const token = Buffer.from(JSON.stringify(['gone', 1, 'gone:1'])).toString('base64url')
    expect(await codeOf(triarch.tasks.resume(token))).toBe('INVALID_TOKEN')
    expect(await codeOf(triarch.tasks.resume(token, 1, { name: 'cancel' }))).toBe('INVALID_NAME')
  })
})

describe('polling', () => {
  function external() {
    const log: string[] = []
    const jobs = new Map<string, number>()
    const state = { broken: 0, needed: 8 }
    const own = agent('cloud')
    const create = own.action('create', {
      retry: { attempts: 1 },
      run: polling({
        invoke(input: { name: string }, step) {
          log.push(`invoke ${input.name}`)
          jobs.set(step.idempotencyKey, 0)
          return { job: step.idempotencyKey }
        },
        poll({ job }) {
          log.push('poll')
          if (state.broken-- > 0) throw new Error('no line')
          jobs.set(job, (jobs.get(job) ?? 0) + 1)
          return { polls: jobs.get(job) ?? 0 }
        },
        done: ({ polls }) => polls >= state.needed,
        result: ({ polls }, input) => `${input.name} after ${polls}`,
        progress: ({ polls }) => polls / 8,
        cancel: ({ job }) => void log.push(`cancel ${job}`),
        timeout: '1h',
      }),
    })
    const flow = workflow('flow', { run: (name: string, task) => task.run(create, { name }) })
    return { log, state, flow, agents: [own] }
  }

  it('asks at growing distances until the work is done, through a crash, and starts it once', async () => {
    const { log, flow, agents } = external()
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    await first.submit(flow, 'vm', { id: 't' })
    await first.advance('2s')
    expect(log).toEqual(['invoke vm', 'poll', 'poll', 'poll', 'poll'])
    await first.kill()
    const { environment } = first.engine
    await using second = await stage({ workflows: [flow], agents, store: file.store, seed: 2, environment })
    const task = second.engine.tasks.get('t')
    await second.advance('3s')
    expect(log).toHaveLength(8)
    await second.advance('4s')
    expect(await task.result()).toBe('vm after 8')
    expect(log.filter((line) => line.startsWith('invoke'))).toHaveLength(1)
    expect((await eventsOf(task, 'stepSuspended')).at(-1)).toMatchObject({ progress: 7 / 8 })
  })

  it('bears some failures in a row, and no more; a retry asks for the same work', async () => {
    const { log, state, flow, agents } = external()
    state.broken = 2
    await using s = await stage({ workflows: [flow], agents })
    const fine = await s.submit(flow, 'a')
    await s.advance('1m')
    expect(await fine.result()).toBe('a after 8')
    state.broken = 3
    const bad = await s.submit(flow, 'b')
    await s.advance('1m')
    expect(await codeOf(bad.result())).toBe('TASK_FAILED')
    await bad.retry()
    await s.advance('1m')
    expect(await bad.result()).toBe('b after 8')
    expect(log.filter((line) => line === 'invoke b')).toHaveLength(1)
  })

  it('gives up in time, and calls the work off when the task is cancelled', async () => {
    const { log, state, flow, agents } = external()
    state.needed = 1_000_000
    await using s = await stage({ workflows: [flow], agents })
    const slow = await s.submit(flow, 'slow')
    await s.advance('61m')
    await expect(slow.result()).rejects.toMatchObject({ cause: { cause: { code: 'STEP_TIMEOUT' } } })
    const task = await s.submit(flow, 'off')
    await s.advance('1m')
    await task.cancel()
    await s.settle()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(log.at(-1)).toMatch(new RegExp(`^cancel ${task.id}~[0-9a-z]+:1$`))
    expect(s.alerts).toEqual([])
  })
})
