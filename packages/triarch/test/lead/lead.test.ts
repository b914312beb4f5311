import { describe, expect, it } from 'vitest'
import { type Leadership, type LeadOptions, Triarch, TriarchError } from '../../src/index.ts'
import type { SqliteTransaction } from '../../src/store/sqlite/index.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { ear } from '../telemetry/scene.ts'

/** Nodes over one file in one virtual time. */
function town() {
  const file = scratch()
  const environment = new VirtualEnvironment()
  const node = (options = {}): Promise<Stage> =>
    stage({ store: file.store, environment, lease: '10s', sweep: '1s', poll: '100ms', ...options })
  return { node, environment, [Symbol.dispose]: () => file[Symbol.dispose]() }
}

/** Leads until its signal fires. */
function leading(s: Stage, name = 'exporter', options: LeadOptions = {}) {
  const terms: Leadership[] = []
  const result = s.engine.triarch.leaders.lead(
    name,
    (leadership) => {
      terms.push(leadership)
      return new Promise<string>((resolve) => {
        leadership.signal.addEventListener('abort', () => resolve('ended'))
      })
    },
    options,
  )
  return { terms, result }
}

describe('of the processes that want to lead', () => {
  it('one does at a time, and the next within a moment once that stops', async () => {
    using of = town()
    const one = await of.node()
    const first = leading(one)
    await one.advance('1s')
    await using other = await of.node()
    const second = leading(other)
    await other.advance('1m')
    expect([first.terms.length, second.terms.length]).toEqual([1, 0])
    expect(first.terms[0]?.holds()).toBe(true)
    const [node] = (await other.engine.triarch.leaders.list()).leaders
    expect(node).toEqual({ name: 'exporter', node: expect.any(String), token: 1 })
    await one.leave()
    expect(first.terms[0]?.signal.reason).toMatchObject({ code: 'NODE_STOPPED' })
    expect(first.terms[0]?.holds()).toBe(false)
    expect(await first.result).toBe('ended')
    await other.advance('300ms')
    expect(second.terms).toMatchObject([{ token: 2 }])
  })

  it.each([
    ['the lease', null, 10_000],
    ['a lease that was made shorter while it led', '3s', 3_000],
  ] as const)(
    'the next does within %s and a look of the supervisor when that dies, and the dead one knew it before',
    async (_, lease, most) => {
      using of = town()
      const cut = { off: false }
      const gone = () => new Promise<never>(() => undefined)
      const file = scratch()
      const one = await of.node({
        store: (environment: VirtualEnvironment) =>
          new Proxy(file.store(environment), {
            get(target, key) {
              const own = Reflect.get(target, key, target) as unknown
              if (typeof own !== 'function') return own
              return (...args: unknown[]) => (cut.off ? gone() : own.apply(target, args))
            },
          }),
      })
      await using other = await of.node({ store: file.store })
      const first = leading(one)
      await one.advance('1s')
      const second = leading(other)
      if (lease) await one.engine.triarch.settings.get('triarch.engine').set({ lease }, { reason: 'a test' })
      if (lease) await other.advance('1s')
      const times = { lost: 0, led: 0 }
      first.terms[0]?.signal.addEventListener('abort', () => {
        times.lost = of.environment.now()
      })
      cut.off = true
      const since = of.environment.now()
      for (let waited = 0; waited < 20_000 && second.terms.length === 0; waited += 100) {
        await other.advance(100)
        times.led = of.environment.now()
      }
      expect(times.lost).toBeGreaterThan(since)
      expect(times.lost).toBeLessThan(times.led)
      expect(times.lost - since).toBeLessThanOrEqual(most)
      expect(times.led - since).toBeLessThanOrEqual(14_000)
      expect(first.terms[0]?.signal.reason).toMatchObject({ code: 'LEADERSHIP_LOST' })
      expect(first.terms[0]?.holds()).toBe(false)
      expect(await codeOf((first.terms[0] as Leadership).transaction(() => 1))).toBe('LEADERSHIP_LOST')
      cut.off = false
      one.errors.splice(0)
      await one.kill()
      one.errors.splice(0)
      file[Symbol.dispose]()
    },
  )

  it('those of one process take turns as well, and names have nothing to do with each other', async () => {
    await using s = await stage()
    const ended = Promise.withResolvers<string>()
    const one = s.engine.triarch.leaders.lead('x', () => ended.promise)
    const two = leading(s, 'x')
    const three = leading(s, 'supervisor')
    await s.advance('5s')
    expect([two.terms.length, three.terms.length]).toEqual([0, 1])
    ended.resolve('done')
    expect(await one).toBe('done')
    await s.advance('1s')
    expect(two.terms).toMatchObject([{ token: 2 }])
  })
})

