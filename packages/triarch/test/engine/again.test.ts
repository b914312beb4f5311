import { describe, expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from './harness.ts'

/** An agent whose work fails while its name is in `broken`; `log`: what it did and took back. */
function workers() {
  const log: string[] = []
  const broken = new Set<string>()
  const own = agent('own')
  const work = own.action('work', {
    run(name: string, step) {
      log.push(`${name} ${step.idempotencyKey}`)
      if (broken.has(name)) throw new PermanentError(`${name} is broken`)
      return name
    },
    undo: ({ output }) => void log.push(`-${output}`),
  })
  const child = workflow('child', { rescue: 'fail', run: (name: string, task) => task.run(work, name) })
  return { log, broken, agents: [own], work, child, names: () => log.map((line) => line.split(' ')[0]) }
}

describe('a child with an id of its own', () => {
  it('begins anew when its parent starts over after it was undone, under other keys', async () => {
    const { log, broken, agents, work, child, names } = workers()
    const flow = workflow('flow', {
      async run(_: null, task) {
        await task.call(child, 'a', { id: 'kid' })
        await task.run(work, 'b')
      },
    })
    broken.add('b')
    await using s = await stage({ workflows: [flow, child], agents })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    broken.clear()
    await task.retry()
    await s.settle()
    expect((await task.status()).outcome).toBe('success')
    expect(names()).toEqual(['a', 'b', '-a', 'a', 'b'])
    expect(new Set(log).size).toBe(5)
    await task.compensate()
    await s.settle()
    expect(names().slice(5)).toEqual(['-b', '-a'])
  })

  it('begins anew in each run of its parent, and is undone once for all of them', async () => {
    const { agents, work, broken, child, names } = workers()
    broken.add('end')
    const flow = workflow('flow', {
      async run(n: number, task) {
        expect(await task.call(child, `a${n}`, { id: 'kid' })).toBe(`a${n}`)
        if (n < 3) return task.continueAsNew(n + 1)
        return task.run(work, 'end')
      },
    })
    await using s = await stage({ workflows: [flow, child], agents })
    const task = await s.submit(flow, 1)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(names()).toEqual(['a1', 'a2', 'a3', 'end', '-a3', '-a2', '-a1'])
  })

  it('is made when it is not there any more', async () => {
    const { agents, child, names } = workers()
    const brief = workflow('brief', { retention: '1h', run: (name: string, task) => task.call(child, name) })
    const flow = workflow('flow', {
      async run(n: number, task) {
        await task.call(brief, `a${n}`, { id: 'kid' })
        if (n === 3) return n
        await task.sleep('3h')
        return task.continueAsNew(n + 1)
      },
    })
    await using s = await stage({ workflows: [flow, brief, child], agents })
    const task = await s.submit(flow, 1)
    await s.advance('12h')
    expect(await task.result()).toBe(3)
    expect(names()).toEqual(['a1', 'a2', 'a3'])
  })

  it('is taken as it is, or is in the way, if its parent says so', async () => {
    const { agents, child, names } = workers()
    const flow = workflow('flow', {
      async run(_: null, task) {
        const said: unknown[] = [await task.call(child, 'a', { id: 'kid' })]
        said.push(await task.call(child, 'a', { id: 'kid', ifExists: 'match' }))
        said.push(await task.call(child, 'b', { id: 'kid', ifExists: 'return' }))
        said.push(await codeOfChild(task.call(child, 'b', { id: 'kid', ifExists: 'match' })))
        said.push(await codeOfChild(task.call(child, 'a', { id: 'kid', ifExists: 'reject' })))
        return said
      },
    })
    await using s = await stage({ workflows: [flow, child], agents })
    const task = await s.submit(flow, null)
    expect(await task.result()).toEqual(['a', 'a', 'a', 'TASK_EXISTS', 'TASK_EXISTS'])
    expect(names()).toEqual(['a'])
  })

  it('called twice in one run begins anew when its first end is known, and is undone once', async () => {
    const { log, broken, agents, work, child, names } = workers()
    broken.add('end')
    const flow = workflow('flow', {
      async run(_: null, task) {
        expect(await task.call(child, 'a', { id: 'kid' })).toBe('a')
        expect(await task.call(child, 'b', { id: 'kid' })).toBe('b')
        await task.run(work, 'end')
      },
    })
    await using s = await stage({ workflows: [flow, child], agents })
    const task = await s.submit(flow, null)
    expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    expect(names()).toEqual(['a', 'b', 'end', '-b', '-a'])
    expect(new Set(log).size).toBe(5)
  })

  it.each(['renew', 'match', 'return', 'reject'] as const)(
    'called again while the first call still waits for it is in the way, whatever ifExists says: %s',
    async (ifExists) => {
      const { agents, child, names } = workers()
      const flow = workflow('flow', {
        async run(_: null, task) {
          const first = task.call(child, 'a', { id: 'kid' })
          return [await codeOfChild(task.call(child, 'a', { id: 'kid', ifExists })), await first]
        },
      })
      await using s = await stage({ workflows: [flow, child], agents })
      const task = await s.submit(flow, null)
      expect(await task.result()).toEqual(['TASK_EXISTS', 'a'])
      expect(names()).toEqual(['a'])
    },
  )

  it.each(['renew', 'match', 'return', 'reject'] as const)(
    'that was only started and runs is called as ifExists says: %s',
    async (ifExists) => {
      const waits = workflow('waits', { run: (_: string, task) => task.waitForSignal('go') })
      const flow = workflow('flow', {
        async run(_: null, task): Promise<unknown[]> {
          await task.start(waits, 'a', { id: 'kid' })
          const answer = async (input: string) => {
            try {
              return await task.call(waits, input, { id: 'kid', ifExists })
            } catch (error) {
              return ((error as Error).cause as { code?: string }).code
            }
          }
          return [await answer('b'), await answer('a')]
        },
      })
      await using s = await stage({ workflows: [flow, waits] })
      const task = await s.submit(flow, null)
      await s.settle()
      await s.engine.tasks.get('kid').signal('go', 7)
      const answers = { renew: ['TASK_EXISTS', 7], match: ['TASK_EXISTS', 7], return: [7, 7] }
      expect(await task.result()).toEqual({ ...answers, reject: ['TASK_EXISTS', 'TASK_EXISTS'] }[ifExists])
    },
  )

  it('that runs since an earlier run is awaited by the next', async () => {
    const child = workflow('child', { run: (_: null, task) => task.waitForSignal('go') })
    const flow = workflow('flow', {
      async run(isLast: boolean, task) {
        if (isLast) return task.call(child, null, { id: 'kid' })
        await task.start(child, null, { id: 'kid' })
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [flow, child] })
    const task = await s.submit(flow, false)
    await s.settle()
    await s.engine.tasks.get('kid').signal('go', 7)
    expect(await task.result()).toBe(7)
  })

  it('answers the step that took it last, also when it continues as another run itself', async () => {
    const child = workflow('child', {
      async run(n: number, task): Promise<unknown> {
        await task.waitForSignal('go')
        return n < 3 ? task.continueAsNew(n + 1) : n
      },
    })
    const flow = workflow('flow', {
      async run(isLast: boolean, task) {
        if (isLast) return task.call(child, 1, { id: 'kid' })
        await task.start(child, 1, { id: 'kid' })
        return task.continueAsNew(true)
      },
    })
    await using s = await stage({ workflows: [flow, child] })
    const task = await s.submit(flow, false)
    for (let n = 0; n < 3; n++) {
      await s.settle()
      await s.engine.tasks.get('kid').signal('go')
    }
    expect(await task.result()).toBe(3)
  })

  it('of somebody else is in the way', async () => {
    const { agents, child } = workers()
    const flow = workflow('flow', {
      async run(n: number, task): Promise<unknown> {
        if (n === 1) return task.continueAsNew(2)
        return codeOfChild(task.call(child, 'a', { id: 'kid' }))
      },
    })
    await using s = await stage({ workflows: [flow, child], agents })
    await (await s.submit(child, 'a', { id: 'kid' })).result()
    expect(await (await s.submit(flow, 1)).result()).toBe('TASK_EXISTS')
  })
})

async function codeOfChild(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'none'
  } catch (error) {
    return ((error as Error).cause as { code?: string } | undefined)?.code ?? String(error)
  }
}

describe('one retry of a parent', () => {
  it('brings back all its children that failed or were cancelled side by side', async () => {
    const { broken, agents, child, names } = workers()
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    const flow = workflow('flow', {
      rescue: 'fail',
      run: (_: null, task) =>
        Promise.all([task.call(child, 'a'), task.call(child, 'b'), task.call(child, 'c'), task.call(waits, null)]),
    })
    broken.add('a').add('b')
    await using s = await stage({ workflows: [flow, child, waits], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    expect((await task.status()).outcome).toBe('error')
    broken.clear()
    await task.retry()
    await s.settle()
    const { tasks } = await task.children({ workflow: 'waits' })
    await s.engine.tasks.get(tasks[0]?.id as string).signal('go', 'd')
    expect(await task.result()).toEqual(['a', 'b', 'c', 'd'])
    expect(names().sort()).toEqual(['a', 'a', 'b', 'b', 'c'])
    expect(await eventsOf(task, 'reset')).toHaveLength(1)
  })

  it('leaves a child alone whose failure the code had dealt with', async () => {
    const { broken, agents, work, child, names } = workers()
    const flow = workflow('flow', {
      rescue: 'fail',
      async run(_: null, task) {
        await task.call(child, 'a').catch(() => task.run(work, 'instead'))
        return task.call(child, 'b')
      },
    })
    broken.add('a').add('b')
    await using s = await stage({ workflows: [flow, child], agents })
    const task = await s.submit(flow, null)
    await s.settle()
    broken.clear()
    await task.retry()
    expect(await task.result()).toBe('b')
    expect(names()).toEqual(['a', 'instead', 'b', 'b'])
  })
})
