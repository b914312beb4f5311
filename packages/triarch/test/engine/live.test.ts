import { describe, expect, it } from 'vitest'
import { agent, type ListChange, TriarchError, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { type Stage, seen, stage } from './harness.ts'

const bank = agent('bank')
const charge = bank.action('charge', {
  run: async (amount: number) => {
    if (amount > 9) throw new Error('card declined')
    return amount
  },
  retry: { attempts: 1 },
  rescue: 'pause',
})
const order = workflow('order', { run: async (amount: number, task) => task.run(charge, amount) })
const decision = workflow('decision', { run: async (_: null, task) => task.waitForSignal('decided') })
const setup = { workflows: [order, decision], agents: [bank] }

/** Takes what is told until nothing more is, in virtual time. */
class Eye {
  readonly told: ListChange[] = []
  failure: unknown
  readonly #end = new AbortController()

  constructor(s: Stage, options: { filter?: string; limit?: number; quiet?: '1m' } = {}) {
    void this.#look(s.engine.triarch.tasks.watch({ ...options, signal: this.#end.signal })).catch((error) => {
      this.failure = error
    })
  }

  async #look(changes: AsyncIterable<ListChange>): Promise<void> {
    for await (const change of changes) this.told.push(change)
  }

  /** What was told since it was asked last, in short. */
  news(): string[] {
    return this.told.splice(0).map((change) => {
      if (change.type === 'page') return `page ${change.tasks.map(({ id }) => id).join()}`
      if (change.type === 'task') return `${change.task.id} ${change.task.status}`
      return change.type === 'gone' ? `${change.id} gone` : change.type
    })
  }

  close(): void {
    this.#end.abort()
  }
}

describe('a list that is watched', () => {
  it('is told as it is, then what comes into it, changes in it, and leaves it', async () => {
    await using s = await stage(setup)
    await s.submit(order, 10, { id: 'a' })
    await s.settle()
    const eye = new Eye(s, { filter: 'status:paused,running' })
    await s.advance('1s')
    expect(eye.news()).toEqual(['page a'])
    await s.submit(order, 11, { id: 'b' })
    await s.submit(order, 1, { id: 'c' })
    await s.advance('5s')
    expect(eye.news().at(-1)).toBe('b paused')
    await s.engine.triarch.tasks.get('a').cancel()
    await s.advance('5s')
    expect(eye.news().at(-1)).toBe('a gone')
    eye.close()
  })

  it('takes in what was made long ago, once it fits', async () => {
    await using s = await stage(setup)
    await s.submit(decision, null, { id: 'old' })
    await s.advance('3h')
    const eye = new Eye(s, { filter: 'status:paused' })
    await s.advance('1s')
    expect(eye.news()).toEqual(['page '])
    await s.engine.triarch.tasks.get('old').pause()
    await s.advance('10s')
    expect(eye.news()).toEqual(['old paused'])
    const aged = new Eye(s, { filter: 'age:>4h' })
    await s.advance('1s')
    expect(aged.news()).toEqual(['page '])
    await s.advance('1h')
    expect(aged.news()).toEqual(['old paused'])
    for (const it of [eye, aged]) it.close()
  })

  it('shows no more than so many, the first in its order', async () => {
    await using s = await stage(setup)
    for (const id of ['a', 'b', 'c']) await s.submit(decision, null, { id })
    await s.settle()
    const eye = new Eye(s, { limit: 2 })
    await s.advance('1s')
    expect(eye.news()).toEqual(['page c,b'])
    await s.submit(decision, null, { id: 'd' })
    await s.advance('5s')
    expect(eye.news()).toEqual(expect.arrayContaining(['b gone', 'd running']))
    eye.close()
  })

  it('says that it is quiet', async () => {
    await using s = await stage(setup)
    const eye = new Eye(s, { quiet: '1m' })
    await s.advance('150s')
    expect(eye.news()).toEqual(['page ', 'quiet', 'quiet'])
    eye.close()
  })

  it('keeps of what is not taken the newest only, and no more than the list', async () => {
    await using s = await stage(setup)
    const { triarch } = s.engine
    const slow = triarch.tasks.watch({ limit: 2 })
    expect((await slow.next()).value).toEqual({ type: 'page', tasks: [] })
    for (let round = 0; round < 12; round++) {
      await s.submit(decision, null, { id: `t${round}` })
      await s.advance('1s')
    }
    const pending: ListChange[] = []
    for (;;) {
      const next = await Promise.race([slow.next(), s.settle().then(() => null)])
      if (!next) break
      pending.push(next.value as ListChange)
    }
    expect(pending.length).toBeLessThan(7)
    const shown = new Set<string>()
    for (const change of pending) {
      if (change.type === 'page') shown.clear()
      if (change.type === 'page') for (const { id } of change.tasks) shown.add(id)
      if (change.type === 'task') shown.add(change.task.id)
      if (change.type === 'gone') shown.delete(change.id)
    }
    expect([...shown].sort()).toEqual(['t10', 't11'])
    await s.kill()
    await slow.next().catch(() => undefined)
  })
})