describe('a leader', () => {
  it('resolves with what its function returns, and rejects with what it throws', async () => {
    await using s = await stage()
    const { triarch } = s.engine
    const fine = triarch.leaders.lead('fine', ({ token }) => token)
    const ill = codeOf(
      triarch.leaders.lead('ill', () => {
        throw new TriarchError('INVARIANT', 'ill')
      }),
    )
    await s.advance('1s')
    expect([await fine, await ill]).toEqual([1, 'INVARIANT'])
    expect((await triarch.leaders.list()).leaders.map(({ node }) => node)).toEqual([undefined, undefined])
  })

  it('tries again with growing waits where it is told to', async () => {
    const errors: unknown[] = []
    await using s = await stage({ onError: (error) => errors.push(error) })
    const tokens: number[] = []
    const run = ({ token }: Leadership) => {
      tokens.push(token)
      if (tokens.length < 4) throw new Error(`no ${token}`)
      return token
    }
    const result = s.engine.triarch.leaders.lead('x', run, { retry: { initial: '2s', max: '4s' } })
    await s.advance('3s')
    expect(tokens).toEqual([1, 2])
    await s.advance('10s')
    expect(await result).toBe(4)
    expect(errors).toHaveLength(3)
  })

  it('ends by the signal of its options, whether it leads or waits', async () => {
    await using s = await stage()
    const [leads, waits] = [new AbortController(), new AbortController()]
    const one = leading(s, 'x', { signal: leads.signal })
    await s.advance('1s')
    const two = leading(s, 'x', { signal: waits.signal })
    waits.abort()
    expect(await two.result).toBeUndefined()
    expect(await leading(s, 'x', { signal: AbortSignal.abort() }).result).toBeUndefined()
    expect(one.terms[0]?.signal.aborted).toBe(false)
    leads.abort()
    expect(await one.result).toBe('ended')
    await s.advance('1s')
    expect((await s.engine.triarch.leaders.list()).leaders).toEqual([{ name: 'x', node: undefined, token: 1 }])
  })

  it('that was taken for dead is told so, and leads again under another name once its function has ended', async () => {
    await using s = await stage({ lease: '10s', sweep: '1s', poll: '1s' })
    const one = leading(s)
    await s.advance('1s')
    const [node] = await s.engine.triarch.nodes.list()
    await s.store.declareDead([node?.id ?? ''])
    await s.advance('10s')
    expect(one.terms.map(({ token, signal }) => [token, signal.aborted])).toEqual([
      [1, true],
      [2, false],
    ])
  })

  it('whose function ends long after its node was taken for dead leads again then', async () => {
    await using s = await stage({ lease: '10s', sweep: '1s', poll: '1s' })
    const tokens: number[] = []
    const ended = Promise.withResolvers<number>()
    void s.engine.triarch.leaders.lead('x', ({ token }) => {
      tokens.push(token)
      return ended.promise.then(() => new Promise(() => undefined))
    })
    const other = s.engine.triarch.leaders.lead('y', ({ token, signal }) => {
      tokens.push(token)
      return signal.aborted || tokens.length > 2 ? token : ended.promise
    })
    await s.advance('1s')
    const [node] = await s.engine.triarch.nodes.list()
    await s.store.declareDead([node?.id ?? ''])
    await s.advance('1m')
    expect(tokens).toEqual([1, 1])
    ended.resolve(0)
    await s.advance('1s')
    expect(tokens).toEqual([1, 1, 2])
    expect(await other).toBe(2)
  })

  it('whose row another has is told so, though its node lives', async () => {
    await using s = await stage({ lease: '10s', sweep: '1s', poll: '1s' })
    const one = leading(s)
    await s.advance('1s')
    const [node] = await s.engine.triarch.nodes.list()
    await s.store.resign({ name: 'exporter', node: node?.id ?? '', token: 1 })
    await s.advance('5s')
    expect(one.terms).toMatchObject([{ signal: { aborted: true } }, { token: 2 }])
  })

  it('writes in transactions of the store while it leads', async () => {
    await using s = await stage()
    let held: Leadership | undefined
    const result = s.engine.triarch.leaders.lead('x', async (leadership) => {
      held = leadership
      await leadership.transaction((tx: SqliteTransaction) => tx.exec('CREATE TABLE rows (n)'))
      const failed = leadership.transaction((tx: SqliteTransaction) => {
        tx.exec('INSERT INTO rows VALUES (1)')
        throw new Error('undo it')
      })
      await failed.catch(() => undefined)
      return leadership.transaction((tx: SqliteTransaction) => tx.prepare('SELECT count(*) AS n FROM rows').get()?.n)
    })
    await s.advance('1s')
    expect(await result).toBe(0)
    expect(await codeOf((held as Leadership).transaction(() => 1))).toBe('LEADERSHIP_LOST')
  })

  it('is told of: who takes a leadership, and how it ends', async () => {
    const { heard, listeners } = ear()
    await using s = await stage({ telemetry: listeners })
    const result = s.engine.triarch.leaders.lead('x', () => 'done')
    await s.advance('1s')
    await result
    expect(heard['leadership:taken']).toMatchObject([{ name: 'x', token: 1 }])
    expect(heard['leadership:ended']).toMatchObject([{ name: 'x', token: 1, end: 'returned' }])
  })

  it('is refused what makes no sense', async () => {
    const triarch = new Triarch({ store: memory() })
    const run = () => null
    expect(await codeOf(triarch.leaders.lead('', run))).toBe('INVALID_NAME')
    expect(await codeOf(triarch.leaders.lead('x'.repeat(191), run))).toBe('INVALID_NAME')
    expect(await codeOf(triarch.leaders.lead('x', null as never))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.leaders.lead('x', run, { signal: {} as never }))).toBe('INVALID_OPTION')
    expect(await codeOf(triarch.leaders.lead('x', run, { again: 1 } as never))).toBe('UNKNOWN_OPTION')
    expect(await codeOf(triarch.leaders.lead('x', run, { retry: { initial: 'soon' as never } }))).toBe(
      'INVALID_DURATION',
    )
    await triarch.stop()
    expect(await codeOf(triarch.leaders.lead('x', run))).toBe('NODE_STOPPED')
  })
})
