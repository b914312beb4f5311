import { describe, expect, it } from 'vitest'
import { preview, ref, workflow } from '../../src/index.ts'
import { codeOf, events, eventsOf, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { workers } from './workers.ts'

describe('a plan', () => {
  it('runs what refers to nothing at once, and the rest as soon as what it refers to is done', async () => {
    const { log, gates, held, agents, act } = workers()
    const diamond = workflow('diamond', {
      plan(input: { tag: string }, plan) {
        const top = plan.step(act, { name: 'top', of: input.tag })
        const left = plan.step(act, { name: 'left', of: top.output.name })
        const right = plan.step(act, { name: 'right', of: { deep: [top.output.of] } })
        plan.step(act, { name: 'alone' })
        const end = plan.step(act, { name: 'end', of: [left.output, right.output.of] })
        return { end: end.output.of, text: ref.text`${top.output.name}!` }
      },
    })
    held.add('left')
    await using s = await stage({ workflows: [diamond], agents })
    const task = await s.submit(diamond, { tag: 'x' })
    await s.settle()
    expect(log).toEqual(['top', 'alone', 'left', 'right'])
    gates.get('left')?.()
    const left = { name: 'left', of: 'top', key: expect.stringMatching(new RegExp(`^${task.id}~[0-9a-z]+:2$`)) }
    expect(await task.result()).toEqual({ end: [left, { deep: ['x'] }], text: 'top!' })
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'success', progress: 1 })
  })

  it('keeps the order of sequences and of `after`, and nothing more', async () => {
    const { log, gates, held, agents, act } = workers()
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const names = (...list: string[]) => list.map((name) => plan.step(act, { name }))
        const slow = plan.step(act, { name: 'slow' })
        plan.sequence(() => {
          plan.concurrence(() => names('a1', 'a2'))
          plan.concurrence(() => {
            names('b1')
            plan.sequence(() => names('b2', 'b3'))
          })
          names('c')
        })
        plan.step(act, { name: 'late' }, { after: [slow] })
      },
    })
    for (const name of ['slow', 'a1', 'b2']) held.add(name)
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    const step = async (name: string) => {
      log.length = 0
      gates.get(name)?.()
      await s.settle()
      return [...log]
    }
    await s.settle()
    expect(log).toEqual(['slow', 'a1', 'a2'])
    expect(await step('a1')).toEqual(['b1', 'b2'])
    expect(await step('b2')).toEqual(['b3', 'c'])
    expect(await step('slow')).toEqual(['late'])
    expect(await task.result()).toBeNull()
  })

  it('is one record with its submission, can be seen before, and shows how far it is', async () => {
    const { gates, held, agents, act } = workers()
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const one = plan.step(act, { name: 'one' }, { weight: 3 })
        return plan.step(act, { name: 'two', of: one.output.name }, { name: 'second' }).output
      },
    })
    const seen = await preview(flow, null)
    expect(seen).toMatchObject({
      steps: [
        { id: 1, action: 'work.act', name: 'act', after: [], rescue: 'compensate', standing: 'ready' },
        { id: 2, name: 'second', after: [1], input: { name: 'two', of: { $ref: ['output', 1, 'name'] } } },
      ],
      output: { $ref: ['output', 2] },
    })
    held.add('two')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    const [first] = await task.history()
    expect(first?.events.slice(0, 2).map(({ type }) => type)).toEqual(['submitted', 'planned'])
    expect((await task.plan())?.steps.map(({ standing }) => standing)).toEqual(['done', 'open'])
    expect((await task.status()).progress).toBe(0.75)
    gates.get('two')?.()
    await task.result()
  })

  it('tries a step again, and takes up only what is not done when its node is lost', async () => {
    const { log, held, agents, act } = workers()
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const one = plan.step(act, { name: 'one' })
        const two = plan.step(act, { name: 'two', of: one.output.name })
        return plan.step(act, { name: 'three', of: two.output.of }).output.of
      },
    })
    held.add('two')
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    await first.submit(flow, null, { id: 't' })
    await first.settle()
    await first.kill()
    held.clear()
    // The code of the plan is not needed again: what is stored rules.
    const changed = workflow('flow', {
      plan(): never {
        throw new Error('planned twice')
      },
    })
    await using second = await stage({ workflows: [changed], agents, store: file.store, seed: 2 })
    const task = second.engine.tasks.get('t')
    await second.advance('1m')
    expect(await task.result()).toBe('one')
    expect(log).toEqual(['one', 'two', 'two', 'three'])
    expect((await eventsOf(task, 'attemptFailed')).map(({ error }) => error.code)).toEqual(['STEP_LOST'])
  })

  it('with nothing in it succeeds at once', async () => {
    const flow = workflow('empty', { plan: (input: number) => ({ twice: input * 2 }) })
    await using s = await stage({ workflows: [flow] })
    expect(await (await s.submit(flow, 4)).result()).toEqual({ twice: 8 })
  })

  it('that reached for a part that is not there fails that step, and takes an edited input', async () => {
    const { agents, act } = workers()
    const flow = workflow('flow', {
      rescue: 'pause',
      plan(_: null, plan) {
        const one = plan.step(act, { name: 'one' })
        const gone = (one.output as unknown as { gone: { deep: string } }).gone.deep
        return plan.step(act, { name: 'two', of: gone }).output.of
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { error: { code: 'REFERENCE_UNRESOLVED' } } })
    await task.retry({ step: 2, input: { name: 'two', of: 'mended' } })
    expect(await task.result()).toBe('mended')
  })
})

