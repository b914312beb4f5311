import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/environment/environment.ts'
import { delay } from '../../src/environment/environment.ts'
import { agent, TriarchError, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { StateStore } from '../../src/store/port.ts'
import { FailureDetector } from '../../src/supervisor/failure-detector.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { eventsOf, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const writes: ReadonlySet<string> = new Set<keyof StateStore>([
  ...([
    'commit',
    'submit',
    'post',
    'claim',
    'quarantine',
    'clearSuspicion',
    'takeWork',
    'reply',
    'heartbeatWork',
  ] as const),
  ...(['heartbeat', 'leave', 'lead', 'declareDead', 'sweep', 'prune', 'writeLogs', 'trimCache', 'trimAudit'] as const),
])

/** How long a write waits for its lock (ms). */
const PATIENCE = 5_000

/** The store, as another process has its write lock now and then: writes wait for it, and reads are served. */
function locking(factory: StoreFactory, lock: { held: boolean }): StoreFactory {
  return (environment: Environment) =>
    new Proxy(factory(environment), {
      get(target, key) {
        const own: unknown = Reflect.get(target, key, target)
        if (typeof own !== 'function') return own
        if (!writes.has(String(key))) return own.bind(target)
        return async (...given: unknown[]) => {
          // The lock is not fair: here a sweep has it before all others.
          const slice = key === 'sweep' ? 1 : 50
          for (let waited = 0; lock.held; waited += slice) {
            if (waited >= PATIENCE) throw new TriarchError('STORE_BUSY', 'another connection holds the store')
            await delay(environment, slice)
          }
          return own.apply(target, given)
        }
      },
    })
}

describe('while another process holds the write lock, and reads are served', () => {
  it.each([
    ['less than a lease', 8],
    ['twice a lease', 20],
    ['many leases', 120],
  ])('no node is taken for dead, and no step loses its attempt (%s)', async (_, seconds) => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const lock = { held: false }
    const ran: string[] = []
    const answers = new Map<string, PromiseWithResolvers<string>>()
    const own = agent('own')
    const act = own.action('act', {
      attemptWithin: '1h',
      semantics: 'at-most-once',
      run: async (name: string, step) => {
        ran.push(`${name} ${step.attempt}`)
        const answer = Promise.withResolvers<string>()
        step.signal.addEventListener('abort', () => ran.push(`${name} aborted`))
        answers.set(name, answer)
        return answer.promise
      },
    })
    const flow = workflow('flow', {
      run: async (name: string, task) => [await task.run(act, name), await task.run(act, `${name}'`)],
    })
    const node = (roles: readonly ('scheduler' | 'agent' | 'supervisor')[]) =>
      stage({
        ...{ environment, store: locking(file.store, lock), workflows: [flow], agents: [own], roles },
        ...({ lease: '10s', sweep: '1s', poll: '500ms', onError: () => undefined } as const),
      })
    const [both, apart, work] = [
      await node(['scheduler', 'agent', 'supervisor']),
      await node(['scheduler', 'supervisor']),
      await node(['agent', 'supervisor']),
    ]
    const [here, there] = [await both.submit(flow, 'here'), await apart.submit(flow, 'there')]
    await both.advance('3s')
    expect([...ran].sort()).toEqual(['here 1', 'there 1'])
    lock.held = true
    await both.advance('2s')
    answers.get('here')?.resolve('here')
    answers.get('there')?.resolve('there')
    await both.advance(`${seconds}s`)
    lock.held = false
    await both.advance('15s')
    expect([...ran].sort()).toEqual(['here 1', "here' 1", 'there 1', "there' 1"])
    for (const answer of answers.values()) answer.resolve('then')
    await both.advance('5s')
    expect(await here.result()).toEqual(['here', 'then'])
    expect(await there.result()).toEqual(['there', 'then'])
    for (const task of [here, there]) expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    for (const s of [both, apart, work]) {
      expect((await s.engine.triarch.statistics.get()).fenced).toBe(0)
      expect(s.alerts).toEqual([])
      await s.kill()
    }
  })

  it('no attempt misses its heartbeat: the sweep that waited for the lock judges by when it was asked for', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const lock = { held: false }
    let runs = 0
    const answer = Promise.withResolvers<string>()
    const own = agent('own')
    const act = own.action('act', {
      attemptWithin: '1h',
      heartbeatWithin: '3s',
      semantics: 'at-most-once',
      run: async (_: null, step) => {
        runs++
        const beat = async (): Promise<void> => {
          step.heartbeat({ progress: runs })
          await delay(environment, 1_000)
          return step.signal.aborted ? undefined : beat()
        }
        void beat()
        return answer.promise
      },
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(act, null) })
    const node = (roles: readonly ('scheduler' | 'agent' | 'supervisor')[]) =>
      stage({
        ...{
          environment,
          store: locking(file.store, lock),
          workflows: [flow],
          agents: roles.includes('agent') ? [own] : [],
          roles,
        },
        ...({ lease: '30s', sweep: '1s', poll: '500ms', onError: () => undefined } as const),
      })
    const [leads, works] = [await node(['scheduler', 'supervisor']), await node(['agent'])]
    const task = await leads.submit(flow, null)
    await leads.advance('5s')
    expect(runs).toBe(1)
    for (let n = 0; n < 5; n++) {
      lock.held = true
      // For less than writes wait.
      await leads.advance('4.5s')
      lock.held = false
      await leads.advance('6s')
    }
    answer.resolve('done')
    await leads.advance('5s')
    expect(await eventsOf(task, 'attemptFailed')).toEqual([])
    expect(await task.result()).toBe('done')
    for (const s of [leads, works]) await s.kill()
  })

  const pulse = { id: 'n', mark: 'beat 1', lease: 9_000, roles: [], late: false }
  /** A detector that looks at a node without a new beat; each look counts for at most so much. */
  function watching(most: number) {
    const detector = new FailureDetector()
    const look = (at: number) => detector.look({ now: at, nodes: [pulse], term: null }, at, at, most)
    return { detector, look }
  }

  it('one that dies meanwhile is found dead once there was time to beat', () => {
    const { detector, look } = watching(2_000)
    for (let at = 0; at <= 8_000; at += 1_000) look(at)
    expect(detector.dead).toEqual([])
    detector.unwritable()
    for (let at = 30_000; at <= 32_000; at += 1_000) look(at)
    expect(detector.dead).toEqual([])
    look(33_000)
    expect(detector.dead).toMatchObject([{ id: 'n', silence: 9_000 }])
  })

  it('the time since the look before is nobody’s silence, however much a look may count for', () => {
    const { detector, look } = watching(60_000)
    for (const at of [0, 1_000, 2_000]) look(at)
    detector.unwritable()
    look(30_000)
    look(36_000)
    expect(detector.dead).toEqual([])
    look(37_000)
    expect(detector.dead).toMatchObject([{ id: 'n', silence: 9_000 }])
  })

  it('who was silent before that has a third of its lease to beat in', () => {
    const { detector, look } = watching(2_000)
    for (let at = 0; at <= 8_900; at += 100) look(at)
    detector.unwritable()
    for (let at = 30_000; at < 33_000; at += 100) look(at)
    expect(detector.dead).toEqual([])
    look(33_000)
    expect(detector.dead).toMatchObject([{ id: 'n' }])
  })
})
