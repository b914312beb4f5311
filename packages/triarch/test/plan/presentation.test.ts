import { describe, expect, it } from 'vitest'
import {
  agent,
  middleware,
  PermanentError,
  type StepContext,
  type TaskHandle,
  type TriarchError,
  workflow,
} from '../../src/index.ts'
import { hideAt, secretsAt } from '../../src/kernel/secret.ts'
import { codeOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

const PASSWORD = 'correct horse'
const TOKEN = 'tok-4711'

/** Everything that anybody can see of a task. */
async function views(s: Stage, task: TaskHandle<unknown>): Promise<string> {
  const { triarch } = s.engine
  const seen = [await task.status(), await task.steps(), await task.plan(), await task.history(), (await triarch.tasks.list()).tasks, (await task.children()).tasks, s.alerts, (await task.watch().next()).value] // biome-ignore format: one line
  return JSON.stringify(seen)
}

function hosts() {
  const own = agent('hosts')
  const login = own.action('login', {
    secrets: ['password', 'token'],
    rescue: 'pause',
    present: ({ input, output }) => `${(input as { user: string }).user} logs in${output ? ' (done)' : ''} ${JSON.stringify(input)}`, // biome-ignore format: one line
    hints: ({ error }) => (error ? ['Is the password right?', 'Ask the owner of the host.'] : []),
    run({ user, password }: { user: string; password: string }, step) {
      step.heartbeat({ checkpoint: { token: TOKEN } })
      if (user === 'bad') throw new PermanentError(`${user} with ${password} was refused`)
      return { user, token: TOKEN }
    },
  })
  const use = own.action('use', { run: ({ token }: { token: string }) => ({ used: token.length }) })
  return { own, login, use }
}

describe('a secret', () => {
  it('is in no view of a plan that succeeded, wherever it went', async () => {
    const { own, login, use } = hosts()
    const flow = workflow('flow', {
      secrets: ['password', 'used'],
      plan({ password }: { password: string }, plan) {
        const { output } = plan.step(login, { user: 'ann', password })
        return { used: output.token, of: plan.step(use, { token: output.token }).output.used }
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, { password: PASSWORD })
    expect(await task.result()).toEqual({ used: TOKEN, of: TOKEN.length })
    const seen = await views(s, task)
    for (const secret of [PASSWORD, TOKEN]) expect(seen).not.toContain(secret)
    expect(seen).toContain('ann logs in (done)')
    expect((await task.status()).output).toEqual({ used: '•••', of: 8 })
    // The task itself works with what it is.
    expect((await task.steps()).find(({ name }) => name === 'use')?.output).toEqual({ used: 8 })
  })

  it('is bounded in number and size: an input with more is refused where it is sent', async () => {
    const own = agent('keys')
    const make = own.action('make', {
      secrets: ['keys.*'],
      run: (count: number) => ({ keys: Array.from({ length: count }, (_, n) => `key-${n}`) }),
    })
    const keep = own.action('keep', { secrets: ['*'], run: (_: string[]) => null })
    const flow = workflow('flow', { secrets: ['*'], run: async (keys: string[], task) => void (await task.run(make, keys.length)) }) // biome-ignore format: one line
    const plan = workflow('plan', { plan: (keys: string[], plan) => void plan.step(keep, keys) })
    await using s = await stage({ workflows: [flow, plan], agents: [own], limits: { payload: 4 * 1024 * 1024 } })
    const many = (count: number, of = 'key') => Array.from({ length: count }, (_, n) => `${of}-${n}`)
    for (const refused of [many(10_001), many(20, 'k'.repeat(60_000))]) {
      expect(await codeOf(s.submit(flow, refused))).toBe('TOO_MANY_SECRETS')
      expect(await codeOf(s.submit(plan, refused))).toBe('TOO_MANY_SECRETS')
      const schedule = s.engine.triarch.schedules.get('x').register({ workflow: flow, input: refused, every: '1h' })
      expect(await codeOf(schedule)).toBe('TOO_MANY_SECRETS')
    }
    expect((await s.engine.triarch.tasks.list()).tasks).toEqual([])
    const most = await s.submit(flow, many(10_000))
    expect(await most.result()).toBeNull()
    expect((await most.steps()).at(0)?.output).toEqual({ keys: Array(10_000).fill('•••') })
    await (await s.submit(plan, many(10_000))).result()
  })

  it.each(['a step', 'a call', 'a batch', 'the next run', 'the output'])(
    'is bounded in the same way in %s of a function',
    async (edge) => {
      const own = agent('keys')
      const keep = own.action('keep', { secrets: ['*'], run: (_: string[]) => null })
      const child = workflow('child', { secrets: ['*'], run: async (_: string[]) => null })
      const flow = workflow('flow', {
        secrets: ['*'],
        async run(_: string[], task): Promise<unknown> {
          const many = Array.from({ length: 10_001 }, (_, n) => `key-${n}`)
          if (edge === 'a step') return task.run(keep, many)
          if (edge === 'a call') return task.call(child, many)
          if (edge === 'a batch')
            return task.batch('b', { workflow: child, items: [many], rescue: 'fail', retry: { attempts: 1 } })
          if (edge === 'the next run') return task.continueAsNew(many)
          return many
        },
      })
      await using s = await stage({ workflows: [flow, child], agents: [own] })
      const task = await s.submit(flow, [])
      await s.settle()
      const { error, pause } = await task.status()
      expect(JSON.stringify(error ?? pause?.error)).toContain('TOO_MANY_SECRETS')
      expect(JSON.stringify(await task.history())).not.toContain('key-7')
    },
  )

  it('is bounded in the same way in what is sent to a task', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `key-${n}`)
    const own = agent('keys')
    const tokens: string[] = []
    const fails = own.action('fails', {
      secrets: ['*'],
      run: (_: string[]) => Promise.reject(new PermanentError('no')),
    })
    const waits = own.action('waits', {
      secrets: ['*'],
      run: (_: null, step, event) => {
        tokens.push(step.token)
        return event ? null : step.suspend()
      },
    })
    const hears = workflow('hears', {
      secrets: ['*'],
      run: async (_: null, task) => void (await task.waitForSignal('go')),
    })
    const stops = workflow('stops', { run: (_: null, task) => task.run(fails, [], { rescue: 'pause' }) })
    const rests = workflow('rests', { run: (_: null, task) => task.run(waits, null) })
    await using s = await stage({
      workflows: [hears, stops, rests],
      agents: [own],
      limits: { payload: 4 * 1024 * 1024 },
    })
    const [heard, held] = [await s.submit(hears, null), await s.submit(stops, null)]
    await s.submit(rests, null)
    await s.settle()
    const step = (await held.status()).steps[0]?.id ?? 0
    expect(await codeOf(heard.signal('go', many(10_001)))).toBe('TOO_MANY_SECRETS')
    expect(await codeOf(held.retry({ step, input: many(10_001) }))).toBe('TOO_MANY_SECRETS')
    expect(await codeOf(held.retry({ input: many(10_001) }))).toBe('TOO_MANY_SECRETS')
    expect(await codeOf(held.skip({ step, output: many(10_001) }))).toBe('TOO_MANY_SECRETS')
    expect(await codeOf(s.engine.triarch.tasks.resume(tokens[0] ?? '', many(10_001)))).toBe('TOO_MANY_SECRETS')
    await s.engine.triarch.tasks.resume(tokens[0] ?? '', many(10_000))
    await heard.signal('go', many(10_000))
    expect(await heard.result()).toBeNull()
    await held.skip({ step, output: many(10_000) })
    expect(await held.result()).toHaveLength(10_000)
  })

  it.each(['a heartbeat', 'a checkpoint', 'a suspension', 'a signal that wakes it'])(
    'is bounded in the same way in %s of a step',
    async (way) => {
      const many = (count: number) => Array.from({ length: count }, (_, n) => `key-${n}`)
      const own = agent('keys')
      const codes: string[] = []
      const told = (step: StepContext, count: number) => {
        if (way === 'a heartbeat') return step.heartbeat({ progress: many(count) })
        if (way === 'a checkpoint') return step.heartbeat({ checkpoint: many(count) })
        if (way === 'a suspension') return step.suspend({ checkpoint: many(count) })
        return step.suspend({ signals: [{ name: 'alarm', in: 5, payload: many(count) }] })
      }
      const tells = own.action('tells', {
        secrets: ['*'],
        run: (_: null, step) => {
          try {
            told(step, 10_001)
          } catch (error) {
            codes.push((error as TriarchError).code)
          }
          if (!step.received) told(step, 10_000)
          return null
        },
      })
      const flow = workflow('flow', { run: (_: null, task) => task.run(tells, null) })
      await using s = await stage({ workflows: [flow], agents: [own], limits: { payload: 4 * 1024 * 1024 } })
      const task = await s.submit(flow, null)
      expect(await task.result()).toBeNull()
      expect(new Set(codes)).toEqual(new Set(['TOO_MANY_SECRETS']))
    },
  )

  it('is in no output with more than may be hidden: the step is held', async () => {
    const own = agent('keys')
    const make = own.action('make', { secrets: ['*'], run: (_: null) => Array.from({ length: 10_001 }, (_, n) => `key-${n}`) }) // biome-ignore format: one line
    const flow = workflow('flow', { run: async (_: null, task) => void (await task.run(make, null)) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.settle()
    const { error } = (await task.status()).pause ?? {}
    expect(error).toMatchObject({ code: 'STEP_UNRECORDABLE', cause: { code: 'TOO_MANY_SECRETS' } })
  })

  it('is in no error, alert or hint of a step that failed, in plans and functions alike', async () => {
    const { own, login } = hosts()
    const plan = workflow('plan', { plan: (password: string, plan) => void plan.step(login, { user: 'bad', password }) }) // biome-ignore format: one line
    const run = workflow('run', { run: async (password: string, task) => void (await task.run(login, { user: 'bad', password })) }) // biome-ignore format: one line
    await using s = await stage({ workflows: [plan, run], agents: [own] })
    for (const flow of [plan, run]) {
      const task = await s.submit(flow, PASSWORD)
      await s.settle()
      const { pause, steps } = await task.status()
      expect(pause?.error?.message).toContain('bad with ••• was refused')
      expect(steps[0]?.error?.message).toContain('•••')
      const [record] = await s.store.records(task.id, 0, 1_000)
      const [step] = await task.steps()
      expect(step).toMatchObject({ status: 'error', input: { user: 'bad', password: '•••' } })
      expect(step?.hints).toEqual(['Is the password right?', 'Ask the owner of the host.'])
      expect(JSON.stringify([step, s.alerts])).not.toContain(PASSWORD)
      expect(record?.events).toContain(PASSWORD) // the input of the workflow is not marked
    }
  })

  it('of a workflow’s input is in no error of its code', async () => {
    const flow = workflow('flow', {
      secrets: ['key'],
      rescue: 'fail',
      async run({ key }: { key: string }, task) {
        await task.run('local', (step) => step.attempt)
        throw new Error(`${key} does not fit`)
      },
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, { key: PASSWORD })
    await s.settle()
    expect((await task.status()).error?.message).toBe('••• does not fit')
    expect(await views(s, task)).not.toContain(PASSWORD)
  })

  it('is hidden from those who know nothing of the workflow', async () => {
    const { own, login } = hosts()
    const flow = workflow('flow', {
      secrets: ['password', 'token'],
      plan: (input: { password: string }, plan) => ({
        token: plan.step(login, { user: 'ann', ...input }).output.token,
      }),
    })
    using file = scratch()
    const first = await stage({ workflows: [flow], agents: [own], store: file.store })
    await (await first.submit(flow, { password: PASSWORD }, { id: 't' })).result()
    await first.kill()
    await using stranger = await stage({ store: file.store, seed: 2 })
    const seen = await views(stranger, stranger.engine.tasks.get('t'))
    for (const secret of [PASSWORD, TOKEN]) expect(seen).not.toContain(secret)
    // Nobody here can say what the step is about.
    expect((await stranger.engine.tasks.get('t').steps())[0]?.summary).toBeUndefined()
  })

  it('is found by paths, in all that is under them', () => {
    const value = {
      a: [{ b: 'first secret', c: 1 }, { b: { d: 123456 } }],
      e: 'x first secret y 123456',
      f: 12,
      g: 123456,
    }
    const secrets = secretsAt(value, ['a.*.b'])
    expect([...secrets]).toEqual(['first secret', '123456'])
    expect(hideAt(value, ['a.*.b', 'f.g', 'nowhere'])).toEqual({ ...value, a: [{ b: '•••', c: 1 }, { b: '•••' }] })
    expect(secrets.scrub(value)).toMatchObject({ e: 'x ••• y •••', f: 12, g: '•••' })
  })

  it('is marked by paths', async () => {
    const bad = (secrets: unknown) => codeOf(Promise.resolve().then(() => workflow('x', { secrets: secrets as string[], run: () => 1 }))) // biome-ignore format: one line
    for (const secrets of ['password', [''], [1], Array(101).fill('a')])
      expect(await bad(secrets)).toBe('INVALID_OPTION')
  })
})

describe('the steps of a task', () => {
  it('say how far each is: those to come, those that run, those that are done', async () => {
    const own = agent('work')
    const report: { half: () => void } = { half: () => undefined }
    const act = own.action('act', {
      weight: 3,
      present: ({ input, status, progress }) => `${input} is ${status} (${progress})`,
      async run(name: string, step) {
        if (name !== 'slow') return name
        step.heartbeat({ progress: 0.5 })
        await new Promise<void>((resolve) => {
          report.half = resolve
        })
        return name
      },
    })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        plan.sequence(() => {
          for (const name of ['quick', 'slow']) plan.step(act, name)
          plan.step(act, 'last', { weight: 2 })
        })
      },
    })
    const same = workflow('function', {
      async run(_: null, task) {
        for (const name of ['quick', 'slow']) await task.run(act, name)
        await task.run(act, 'last', { weight: 2 })
      },
    })
    await using s = await stage({ workflows: [flow, same], agents: [own] })
    const task = await s.submit(flow, null)
    await s.advance('1s')
    expect((await task.steps()).map(({ summary, weight }) => `${summary} ${weight}`)).toEqual(['quick is success (1) 3', 'slow is running (0.5) 3', 'last is waiting (0) 2']) // biome-ignore format: one line
    expect((await task.status()).progress).toBe(0.56)
    report.half()
    await task.result()
    expect((await task.status()).progress).toBe(1)
    const other = await s.submit(same, null)
    await s.advance('1s')
    expect((await other.status()).progress).toBe(0.75)
    expect((await other.steps()).map(({ status }) => status)).toEqual(['success', 'running'])
    report.half()
    await other.result()
    expect((await other.steps()).map(({ status, attempts }) => [status, attempts])).toEqual(Array(3).fill(['success', 1])) // biome-ignore format: one line
  })

  it('show what middleware makes of them, and an error in it as what they say', async () => {
    const own = agent('work')
    const act = own.action('act', { present: () => 'plain', run: (n: number) => n })
    const flow = workflow('flow', { plan: (n: number, plan) => void plan.step(act, n) })
    const loud = middleware('loud', {
      present({ input }, next) {
        if (input === 2) throw new Error('hoarse')
        return `${next()}!`
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own], middleware: [loud] })
    const [one, two] = [await s.submit(flow, 1), await s.submit(flow, 2)]
    await s.settle()
    expect((await one.steps())[0]?.summary).toBe('plain!')
    expect((await two.steps())[0]?.summary).toBe('cannot be presented: hoarse')
  })

  it('show what became of them after a retry, a skip, an undo', async () => {
    const own = agent('work')
    const broken = new Set(['b'])
    const act = own.action('act', {
      rescue: 'fail',
      run(name: string) {
        if (broken.has(name)) throw new PermanentError('broken')
        return name
      },
      undo: () => undefined,
    })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const a = plan.step(act, 'a')
        const b = plan.step(act, 'b', { after: [a] })
        plan.step(act, 'c', { after: [b] })
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.settle()
    const states = async () => (await task.steps()).map(({ status }) => status)
    expect(await states()).toEqual(['success', 'error', 'waiting'])
    await task.skip({ step: 2 })
    await s.settle()
    expect(await states()).toEqual(['success', 'skipped', 'skipped'])
    await task.compensate()
    await s.settle()
    expect(await states()).toEqual(['compensated', 'skipped', 'skipped'])
  })
})
