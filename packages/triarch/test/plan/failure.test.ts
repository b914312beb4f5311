import { describe, expect, it } from 'vitest'
import { agent, preview, UnknownOutcomeError, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { workers } from './workers.ts'

describe('a planned step that fails', () => {
  it('takes along what depends on it by data or order when it is skipped, and nothing else', async () => {
    const { log, broken, agents, act } = workers('skip')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const bad = plan.step(act, { name: 'bad' })
        const reader = plan.step(act, { name: 'reader', of: bad.output.name })
        plan.step(act, { name: 'reader of it', of: reader.output.name })
        plan.sequence(() => {
          plan.step(act, { name: 'first' }, { after: [bad] })
          plan.step(act, { name: 'follower' })
        })
        const good = plan.step(act, { name: 'good' })
        plan.step(act, { name: 'end', of: good.output.name })
        return { good: good.output.name, bad: bad.output.name }
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    expect(await task.result()).toEqual({ good: 'good', bad: null })
    expect(log).toEqual(['bad', 'good', 'end'])
    expect(await task.status()).toMatchObject({ outcome: 'warning', progress: 1 })
    const standings = (await task.plan())?.steps.map(({ standing }) => standing)
    expect(standings).toEqual(['skipped', 'skipped', 'skipped', 'skipped', 'skipped', 'done', 'done'])
  })

  it('takes along what comes after the group it stands in, and the task ends', async () => {
    const { log, broken, agents, act } = workers('skip')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        plan.sequence(() => {
          plan.concurrence(() => {
            plan.step(act, { name: 'bad' })
            plan.step(act, { name: 'good' })
          })
          plan.concurrence(() => {
            plan.step(act, { name: 'after' })
            plan.step(act, { name: 'beside' })
          })
          plan.step(act, { name: 'last' })
        })
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'warning', progress: 1 })
    expect(log).toEqual(['bad', 'good'])
  })

  it('is not verified any more once its answer has ended the task', async () => {
    const asked: number[] = []
    const own = agent('own')
    const send = own.action('send', {
      semantics: 'at-most-once',
      attemptWithin: '5s',
      run: async (_: null): Promise<null> => Promise.reject(new UnknownOutcomeError('cut off')),
      verify: async (_: null, step) => {
        asked.push(step.attempt)
        return { done: false }
      },
    })
    const flow = workflow('flow', { plan: (_: null, plan) => void plan.step(send, null) })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'error' })
    expect(asked).toEqual([...new Set(asked)])
  })

  it('takes nothing along when something stands in its place', async () => {
    const { log, broken, agents, act } = workers({ skip: { name: 'stand-in' } })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const bad = plan.step(act, { name: 'bad' })
        return plan.step(act, { name: 'reader', of: bad.output.name }).output.of
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    expect(await task.result()).toBe('stand-in')
    expect(log).toEqual(['bad', 'reader'])
    expect((await task.status()).outcome).toBe('warning')
  })

  it('lets what does not depend on it go on before the task pauses, and resuming repeats only what is not done', async () => {
    const { log, gates, held, broken, agents, act } = workers('pause')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const bad = plan.step(act, { name: 'bad' })
        const slow = plan.step(act, { name: 'slow' })
        const after = plan.step(act, { name: 'after slow', of: slow.output.name })
        return plan.step(act, { name: 'end', of: [bad.output.name, after.output.of] }).output.of
      },
    })
    broken.add('bad')
    held.add('slow')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).status).toBe('running')
    expect(s.alerts).toMatchObject([{ cause: 'step', step: 1 }])
    gates.get('slow')?.()
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'step' } })
    expect(log).toEqual(['bad', 'slow', 'after slow'])
    broken.clear()
    await task.resume()
    await s.settle()
    expect(await task.result()).toEqual(['bad', 'slow'])
    expect(log.slice(3)).toEqual(['bad', 'end'])
  })

  it('is left out by an operator, with all that depends on it or with an output in its place', async () => {
    const { log, broken, agents, act } = workers('pause')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const bad = plan.step(act, { name: 'bad' })
        plan.step(act, { name: 'reader', of: bad.output.name })
        return bad.output.name
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const first = await s.submit(flow, null)
    const second = await s.submit(flow, null)
    await s.settle()
    await first.skip({ step: 1 })
    await second.skip({ step: 1, output: { name: 'by hand' } })
    await s.settle()
    expect([await first.result(), await second.result()]).toEqual([null, 'by hand'])
    expect(log.filter((name) => name === 'reader')).toHaveLength(1)
    expect((await eventsOf(first, 'stepSkipped'))[0]).toMatchObject({ id: 1, cascade: [2], by: 'operator' })
  })

  it('fails the task once nothing else can go on; a retry then does only what is missing', async () => {
    const { log, broken, agents, act } = workers('fail')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const good = plan.step(act, { name: 'good' })
        const bad = plan.step(act, { name: 'bad', of: good.output.name })
        plan.step(act, { name: 'beside', of: good.output.name })
        return plan.step(act, { name: 'end', of: bad.output.of }).output.of
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED', cause: { code: 'STEP_FAILED' } })
    expect(log).toEqual(['good', 'bad', 'beside'])
    broken.clear()
    await task.retry({ input: undefined })
    await s.settle()
    expect(await task.result()).toBe('good')
    expect(log).toEqual(['good', 'bad', 'beside', 'bad', 'end'])
  })

  it('takes an edited input; from a step that was done, a retry does again all that depended on it', async () => {
    const { log, broken, agents, act } = workers('fail')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const one = plan.step(act, { name: 'one' })
        const beside = plan.step(act, { name: 'beside' })
        const two = plan.step(act, { name: 'two', of: one.output.of })
        return plan.step(act, { name: 'bad', of: [two.output.of, beside.output.name] }).output.of
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await codeOf(task.result())
    broken.clear()
    log.length = 0
    await task.retry({ step: 1, input: { name: 'one', of: 'edited' } })
    await s.settle()
    expect(await task.result()).toEqual(['edited', 'beside'])
    expect(log).toEqual(['one', 'two', 'bad'])
    const beside = (await eventsOf(task, 'stepCompleted')).filter(({ id }) => id === 2)
    expect(beside).toHaveLength(1)
  })

  it('is skipped after the task has stopped, and the rest goes on', async () => {
    const { log, broken, agents, act } = workers('fail')
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const bad = plan.step(act, { name: 'bad' })
        return plan.step(act, { name: 'end', of: bad.output.name }).output.of
      },
    })
    broken.add('bad')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await codeOf(task.result())
    await task.skip({ step: 1, output: { name: 'by hand' } })
    await s.settle()
    expect(await task.result()).toBe('by hand')
    expect(log).toEqual(['bad', 'end'])
  })
})

