import { describe, expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { childOf, codeOf, eventsOf, never, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** An agent that writes down what it does and undoes; `undo` of the names in `stuck` waits to be let go. */
function builders() {
  const log: string[] = []
  const gates = new Map<string, () => void>()
  const stuck = new Set<string>()
  const own = agent('build')
  const make = own.action('make', {
    run(name: string) {
      log.push(name)
      return { made: name }
    },
    async undo({ input, output }, step) {
      if (stuck.has(input)) await new Promise<void>((resolve) => gates.set(input, resolve))
      log.push(`-${output.made} ${step.idempotencyKey}`.replace(/ .*?:/, ' :'))
    },
  })
  const fail = own.action('fail', {
    run(): never {
      throw new PermanentError('cannot')
    },
    undo: () => void log.push('undo of what failed'),
  })
  return { log, gates, stuck, agents: [own], make, fail }
}

const steady = { jitter: false, initial: '1s', factor: 1, max: '1s' } as const

describe('compensation', () => {
  it('undoes what was done one after the other in reverse order, under keys of its own, and nothing else', async () => {
    const { log, agents, make, fail } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        for (const name of ['a', 'b', 'c']) await task.run(make, name)
        await task.run(fail, undefined as never)
        await task.run(make, 'never')
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['a', 'b', 'c', '-c :3:undo', '-b :2:undo', '-a :1:undo'])
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'compensated' })
  })

  it('undoes side by side what was done side by side, and only then what came before', async () => {
    const { log, gates, stuck, agents, make, fail } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(make, 'base')
        await Promise.all([task.run(make, 'left'), task.run(make, 'right')])
        await task.run(fail, undefined as never)
      },
    })
    stuck.add('left').add('right')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect([...gates.keys()].sort()).toEqual(['left', 'right'])
    expect((await task.status()).status).toBe('compensating')
    gates.get('right')?.()
    await s.settle()
    expect(log).not.toContain('-base :1:undo')
    gates.get('left')?.()
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log.slice(3)).toEqual(['-right :3:undo', '-left :2:undo', '-base :1:undo'])
  })

  it('keeps independent chains independent: one that is slow holds up only what it depends on', async () => {
    const { log, gates, stuck, agents, make, fail } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        const chain = async (name: string) => {
          await task.run(make, `${name}1`)
          await task.run(make, `${name}2`)
        }
        await Promise.all([chain('x'), chain('y')])
        await task.run(fail, undefined as never)
      },
    })
    stuck.add('x2')
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect(log.some((line) => line.startsWith('-y2'))).toBe(true)
    expect(log.some((line) => line.startsWith('-x1'))).toBe(false)
    gates.get('x2')?.()
    await codeOf(task.result())
    const at = (name: string) => log.findIndex((line) => line.startsWith(`-${name}`))
    expect(at('x2')).toBeLessThan(at('x1'))
    expect(at('y2')).toBeLessThan(at('y1'))
  })

  it('includes what the workflow registered with task.undo, and local steps with an undo', async () => {
    const { log, agents, make, fail } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(make, 'a')
        task.undo((step) => void log.push(`-registered ${step.attempt}`), { name: 'put back' })
        const out = await task.run('local', () => ({ n: 7 }), {
          undo: ({ output }) => void log.push(`-local ${output.n}`),
        })
        await task.run('plain', () => log.push(`plain ${out.n}`))
        await task.run(fail, undefined as never)
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['a', 'plain 7', '-local 7', '-registered 1', '-a :1:undo'])
    expect((await eventsOf(task, 'undoRegistered'))[0]?.name).toBe('put back')
  })

  it('goes on after its node was lost in the middle of it', async () => {
    const { log, gates, stuck, agents, make, fail } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        task.undo(() => void log.push('-registered'))
        await task.run(make, 'a')
        await task.run(make, 'b')
        await task.run(fail, undefined as never)
      },
    })
    stuck.add('b')
    using file = scratch()
    const first = await stage({ workflows: [flow], agents, store: file.store })
    await first.submit(flow, null, { id: 't' })
    await first.settle()
    expect([...gates.keys()]).toEqual(['b'])
    await first.kill()
    stuck.clear()
    await using second = await stage({ workflows: [flow], agents, store: file.store, seed: 2 })
    const task = second.engine.tasks.get('t')
    await second.advance('1m')
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['a', 'b', '-b :3:undo', '-a :2:undo', '-registered'])
  })
})

