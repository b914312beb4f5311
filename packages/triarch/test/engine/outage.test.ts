import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/error/catalogue.ts'
import { agent, TriarchError, workflow } from '../../src/index.ts'
import type { StateStore, Transition } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { eventsOf, never, seen, stage } from './harness.ts'

/** Each is refused as the store says by `refuse`, and counted. */
function outage() {
  let said: ((batch: readonly Transition[]) => ErrorCode | null) | null = null
  let done = false
  let refused = 0
  const store = seen(memory(), (own: StateStore) => {
    const refuse = (batch: readonly Transition[] = []) => {
      const code = said?.(batch) ?? null
      if (code !== null) refused++
      return code
    }
    return {
      commit: async (batch) => {
        const code = refuse(batch)
        if (code !== null && done) await own.commit(batch)
        if (code !== null) throw new TriarchError(code, 'injected')
        return own.commit(batch)
      },
      post: async (posts) => {
        const code = refuse()
        if (code !== null) throw new TriarchError(code, 'injected')
        return own.post(posts)
      },
    }
  })
  return {
    store,
    get refused() {
      return refused
    },
    /** From now on. `written`: though it says otherwise, a commit is done. */
    begin: (code: ErrorCode, options: { written?: boolean; only?: (batch: readonly Transition[]) => boolean } = {}) => {
      done = options.written === true
      said = (batch) => (options.only && !options.only(batch) ? null : code)
    },
    end: () => {
      said = null
    },
  }
}

/** A task of two steps: the first answers while the store takes nothing. */
function shop() {
  const ran: string[] = []
  const answer = Promise.withResolvers<string>()
  const own = agent('own')
  const once = own.action('once', {
    attemptWithin: '1d',
    semantics: 'at-most-once',
    run: async () => {
      ran.push('once')
      return answer.promise
    },
  })
  const often = own.action('often', {
    attemptWithin: '1d',
    run: async () => {
      ran.push('often')
      return answer.promise
    },
  })
  const next = own.action('next', { run: async () => void ran.push('next') })
  const flow = workflow('flow', {
    run: async (which: 'once' | 'often', task) => {
      const said = await task.run(which === 'once' ? once : often, undefined as never)
      await task.run(next, undefined as never)
      return said
    },
  })
  return { ran, answer: () => answer.resolve('done'), options: { workflows: [flow], agents: [own] }, flow }
}

/** Long advances cost what sweeps and polls cost. */
const PACE = { lease: '10m', sweep: '2m', poll: '1m' } as const

describe('while the store takes no write and the lease holds, a step that has answered', () => {
  const codes = ['STORE_BUSY', 'STORE_UNAVAILABLE', 'STORE_UNANSWERED', 'STORE_READ_ONLY', 'STORE_FULL'] as const
  const cases = codes.flatMap((code) => (['once', 'often'] as const).map((which) => [which, code] as const))
  it.each(cases)('is neither run again nor held, however long that takes (%s, %s)', async (which, code) => {
    const { ran, answer, options, flow } = shop()
    const down = outage()
    const s = await stage({ ...options, ...PACE, store: down.store })
    const task = await s.submit(flow, which)
    await s.settle()
    down.begin(code)
    answer()
    await s.advance('20m')
    expect(down.refused).toBeGreaterThan(10)
    expect((await task.status()).status).toBe('running')
    down.end()
    await s.advance('2m')
    expect(await task.result()).toBe('done')
    expect(ran).toEqual([which, 'next'])
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    expect(s.alerts).toEqual([])
    await s.kill()
  })

  it('counts as answered although the store had written its record and never said so', async () => {
    const { ran, answer, options, flow } = shop()
    const down = outage()
    const s = await stage({ ...options, ...PACE, store: down.store })
    const task = await s.submit(flow, 'once')
    await s.settle()
    down.begin('STORE_UNANSWERED', { written: true })
    answer()
    await s.advance('5m')
    down.end()
    await s.advance('2m')
    expect(await task.result()).toBe('done')
    expect(ran).toEqual(['once', 'next'])
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    await s.kill()
  })
})

describe('a node that must let a task go', () => {
  /** Two steps side by side: the record of the first answer is what the store does not take. */
  function pair() {
    const ran: string[] = []
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const own = agent('own')
    const act = own.action('act', {
      attemptWithin: '1d',
      semantics: 'at-most-once',
      run: async (n: number) => {
        ran.push(`act ${n}`)
        return (n === 1 ? first : second).promise
      },
    })
    const both = workflow('both', { run: async (_: null, task) => Promise.all([task.run(act, 1), task.run(act, 2)]) })
    return { ran, first, second, both, options: { workflows: [both], agents: [own] } }
  }

  it('waits for the attempts that it runs, and whoever has the task next knows their answers', async () => {
    const { ran, first, second, both, options } = pair()
    const down = outage()
    const s = await stage({ ...options, ...PACE, store: down.store })
    const task = await s.submit(both, null)
    await s.settle()
    down.begin('STORE_FAILED', { only: (batch) => batch.some(({ events }) => events?.includes('stepCompleted')) })
    first.resolve('one')
    await s.advance('5m')
    expect(await s.store.task(task.id)).toMatchObject({ quarantined: false, status: 'running' })
    second.resolve('two')
    await s.advance('5m')
    expect(s.alerts).toMatchObject([{ code: 'TASK_QUARANTINED' }])
    down.end()
    await task.resume()
    await s.advance('5m')
    expect(await task.result()).toEqual(['one', 'two'])
    expect(ran).toEqual(['act 1', 'act 2'])
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    await s.kill()
  })

  it('that was not created for certain, takes none of its steps for begun', async () => {
    const { ran, first, second, both, options } = pair()
    const down = outage()
    const s = await stage({ ...options, ...PACE, store: down.store })
    down.begin('STORE_UNANSWERED', { written: true })
    first.resolve('one')
    second.resolve('two')
    await expect(s.submit(both, null, { id: 'both' })).rejects.toMatchObject({ code: 'STORE_UNANSWERED' })
    down.end()
    await s.advance('5m')
    expect(await s.engine.tasks.get('both').result()).toEqual(['one', 'two'])
    expect(ran).toEqual(['act 1', 'act 2'])
    expect(await eventsOf(s.engine.tasks.get('both'), 'attemptFailed')).toEqual([])
    await s.kill()
  })
})

describe('what a step says of itself while the store takes no write', () => {
  it('is kept once, by the last of it', async () => {
    const own = agent('own')
    let beat: ((progress: number) => Promise<unknown>) | null = null
    const act = own.action('act', {
      attemptWithin: '1d',
      run: (_: null, step) => {
        beat = async (progress) => step.heartbeat({ progress })
        return never()
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    const down = outage()
    const s = await stage({ workflows: [flow], agents: [own], ...PACE, store: down.store })
    const task = await s.submit(flow, null)
    await s.settle()
    down.begin('STORE_BUSY')
    for (let n = 1; n <= 100; n++) {
      await (beat as ((progress: number) => Promise<unknown>) | null)?.(n)
      await s.advance('1s')
    }
    down.end()
    await s.advance('2m')
    expect((await eventsOf(task, 'heartbeat')).map(({ progress }) => progress)).toEqual([1, 100])
    await s.kill()
  })
})
