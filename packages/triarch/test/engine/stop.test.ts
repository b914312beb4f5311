import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { memory, TestEngine, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, never, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const fine = workflow('fine', { run: async () => null })

describe('stop', () => {
  it.each([['inline'], ['worker']] as const)(
    'twice at once without grace, while a step runs, ends both (%s)',
    async (writer) => {
      using file = scratch()
      const own = agent('own')
      const running = Promise.withResolvers<void>()
      const hang = own.action('hang', {
        run: () => {
          running.resolve()
          return never()
        },
      })
      const flow = workflow('flow', { run: (_: null, task) => task.run(hang, null) })
      const errors: unknown[] = []
      const onError = (error: unknown) => errors.push(error)
      const triarch = new Triarch({ store: sqlite(file.path, { writer }), workflows: [flow], agents: [own], onError })
      await triarch.start()
      await triarch.submit(flow, null)
      await running.promise
      await Promise.all([triarch.stop({ grace: 0 }), triarch.stop({ grace: 0 })])
      expect(errors).toEqual([])
      expect(await codeOf(triarch.submit(flow, null))).toBe('NODE_STOPPED')
    },
  )

  it('a second one without grace ends the patience of the first', async () => {
    using file = scratch()
    const own = agent('own')
    const running = Promise.withResolvers<void>()
    const hang = own.action('hang', {
      attemptWithin: '1h',
      run: () => {
        running.resolve()
        return never()
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(hang, null) })
    const triarch = new Triarch({ store: file.store, workflows: [flow], agents: [own] })
    await triarch.start()
    await triarch.submit(flow, null)
    await running.promise
    const first = triarch.stop({ grace: '1h' })
    await triarch.stop({ grace: 0 })
    await first
  })

  it('resolves though the store answers nothing any more, and the process ends', async () => {
    const silent = { store: false }
    const engine = await testEngine({
      workflows: [fine],
      onError: () => undefined,
      store: (environment) =>
        new Proxy(memory()(environment), {
          get(target, key) {
            const own = Reflect.get(target, key, target) as unknown
            if (typeof own !== 'function') return own
            return (...of: unknown[]) =>
              silent.store && key !== 'close' ? never() : (own as (...of: unknown[]) => unknown).apply(target, of)
          },
        }),
    })
    void engine.submit(fine, null)
    silent.store = true
    await engine.stop({ grace: '1s' })
  })

  it.each(['open', 'poll', 'close'] as const)('resolves though the store never answers to %s', async (call) => {
    const environment = new VirtualEnvironment()
    const triarch = new Triarch({
      environment,
      workflows: [fine],
      onError: () => undefined,
      store: seen(memory(), () => ({ [call]: () => never() })),
    })
    const engine = new TestEngine(triarch, environment)
    const starting = codeOf(triarch.start())
    await engine.settle()
    const from = environment.now()
    await engine.stop({ grace: '1s' })
    expect(environment.now() - from).toBeLessThanOrEqual(12_000)
    await engine.advance('2m')
    if (call === 'poll') expect(await starting).toBe('STORE_UNANSWERED')
  })

  it('closes a store that opens only afterwards', async () => {
    const environment = new VirtualEnvironment()
    const calls: string[] = []
    const opening = Promise.withResolvers<void>()
    const store = seen(memory(), (own) => ({
      open: async () => {
        await opening.promise
        await own.open()
        calls.push('open')
      },
      close: async () => {
        await own.close()
        calls.push('close')
      },
    }))
    const triarch = new Triarch({ environment, store, workflows: [fine] })
    const starting = codeOf(triarch.start())
    await new TestEngine(triarch, environment).stop()
    opening.resolve()
    expect(await starting).toBe('NODE_STOPPED')
    await environment.settle()
    expect(calls).toEqual(['open', 'close'])
  })

  it('resolves though the store refuses to close', async () => {
    const errors: unknown[] = []
    const refuses = seen(memory(), () => ({ close: () => Promise.reject(new Error('no')) }))
    const engine = await testEngine({ workflows: [fine], store: refuses, onError: (error) => errors.push(error) })
    await engine.stop()
    expect(errors).toMatchObject([{ message: 'no' }])
  })

  it('gives steps that never end their grace once, whoever asked for them', async () => {
    using file = scratch()
    const own = agent('own')
    const hang = own.action('hang', { attemptWithin: '1d', run: () => never() })
    const flow = workflow('flow', { run: (_: null, task) => task.run(hang, null) })
    await using far = await stage({
      workflows: [flow],
      store: file.store,
      roles: ['scheduler', 'supervisor'],
      poll: '1s',
    })
    const { environment } = far.engine
    const near = await stage({ workflows: [flow], agents: [own], store: file.store, environment, poll: '1s' })
    await far.submit(flow, null)
    await near.submit(flow, null)
    await far.advance('10s')
    const from = environment.now()
    await near.engine.stop({ grace: '1m' })
    expect(environment.now() - from).toBeLessThan(70_000)
    await far.kill()
  })

  it('lets the process end at once, with its thread and a step that never does', async () => {
    using file = scratch()
    const home = new URL('../../src/index.ts', import.meta.url)
    const script = `
      const { agent, Triarch, workflow } = await import(${JSON.stringify(home.href)})
      const own = agent('own')
      const running = Promise.withResolvers()
      const hang = own.action('hang', { attemptWithin: '1h', run: () => { running.resolve(); return new Promise(() => {}) } })
      const flow = workflow('flow', { run: (_, task) => task.run(hang, null) })
      const { sqlite: store } = await import(${JSON.stringify(new URL('../../src/store/sqlite/index.ts', import.meta.url).href)})
      const triarch = new Triarch({ store: store(${JSON.stringify(file.path)}, { writer: 'worker' }), workflows: [flow], agents: [own] })
      await triarch.start()
      await triarch.submit(flow, null)
      await running.promise
      await Promise.all([triarch.stop({ grace: 0 }), triarch.stop({ grace: 0 })])
      console.log('stopped')`
    const path = `${file.path}.mjs`
    writeFileSync(path, script)
    const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'pipe'] })
    const said: string[] = []
    child.stdout.on('data', (text) => said.push(String(text)))
    child.stderr.on('data', (text) => said.push(String(text)))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, said.join('')]).toEqual([0, 'stopped\n'])
  })
})

describe('start', () => {
  it('twice is one start, and after a stop a typed error', async () => {
    const triarch = new Triarch({ store: memory(), workflows: [fine] })
    await Promise.all([triarch.start(), triarch.start()])
    await triarch.start()
    expect(await triarch.nodes.list()).toHaveLength(1)
    await triarch.stop()
    expect(await codeOf(triarch.start())).toBe('NODE_STOPPED')
  })

  it('that a stop overtakes is refused, and leaves nothing running', async () => {
    const triarch = new Triarch({ store: memory(), workflows: [fine] })
    const starting = codeOf(triarch.start())
    await triarch.stop()
    expect(await starting).toBe('NODE_STOPPED')
  })

  it.each([
    ['nothing', undefined],
    ['no store', {}],
    ['workflows that are no list', { store: memory(), workflows: {} }],
    ['a listener of errors that is none', { store: memory(), onError: 1 }],
  ])('with %s is refused by code', async (_, options) => {
    expect(await codeOf((async () => new Triarch(options as never))())).toBe('INVALID_OPTION')
  })

  it('tells of no event that there is not', async () => {
    const triarch = new Triarch({ store: memory() })
    expect(() => triarch.on('alertt' as 'alert', () => undefined)).toThrow('did you mean "alert"?')
    expect(() => triarch.on('alert', null as never)).toThrow('must be a function')
  })
})