describe('an undo', () => {
  function brittle(attempts: number) {
    const log: string[] = []
    const state = { broken: true }
    const own = agent('brittle')
    const make = own.action('make', {
      undoRetry: { attempts, backoff: steady },
      run: (name: string) => name,
      undo({ input }) {
        log.push(`try ${input}`)
        if (input === 'b' && state.broken) throw new Error('locked')
      },
    })
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(make, 'a')
        await task.run(make, 'b')
        throw new Error('no use')
      },
    })
    return { log, state, flow, parts: { workflows: [flow], agents: [own] } }
  }

  it('that fails is tried again by its own policy', async () => {
    const { log, state, flow, parts } = brittle(5)
    await using s = await stage(parts)
    const task = await s.submit(flow, null)
    await s.advance('2s')
    state.broken = false
    await s.advance('1s')
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['try b', 'try b', 'try b', 'try b', 'try a'])
  })

  it('that uses up its attempts pauses the task with an alert, until an operator retries it', async () => {
    const { log, state, flow, parts } = brittle(2)
    await using s = await stage(parts)
    const task = await s.submit(flow, null)
    await s.advance('1h')
    expect(log).toEqual(['try b', 'try b'])
    expect(await task.status()).toMatchObject({ status: 'paused', pause: { cause: 'undo' } })
    expect(s.alerts).toMatchObject([{ task: task.id, cause: 'undo', step: 2 }])
    state.broken = false
    await task.retry()
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['try b', 'try b', 'try b', 'try a'])
  })

  it('that uses up its attempts again pauses again; an operator may skip it, and the rest is undone', async () => {
    const { log, flow, parts } = brittle(1)
    await using s = await stage(parts)
    const task = await s.submit(flow, null)
    await s.settle()
    await task.resume()
    await s.settle()
    expect((await task.status()).status).toBe('paused')
    expect(s.alerts).toHaveLength(2)
    await task.skip({ step: 2 })
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log).toEqual(['try b', 'try b', 'try a'])
    expect((await eventsOf(task, 'undone'))[0]).toMatchObject({ id: 2, by: 'operator' })
  })
})

describe('children and compensation', () => {
  it('undoes a child that succeeded before, with everything it did', async () => {
    const { log, agents, make, fail } = builders()
    const child = workflow('child', {
      async run(name: string, task) {
        await task.run(make, `${name}1`)
        await task.run(make, `${name}2`)
      },
    })
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.run(make, 'own')
        await task.call(child, 'c')
        await task.call(child, 'kept', { undo: false })
        await task.run(fail, undefined as never)
      },
    })
    await using s = await stage({ workflows: [parent, child], agents })
    const task = await s.submit(parent, null, { id: 'p' })
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(log.filter((line) => line.startsWith('-'))).toEqual(['-c2 :2:undo', '-c1 :1:undo', '-own :1:undo'])
    expect((await s.engine.tasks.get(await childOf(s, 'p', 2)).status()).outcome).toBe('compensated')
    expect((await s.engine.tasks.get(await childOf(s, 'p', 3)).status()).outcome).toBe('success')
  })

  it('stops a child that runs, and it undoes what it did', async () => {
    const { log, agents, make } = builders()
    const child = workflow('child', {
      async run(_: null, task) {
        await task.run(make, 'c')
        await task.sleep('1d')
      },
    })
    const parent = workflow('parent', {
      async run(_: null, task) {
        await task.run(make, 'p')
        await task.call(child, null)
      },
    })
    await using s = await stage({ workflows: [parent, child], agents })
    const task = await s.submit(parent, null, { id: 'p' })
    await s.settle()
    await task.cancel({ reason: 'changed my mind' })
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(log.map((line) => line.split(' ')[0])).toEqual(['p', 'c', '-c', '-p'])
    expect((await s.engine.tasks.get(await childOf(s, 'p', 2)).status()).outcome).toBe('cancelled')
    expect((await task.status()).error?.message).toBe('changed my mind')
  })
})

