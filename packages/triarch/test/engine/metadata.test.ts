import { describe, expect, it } from 'vitest'
import {
  agent,
  middleware,
  PermanentError,
  type StepContext,
  type TaskChange,
  type TaskContext,
  workflow,
} from '../../src/index.ts'
import { codeOf, type Stage, stage } from './harness.ts'
import { scratch } from './scratch.ts'

type Seen = Record<string, Readonly<Record<string, string>>>

const desk = agent('desk')
/** What its steps see is its output, by their names. */
const seesAs = (name: string) =>
  workflow(name, { run: async (_: unknown, task) => ({ ...(await task.run('here', (step) => step.metadata)) }) })
const leaf = seesAs('leaf')
const read = desk.action('read', { run: async (_: unknown, step: StepContext) => step.metadata })
const branch = workflow('branch', {
  run: async (_: null, task) => ({
    own: task.metadata,
    child: await task.call(leaf, null, { metadata: { tenant: 'b', more: '3' } }),
  }),
})
const given = { traceparent: '00-4bf9-01', tenant: 'a' }

describe('metadata of a submission', () => {
  it('is seen by the code, by its steps wherever they run, by children, by theirs, and by those of a batch', async () => {
    const items: unknown[] = []
    const item = workflow('item', { run: async (n: number, task) => void items.push([n, task.metadata]) })
    const flow = workflow('flow', {
      run: async (_: null, task): Promise<Seen> => {
        const child = await task.call(branch, null, { metadata: { span: '2' } })
        await task.batch('each', { workflow: item, items: [1] })
        return {
          code: task.metadata,
          local: await task.run('here', (step) => step.metadata),
          action: await task.run(read, null),
          transaction: await task.transaction('mine', (_tx, step) => step.metadata),
          child: child.own,
          grandchild: child.child,
          plain: await task.call(leaf, null),
        }
      },
    })
    await using s = await stage({ workflows: [flow, branch, leaf, item], agents: [desk] })
    const task = await s.submit(flow, null, { metadata: given })
    await s.settle()
    expect(await task.result()).toEqual({
      ...{ code: given, local: given, action: given, transaction: given, plain: given },
      child: { ...given, span: '2' },
      grandchild: { ...given, span: '2', tenant: 'b', more: '3' },
    })
    expect(items).toEqual([[1, given]])
    expect((await task.status()).metadata).toEqual(given)
    expect((await s.engine.triarch.tasks.list({ workflow: 'branch' })).tasks[0]).not.toHaveProperty('metadata')
  })

  it('is nothing where none was given, and nobody can change it', async () => {
    const flow = workflow('flow', {
      run: async (_: null, task) => [task.metadata, await task.run('here', (step) => step.metadata)],
    })
    const meddles = workflow('meddles', {
      run: (_: null, task) =>
        task.run('here', (step) => Object.assign(step.metadata, { tenant: 'b' }), { retry: { attempts: 1 } }),
    })
    await using s = await stage({ workflows: [flow, meddles] })
    const task = await s.submit(flow, null)
    const bad = await s.submit(meddles, null, { metadata: given })
    await s.settle()
    expect(await task.result()).toEqual([{}, {}])
    expect((await task.status()).metadata).toEqual({})
    expect(await codeOf(bad.result())).toBe('TASK_FAILED')
  })

  it('goes through the work queue to other processes, and stays over a restart', async () => {
    using file = scratch()
    const flow = workflow('flow', {
      run: async (_: null, task) => {
        await task.waitForSignal('go')
        return task.run(read, null)
      },
    })
    const options = { workflows: [flow], agents: [desk], store: file.store }
    const before = await stage(options)
    await before.submit(flow, null, { id: 't', metadata: given })
    await before.leave()
    await using s = await stage({ ...options, roles: ['scheduler'] })
    await using other = await stage({ ...options, roles: ['agent'], environment: s.engine.environment })
    await s.engine.tasks.get('t').signal('go')
    await s.advance('2h')
    await other.settle()
    await s.advance('2h')
    expect(await s.engine.tasks.get('t').result()).toEqual(given)
  })

  it('stays when the task begins anew, and when it goes on after it failed', async () => {
    let broken = true
    const anew = workflow('anew', {
      run: async (n: number, task) => (n === 0 ? task.continueAsNew(1) : task.run('here', (step) => step.metadata)),
    })
    const fails = workflow('fails', {
      run: (_: null, task) =>
        task.run('here', (step) => {
          if (broken) throw new PermanentError('not yet')
          return step.metadata
        }),
    })
    await using s = await stage({ workflows: [anew, fails] })
    const one = await s.submit(anew, 0, { metadata: given })
    const two = await s.submit(fails, null, { metadata: given })
    await s.settle()
    expect(await one.result()).toEqual(given)
    expect(await codeOf(two.result())).toBe('TASK_FAILED')
    broken = false
    await two.retry()
    await s.settle()
    expect(await two.result()).toEqual(given)
  })

  it('reaches plans, hooks, and the tasks of schedules', async () => {
    const told = workflow('told', { run: (_: TaskChange, task) => task.run('here', (step) => step.metadata) })
    const plan = workflow('plan', {
      plan: (_: unknown, it) => it.step(read, null).output,
      hooks: [{ on: 'success', workflow: told }],
    })
    await using s = await stage({ workflows: [plan, leaf, told], agents: [desk] })
    const task = await s.submit(plan, null, { metadata: given })
    await s.engine.triarch.schedules.get('daily').register({
      workflow: leaf,
      input: null,
      every: '1d',
      metadata: { from: 'schedule' },
    })
    await s.settle()
    expect(await task.result()).toEqual(given)
    const [hook] = (await task.children()).tasks
    expect(await s.engine.tasks.get(hook?.id as string).result()).toEqual(given)
    await s.advance('25h')
    const daily = (await s.engine.triarch.tasks.list({ tags: { schedule: 'daily' } })).tasks
    expect(daily.map(({ output }) => output)).toContainEqual({ from: 'schedule' })
  })

  it('does not tell two submissions apart', async () => {
    await using s = await stage({ workflows: [leaf] })
    await s.submit(leaf, null, { id: 't', metadata: given })
    const again = await s.submit(leaf, null, { id: 't', metadata: { traceparent: 'another' } })
    await s.settle()
    expect(await again.result()).toEqual(given)
  })

  it('can be added to by a middleware', async () => {
    const trace = middleware('trace', {
      submit: ({ metadata }, next) => {
        metadata.span ??= 'made here'
        return next()
      },
    })
    await using s = await stage({ workflows: [leaf], middleware: [trace] })
    const tasks = [await s.submit(leaf, null), await s.submit(leaf, null, { metadata: { span: 'given' } })]
    await s.settle()
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([{ span: 'made here' }, { span: 'given' }])
    expect(await codeOf(s.submit(leaf, null, { metadata: 'text' as never }))).toBe('INVALID_OPTION')
  })
})