describe('those who watch', () => {
  it('share one look at the store, a thousand as one', async () => {
    const calls: string[] = []
    const counted = (store: StateStore) => ({
      list: (query: Parameters<StateStore['list']>[0]) => {
        calls.push('list')
        return store.list(query)
      },
      taskVersions: (ids: readonly string[]) => {
        calls.push('taskVersions')
        return store.taskVersions(ids)
      },
    })
    await using s = await stage({ ...setup, store: seen(memory(), counted) })
    await s.submit(decision, null, { id: 'a' })
    await s.settle()
    const eyes = Array.from({ length: 1_000 }, () => new Eye(s, { filter: 'status:running' }))
    await s.advance('2s')
    calls.length = 0
    await s.advance('1m')
    expect(calls.length).toBeLessThan(150)
    expect(eyes.every((eye) => eye.told.length === 1)).toBe(true)
    for (const eye of eyes) eye.close()
    await s.advance('1s')
    calls.length = 0
    await s.advance('1m')
    expect(calls).toEqual([])
  })

  it('hear of a store that is out of reach for long, and not of a moment', async () => {
    let down = false
    const failing = (store: StateStore) => ({
      taskVersions: async (ids: readonly string[]) => {
        if (down) throw new TriarchError('STORE_UNAVAILABLE', 'away')
        return store.taskVersions(ids)
      },
      list: async (query: Parameters<StateStore['list']>[0]) => {
        if (down) throw new TriarchError('STORE_UNAVAILABLE', 'away')
        return store.list(query)
      },
    })
    await using s = await stage({ ...setup, store: seen(memory(), failing) })
    const eye = new Eye(s)
    await s.advance('1s')
    down = true
    await s.advance('3s')
    down = false
    await s.advance('5s')
    expect(eye.failure).toBeUndefined()
    down = true
    await s.advance('30s')
    expect(eye.failure).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    down = false
  })

  it('that begin to count while the store is out of reach hear it at once; and all who come together ask once', async () => {
    let [down, asked] = [true, 0]
    const failing = (store: StateStore) => ({
      counts: async () => {
        asked++
        if (down) throw new TriarchError('STORE_UNAVAILABLE', 'away')
        return store.counts()
      },
    })
    await using s = await stage({ ...setup, store: seen(memory(), failing) })
    const first = async () => (await s.engine.triarch.statistics.watch().next()).value
    await expect(first()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    ;[down, asked] = [false, 0]
    const all = await Promise.all(Array.from({ length: 100 }, first))
    expect(new Set(all.map((change) => change?.type))).toEqual(new Set(['counts']))
    expect(asked).toBe(1)
  })

  it('hear that the engine stops', async () => {
    await using s = await stage(setup)
    const eye = new Eye(s)
    await s.advance('1s')
    await s.kill()
    await expect.poll(() => eye.failure).toMatchObject({ code: 'NODE_STOPPED' })
  })

  it('are refused where what they ask for makes no sense', async () => {
    await using s = await stage(setup)
    const first = (options: object) => s.engine.triarch.tasks.watch(options).next()
    await expect(first({ filter: 'nonsense:1' })).rejects.toMatchObject({ code: 'INVALID_FILTER' })
    await expect(first({ limit: 201 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(first({ quiet: 0 })).rejects.toMatchObject({ code: 'INVALID_DURATION' })
    await expect(first({ every: 1 })).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
  })
})

describe('the counts', () => {
  it('are told when they change', async () => {
    await using s = await stage(setup)
    const counts = s.engine.triarch.statistics.watch({ quiet: '1m' })
    const first = counts.next()
    await s.advance('1s')
    expect((await first).value).toMatchObject({ type: 'counts', counts: { tasks: 0 } })
    const second = counts.next()
    await s.submit(decision, null)
    await s.advance('5s')
    expect((await second).value).toMatchObject({ type: 'counts', counts: { tasks: 1 } })
    await counts.return?.()
  })
})
