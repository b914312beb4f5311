import { describe, expect, it } from 'vitest'
import { agent, type StoreFactory, type TaskContext, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** Nodes on one file and one clock, each of which may die: nothing of it reaches the store any more. */
function town() {
  const file = scratch()
  const environment = new VirtualEnvironment()
  const undone: number[] = []
  const bank = agent('bank', { circuitBreaker: { whenOpen: 'fail' } })
  const charge = bank.action('charge', {
    run: (n: number) => n,
    undo: (_, { attempt }) => void undone.push(attempt),
  })
  const saga = workflow('saga', {
    async run(n: number, task: TaskContext) {
      await task.run(charge, n)
      await task.waitForSignal('go')
      throw new Error('undo it')
    },
  })
  const node = async () => {
    let dead = false
    const store: StoreFactory = (of) =>
      new Proxy(file.store(of), {
        get(target, key) {
          const own: unknown = Reflect.get(target, key, target)
          if (typeof own !== 'function') return own
          return (...given: unknown[]) => (dead ? new Promise(() => undefined) : own.apply(target, given))
        },
      })
    const common = { lease: '5s', sweep: '1s', poll: '100ms' } as const
    const s = await stage({ ...common, store, environment, workflows: [saga], agents: [bank] })
    const die = () => {
      dead = true
    }
    return { s, die }
  }
  return { node, saga, undone, [Symbol.dispose]: () => file[Symbol.dispose]() }
}

describe('a step that its agent has put off', () => {
  /** Its undo is put off for so long by a breaker that is open. */
  async function putOff(t: ReturnType<typeof town>, ms: number) {
    const [first, second] = [await t.node(), await t.node()]
    const task = await first.s.submit(t.saga, 1, { id: 't' })
    await first.s.advance('1s')
    const until = new Date(second.s.engine.now().getTime() + ms + 1_000)
    await second.s.engine.triarch.breakers.get('bank').open({ reason: 'maintenance', until })
    await first.s.advance('1s')
    await task.signal('go')
    await first.s.advance('300ms')
    return { first, second, until, seen: second.s.engine.tasks.get('t') }
  }

  it('is not taken for lost when its owner dies: it had not begun', async () => {
    using t = town()
    const { first, second, seen } = await putOff(t, 1_200)
    expect((await seen.status()).lockedBy).toBeDefined()
    first.die()
    await second.s.advance('2m')
    expect(t.undone).toEqual([1])
    expect(await eventsOf(seen, 'attemptFailed')).toEqual([])
    expect((await seen.status()).outcome).toBe('compensated')
    await second.s.leave()
  })

  it('is put off once in its history, however often its agent does it', async () => {
    using t = town()
    const { first, second, until, seen } = await putOff(t, 40_000)
    await second.s.advance('20s')
    expect(await eventsOf(seen, 'heartbeat')).toHaveLength(1)
    expect((await seen.explain()).reasons).toMatchObject([
      { code: 'breaker', operation: 'undo', breaker: 'bank', state: 'open', nextProbe: until },
    ])
    await second.s.advance('1m')
    expect(t.undone).toEqual([1])
    await first.s.leave()
    await second.s.leave()
  })
})