describe('metadata that is too much, or none', () => {
  const bad: [unknown, string][] = [
    [null, 'INVALID_OPTION'],
    ['text', 'INVALID_OPTION'],
    [['a'], 'INVALID_OPTION'],
    [{ n: 1 }, 'INVALID_OPTION'],
    [{ '': 'a' }, 'INVALID_OPTION'],
    [{ ['n'.repeat(201)]: 'a' }, 'INVALID_OPTION'],
    [{ nul: '\0' }, 'INVALID_OPTION'],
    [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`n${n}`, ''])), 'INVALID_OPTION'],
    [{ long: 'ä'.repeat(8_191) }, 'PAYLOAD_TOO_LARGE'],
  ]
  const asked = async (s: Stage, task: Pick<TaskContext, 'call'> | null, metadata: unknown) =>
    task
      ? task.call(leaf, null, { metadata: metadata as never })
      : s.submit(leaf, null, { metadata: metadata as never })

  it.each(bad)('is refused where it is given: %j', async (metadata, code) => {
    let found = ''
    const flow = workflow('flow', {
      run: async (_: null, task) => {
        found = await codeOf(asked(s, task, metadata))
      },
    })
    await using s = await stage({ workflows: [flow, leaf] })
    expect(await codeOf(asked(s, null, metadata))).toBe(code)
    const options = { workflow: leaf, input: null, every: '1d', metadata: metadata as never } as const
    expect(await codeOf(s.engine.triarch.schedules.get('daily').register(options))).toBe(code)
    await s.submit(flow, null)
    await s.settle()
    expect(found).toBe(code)
  })

  it('is refused to a child that would have too much with its parent’s; what just fits is taken', async () => {
    const flow = workflow('flow', {
      run: (_: null, task) => codeOf(task.call(leaf, null, { metadata: { more: 'm' } })),
    })
    await using s = await stage({ workflows: [flow, leaf] })
    const task = await s.submit(flow, null, { metadata: { long: 'x'.repeat(16_380) } })
    await s.settle()
    expect(await task.result()).toBe('PAYLOAD_TOO_LARGE')
  })
})