describe('cancel', () => {
  const scene = () => {
    const given = builders()
    const aborted: string[] = []
    const slow = agent('slow')
    const wait = slow.action('wait', {
      attemptWithin: '1h',
      run: (obey: boolean, step) =>
        new Promise<void>((_, reject) => {
          step.signal.addEventListener('abort', () => {
            aborted.push('signal')
            if (obey) reject(new Error('stopped early'))
          })
        }),
    })
    const flow = workflow('flow', {
      async run(obey: boolean, task) {
        await task.run(given.make, 'a')
        await task.run(wait, obey)
        await task.run(given.make, 'never')
      },
    })
    return { ...given, aborted, flow, parts: { workflows: [flow], agents: [...given.agents, slow] } }
  }

  it('signals what runs, waits for its end, then undoes what was done', async () => {
    const { log, aborted, flow, parts } = scene()
    await using s = await stage(parts)
    const task = await s.submit(flow, true)
    await s.settle()
    await task.cancel()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(aborted).toEqual(['signal'])
    expect(log).toEqual(['a', '-a :1:undo'])
  })

  it('waits for a step that does not listen until its complete-by', async () => {
    const { log, flow, parts } = scene()
    await using s = await stage(parts)
    const task = await s.submit(flow, false)
    await s.settle()
    await task.cancel()
    await s.advance('59m')
    expect((await task.status()).status).toBe('running')
    expect(log).toEqual(['a'])
    await s.advance('1m')
    expect((await task.status()).outcome).toBe('cancelled')
    expect(log).toEqual(['a', '-a :1:undo'])
  })

  it('undoes nothing when asked not to', async () => {
    const { log, flow, parts } = scene()
    await using s = await stage(parts)
    const task = await s.submit(flow, true)
    await s.settle()
    await task.cancel({ compensate: false })
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(log).toEqual(['a'])
  })

  it('by force waits for nothing and undoes nothing', async () => {
    const { log, aborted, flow, parts } = scene()
    await using s = await stage(parts)
    const task = await s.submit(flow, false)
    await s.settle()
    await task.cancel({ force: true })
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    expect(aborted).toEqual(['signal'])
    expect(log).toEqual(['a'])
  })

  it('by force also ends a compensation that is stuck', async () => {
    const own = agent('own')
    const make = own.action('make', { run: () => 1, undo: () => never() })
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(make, undefined as never)
        throw new Error('no use')
      },
    })
    await using s = await stage({ workflows: [flow], agents: [own] })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).status).toBe('compensating')
    await task.cancel({ force: true })
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
  })

  it('of a task that did not start ends it before any of its code runs', async () => {
    const { log, flow, parts } = scene()
    await using s = await stage(parts)
    const task = await s.submit(flow, true, { startAt: '1d' })
    await task.cancel()
    expect(await codeOf(task.result())).toBe('TASK_CANCELLED')
    await s.advance('2d')
    expect(log).toEqual([])
  })
})

describe('compensate', () => {
  it('undoes a task that succeeded, even after it left memory', async () => {
    const { log, agents, make } = builders()
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.run(make, 'a')
        task.undo(() => void log.push('-registered'))
        await task.run(make, 'b')
      },
    })
    await using s = await stage({ workflows: [flow], agents })
    const task = await s.submit(flow, null)
    await task.result()
    await task.compensate()
    await s.settle()
    expect((await task.status()).outcome).toBe('compensated')
    expect(log).toEqual(['a', 'b', '-b :3:undo', '-registered', '-a :1:undo'])
  })
})