describe('planning', () => {
  it('that fails leaves nothing behind', async () => {
    const { agents } = workers()
    const flow = workflow('flow', {
      plan(_: null, plan) {
        plan.sequence(() => {
          throw new Error('no room')
        })
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const submission = s.submit(flow, null, { id: 't' })
    await expect(submission).rejects.toMatchObject({ code: 'PLAN_FAILED', cause: { message: 'no room' } })
    expect(await codeOf(s.engine.tasks.get('t').status())).toBe('UNKNOWN_TASK')
  })

  it('of a task that starts later happens when it is due', async () => {
    const { log, agents, act } = workers()
    let planned = 0
    const flow = workflow('flow', {
      async plan(input: { name: string }, plan) {
        planned++
        return plan.step(act, input).output.name
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, { name: 'later' }, { startAt: '1h' })
    await s.settle()
    expect([planned, (await task.status()).status]).toEqual([0, 'scheduled'])
    await s.advance('1h')
    expect(await task.result()).toBe('later')
    expect(log).toEqual(['later'])
    expect((await events(task)).map(({ type }) => type)).toEqual([
      'submitted',
      'planning',
      'planned',
      'started',
      'stepRequested',
      'stepCompleted',
      'returned',
      'stopped',
    ])
  })

  it('that fails when it is due ends the task in error, and a retry plans again', async () => {
    let broken = true
    const flow = workflow('flow', {
      plan(_: null) {
        if (broken) throw new Error('no room')
        return 'planned'
      },
    })
    await using s = await stage({ workflows: [flow] })
    const task = await s.submit(flow, null, { startAt: '1h' })
    await s.advance('1h')
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED', cause: { code: 'PLAN_FAILED' } })
    broken = false
    await task.retry()
    await s.settle()
    expect(await task.result()).toBe('planned')
  })

  it('is begun anew by the next owner when its node dies, and can be cancelled meanwhile', async () => {
    let plannings = 0
    const flow = workflow('flow', {
      async plan(_: null) {
        plannings++
        if (plannings === 1) await new Promise(() => undefined)
        return plannings
      },
    })
    using file = scratch()
    const first = await stage({ workflows: [flow], store: file.store })
    await first.submit(flow, null, { id: 't', startAt: '1h' })
    await first.advance('1h')
    expect((await first.engine.tasks.get('t').status()).status).toBe('planning')
    await first.kill()
    await using second = await stage({
      workflows: [flow],
      store: file.store,
      seed: 2,
      environment: first.engine.environment,
    })
    await second.advance('1m')
    expect(await second.engine.tasks.get('t').result()).toBe(2)
    plannings = 0
    const cancelled = await second.submit(flow, null, { startAt: '1h' })
    await second.advance('1h')
    await cancelled.cancel()
    expect(await codeOf(cancelled.result())).toBe('TASK_CANCELLED')
  })

  it('is bounded in steps and bytes, and checks what it is given', async () => {
    const { agents, act } = workers()
    const wide = workflow('wide', {
      plan(n: number, plan) {
        for (let i = 0; i < n; i++) plan.step(act, { name: 'x'.repeat(100) })
      },
    })
    const wrong = workflow('wrong', {
      plan(_: null, plan) {
        const step = plan.step(act, { name: 'a' })
        plan.step(act, { name: 'b', of: step })
      },
    })
    await using s = await stage({ workflows: [wide, wrong], agents, limits: { planSteps: 50, planBytes: 3_000 } })
    expect(await codeOf(s.submit(wide, 51))).toBe('PLAN_TOO_LARGE')
    expect(await codeOf(s.submit(wide, 40))).toBe('PLAN_TOO_LARGE')
    expect(await codeOf(s.submit(wrong, null))).toBe('PLAN_MISUSE')
    expect(await codeOf(preview(workflow('f', { run: () => 1 }), undefined))).toBe('INVALID_OPTION')
    await (await s.submit(wide, 20)).result()
  })
})