describe('a rescue strategy', () => {
  it('is the one of the outermost place that has an opinion', async () => {
    const { act, own } = workers('pause')
    const inner = own.action('inner', {
      plan(input: { name: string }, plan) {
        plan.step(act, { name: `${input.name} plain` })
        plan.step(act, { name: `${input.name} own` }, { rescue: 'fail' })
      },
    })
    const outer = own.action('outer', {
      plan(input: { name: string }, plan) {
        plan.step(inner, input)
        plan.step(inner, input, { rescue: 'skip' })
      },
    })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        plan.step(outer, { name: 'a' })
        plan.step(outer, { name: 'b' }, { rescue: 'compensate' })
      },
    })
    const seen = await preview(flow, null)
    expect(seen.steps.map(({ rescue }) => rescue)).toEqual([
      ...['pause', 'fail', 'skip', 'skip'],
      ...['compensate', 'compensate', 'compensate', 'compensate'],
    ])
    expect(seen.steps[0]?.within).toEqual(['outer', 'inner'])
    const strict = workflow('strict', { ...flow.definition, plan: flow.definition.plan as never, rescue: 'fail' })
    expect((await preview(strict, null as never)).steps[0]?.rescue).toBe('fail')
  })
})

describe('a plan is undone', () => {
  function tree() {
    const made = workers()
    const { act } = made
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const base = plan.step(act, { name: 'base' })
        const left = plan.step(act, { name: 'left', of: base.output.name })
        const right = plan.step(act, { name: 'right', of: base.output.name })
        plan.step(act, { name: 'left 2', of: left.output.name })
        plan.step(act, { name: 'right 2', of: right.output.name })
        plan.step(act, { name: 'alone' })
        plan.step(act, { name: 'late' }, { after: [left, right] })
      },
    })
    return { ...made, flow }
  }

  it('against its edges, however the times fell', async () => {
    const { log, gates, held, flow, agents } = tree()
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await task.result()
    log.length = 0
    held.add('-left 2')
    await task.compensate()
    await s.settle()
    // Only what stands on what is stuck waits for it.
    expect(log.sort()).toEqual(['-alone', '-late', '-right', '-right 2'])
    gates.get('-left 2')?.()
    await s.settle()
    expect(log.slice(4)).toEqual(['-left 2', '-left', '-base'])
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'compensated' })
  })

  it('when a step that must not fail does, at once', async () => {
    const { log, broken, flow, agents } = tree()
    broken.add('right')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log.filter((line) => line.startsWith('-')).at(-1)).toBe('-base')
    expect(log).not.toContain('late')
    // Undone, it starts over under new keys, with a plan made anew.
    broken.clear()
    await task.retry()
    await s.settle()
    expect(await task.result()).toBeNull()
    expect((await eventsOf(task, 'planned')).map(({ plan }) => plan.first)).toEqual([1, 8])
  })

  it('and goes on being undone after its node was lost', async () => {
    const { log, held, flow, agents } = tree()
    held.add('-left 2')
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    const task = await first.submit(flow, null, { id: 't' })
    await task.result()
    await task.compensate()
    await first.settle()
    await first.kill()
    held.clear()
    await using second = await stage({ workflows: [flow], agents, store: file.store, seed: 2 })
    await second.advance('1m')
    expect(await second.engine.tasks.get('t').status()).toMatchObject({ outcome: 'compensated' })
    expect(log.slice(-3)).toEqual(['-left 2', '-left', '-base'])
  })

  it('when it is cancelled', async () => {
    const { log, held, flow, agents } = tree()
    held.add('right')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    await task.cancel()
    await s.advance('1m')
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(log.filter((line) => line.startsWith('-')).sort()).toEqual(['-alone', '-base', '-left', '-left 2'])
  })
})
