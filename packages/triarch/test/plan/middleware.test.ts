import { describe, expect, it } from 'vitest'
import { inOrder } from '../../src/definition/middleware.ts'
import { agent, type Middleware, type MiddlewareHooks, middleware, PermanentError, workflow } from '../../src/index.ts'
import { codeOf, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

/** A middleware that writes down what it is around. */
function witness(log: string[], name: string, order: MiddlewareHooks = {}): Middleware {
  const around = (what: string, next: () => unknown) => {
    log.push(`${name} ${what}`)
    const result = next()
    if (result instanceof Promise) return result.finally(() => log.push(`${name} ${what} over`))
    log.push(`${name} ${what} over`)
    return result
  }
  return middleware(name, {
    ...order,
    submit: ({ workflow }, next) => around(`submit ${workflow}`, next),
    plan: ({ workflow, action }, next) => around(`plan ${action ?? workflow}`, next),
    run: ({ action }, next) => around(`run ${action}`, next),
    finalize: ({ action }, next) => around(`finalize ${action}`, next),
    undo: ({ action }, next) => around(`undo ${action}`, next),
  })
}

describe('middleware', () => {
  it('is around submission, planning, each attempt, finalizing and undo, the instance’s outermost', async () => {
    const log: string[] = []
    const own = agent('work')
    const inner = own.action('inner', {
      middleware: [witness(log, 'action')],
      run: (n: number) => void log.push(`run ${n}`),
      finalize: () => void log.push('finalize'),
      undo: () => void log.push('undo'),
    })
    const outer = own.action('outer', { plan: (n: number, plan) => void plan.step(inner, n) })
    const flow = workflow('flow', { middleware: [witness(log, 'flow')], plan: (n: number, plan) => void plan.step(outer, n) }) // biome-ignore format: one line
    await using s = await stage({ workflows: [flow], agents: [own], middleware: [witness(log, 'all')] })
    const task = await s.submit(flow, 1)
    await task.result()
    const first = log.filter((line) => /submit|plan/.test(line))
    expect(first).toEqual(
      ['all submit flow', 'flow submit flow', 'all plan flow', 'flow plan flow', 'all plan work.outer', 'flow plan work.outer', 'flow plan work.outer over', 'all plan work.outer over', 'flow plan flow over', 'all plan flow over', 'flow submit flow over', 'all submit flow over'], // biome-ignore format: one line
    )
    await task.compensate()
    await s.settle()
    const wrapped = (what: string, inside: string) => [`all ${what}`, `flow ${what}`, `action ${what}`, inside, `action ${what} over`, `flow ${what} over`, `all ${what} over`] // biome-ignore format: one line
    expect(log.filter((line) => !first.includes(line))).toEqual([
      ...wrapped('run work.inner', 'run 1'),
      ...wrapped('finalize work.inner:finalize', 'finalize'),
      ...wrapped('undo work.inner', 'undo'),
    ])
  })

  it('is around the steps of durable functions, local ones too, and around what agents elsewhere attempt', async () => {
    const log: string[] = []
    const own = agent('work')
    const act = own.action('act', { run: (n: number) => n + 1 })
    const double = middleware('double', { run: async (_, next) => ((await next()) as number) * 2 })
    const flow = workflow('flow', {
      middleware: [double],
      run: async (n: number, task) => task.run('local', async () => (await task.run(act, n)) + 100),
    })
    const fixed = workflow('fixed', { run: async (n: number, task) => (await task.run(act, n)) + (await task.run('local', () => 100)) }) // biome-ignore format: one line
    using file = scratch()
    const options = { poll: '1s', store: file.store } as const
    await using owner = await stage({ ...options, workflows: [flow, fixed], roles: ['scheduler', 'supervisor'], middleware: [double] }) // biome-ignore format: one line
    const { environment } = owner.engine
    const remote = witness(log, 'remote')
    await using hands = await stage({ ...options, agents: [own], roles: ['agent'], seed: 2, environment, middleware: [remote] }) // biome-ignore format: one line
    const task = await owner.submit(fixed, 1)
    await owner.advance('1m')
    expect(await task.result()).toBe(2 + 200)
    expect(log).toEqual(['remote run work.act', 'remote run work.act over'])
    await hands.settle()
  })

  it('may change what goes in and what comes out, or answer itself', async () => {
    const own = agent('work')
    const act = own.action('act', { run: (n: number) => n + 1 })
    const flow = workflow('flow', { plan: (n: number, plan) => plan.step(act, n).output })
    const changing = middleware('changing', {
      submit: ({ input }, next) => next((input as number) + 10),
      run: async ({ input }, next) => (input === 11 ? ((await next(20)) as number) * 2 : 'cached'),
    })
    await using s = await stage({ workflows: [flow], agents: [own], middleware: [changing] })
    expect(await (await s.submit(flow, 1)).result()).toBe(42)
    expect(await (await s.submit(flow, 2)).result()).toBe('cached')
  })

  it('leaves a step that waits its wait', async () => {
    const own = agent('work')
    const tokens: string[] = []
    const wait = own.action('wait', {
      run(_: null, step, event) {
        tokens.push(step.token)
        return event ? (event.payload as string) : step.suspend()
      },
    })
    const flow = workflow('flow', { plan: (_: null, plan) => plan.step(wait, null).output })
    await using s = await stage({ workflows: [flow], agents: [own], middleware: [witness([], 'one')] })
    const task = await s.submit(flow, null)
    await s.settle()
    await s.engine.triarch.tasks.resume(tokens[0] as string, 'go')
    expect(await task.result()).toBe('go')
  })

  it('whose code fails is a failure of what it is around', async () => {
    const own = agent('work')
    const act = own.action('act', { rescue: 'fail', run: (n: number) => n })
    const flow = workflow('flow', { plan: (n: number, plan) => plan.step(act, n).output })
    const failing = (hook: 'submit' | 'plan' | 'run') =>
      middleware('failing', {
        [hook]: () => {
          throw new PermanentError(`no ${hook}`)
        },
      })
    await using submit = await stage({ workflows: [flow], agents: [own], middleware: [failing('submit')] })
    await expect(submit.submit(flow, 1)).rejects.toThrow('no submit')
    await using plan = await stage({ workflows: [flow], agents: [own], middleware: [failing('plan')] })
    expect(await codeOf(plan.submit(flow, 1))).toBe('PLAN_FAILED')
    await using run = await stage({ workflows: [flow], agents: [own], middleware: [failing('run')] })
    const task = await run.submit(flow, 1)
    await run.settle()
    expect((await task.status()).error).toMatchObject({ code: 'STEP_FAILED', cause: { message: 'no run' } })
  })

  it('goes on once at most, and lets submit() give a task', async () => {
    const own = agent('work')
    const act = own.action('act', { rescue: 'fail', retry: { attempts: 1 }, run: (n: number) => n })
    const flow = workflow('flow', { plan: (n: number, plan) => plan.step(act, n).output })
    const twice = middleware('twice', { run: async (_, next) => [await next(), await next()] })
    await using s = await stage({ workflows: [flow], agents: [own], middleware: [twice] })
    const task = await s.submit(flow, 1)
    await s.settle()
    expect((await task.status()).error).toMatchObject({ cause: { code: 'MIDDLEWARE_MISUSE' } })
    const deaf = middleware('deaf', { submit: () => undefined })
    await using t = await stage({ workflows: [flow], agents: [own], middleware: [deaf] })
    expect(await codeOf(t.submit(flow, 1, { id: 'x' }))).toBe('MIDDLEWARE_MISUSE')
  })
})

describe('the order of middlewares', () => {
  const named = (name: string, order: MiddlewareHooks = {}) => middleware(name, order)
  const names = (...lists: (readonly Middleware[])[]) => inOrder(...lists).map(({ name }) => name)

  it('is that of their lists, but for what they say about each other', () => {
    const [a, b, c] = [named('a', { after: ['c'] }), named('b'), named('c', { before: ['b', 'nobody'] })]
    expect(names([a, b], [c])).toEqual(['c', 'a', 'b'])
    expect(names([b, a], [c, c])).toEqual(['c', 'b', 'a'])
    expect(names([])).toEqual([])
  })

  it('gives one that replaces another its place', () => {
    const [a, b, c, d] = [named('a'), named('b'), named('c', { replace: 'a' }), named('d', { replace: 'nobody' })]
    expect(names([a, b], [c, d])).toEqual(['c', 'b', 'd'])
  })

  it('is refused when it is none', async () => {
    const circle = [named('a', { before: ['b'] }), named('b', { before: ['a'] })]
    expect(await codeOf(Promise.resolve().then(() => names(circle)))).toBe('INVALID_OPTION')
    expect(await codeOf(Promise.resolve().then(() => names([named('a'), named('a')])))).toBe('DUPLICATE_DEFINITION')
    expect(await codeOf(stage({ middleware: circle }))).toBe('INVALID_OPTION')
    expect(await codeOf(Promise.resolve().then(() => workflow('x', { middleware: [{}] as never, run: () => 1 })))).toBe('INVALID_OPTION') // biome-ignore format: one line
  })
})
