import { describe, expect, it } from 'vitest'
import { agent, TriarchError, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory, testEngine, VirtualEnvironment } from '../../src/testing/index.ts'

/** Who asks: a loop of the node, which must live on, or somebody who is told of the error. A new call has to choose. */
const asked: Record<keyof StateStore, 'loop' | 'caller'> = {
  open: 'caller',
  secrets: 'loop',
  writeSecret: 'caller',
  close: 'caller',
  now: 'loop',
  commit: 'loop',
  submit: 'caller',
  submitIn: 'caller',
  importTask: 'caller',
  transact: 'caller',
  effect: 'caller',
  post: 'caller',
  permits: 'caller',
  queueHeads: 'loop',
  claim: 'loop',
  nextWake: 'caller',
  poll: 'loop',
  paced: 'caller',
  lostRecords: 'loop',
  owned: 'loop',
  inbox: 'loop',
  adoptWork: 'caller',
  takeWork: 'loop',
  reply: 'loop',
  heartbeatWork: 'loop',
  heartbeat: 'loop',
  leave: 'caller',
  lead: 'loop',
  sweep: 'loop',
  prune: 'loop',
  schedules: 'loop',
  writeSchedule: 'loop',
  dropSchedule: 'caller',
  breakers: 'loop',
  writeBreaker: 'loop',
  readCache: 'caller',
  writeCache: 'caller',
  beginFill: 'caller',
  endFill: 'caller',
  invalidate: 'caller',
  invalidated: 'caller',
  trimCache: 'loop',
  leaders: 'loop',
  elect: 'loop',
  resign: 'loop',
  writeLogs: 'loop',
  logs: 'caller',
  settings: 'caller',
  writeSetting: 'caller',
  settingChanges: 'caller',
  readUncounted: 'loop',
  tally: 'loop',
  tallies: 'caller',
  recount: 'caller',
  alerts: 'caller',
  writeAlert: 'caller',
  alertPosts: 'caller',
  settleAlertPost: 'caller',
  keys: 'caller',
  keyMark: 'caller',
  writeKey: 'caller',
  useKeys: 'caller',
  probes: 'caller',
  writeProbes: 'caller',
  writeAudit: 'caller',
  audit: 'caller',
  trimAudit: 'loop',
  task: 'loop',
  records: 'caller',
  replay: 'loop',
  list: 'caller',
  nodes: 'caller',
  queued: 'caller',
  parked: 'caller',
  locks: 'caller',
  heldLocks: 'caller',
  queues: 'caller',
  backlogs: 'caller',
  queueLength: 'caller',
  counts: 'caller',
  changes: 'loop',
  watch: 'caller',
  watchEnds: 'caller',
  vitals: 'caller',
  keepAlive: 'caller',
  migrate: 'caller',
  heartbeats: 'loop',
  declareDead: 'caller',
  taskVersions: 'loop',
  taskInbox: 'loop',
  clearSuspicion: 'loop',
  quarantine: 'loop',
  releaseQuarantine: 'caller',
  terminate: 'caller',
  truncate: 'caller',
  patience: 'caller',
  commitsAtOnce: 'caller',
  unanswered: 'caller',
}
const loops = Object.keys(asked).filter((name) => asked[name as keyof StateStore] === 'loop')

/** An engine whose store fails in one call for as long as it is told to. */
async function ailing(name: string, fail: () => unknown) {
  const ill = { ness: false, calls: 0 }
  const errors: unknown[] = []
  const environment = new VirtualEnvironment()
  const bank = agent('bank', { concurrency: 1, ...(/breaker/i.test(name) && { circuitBreaker: {} }) })
  const pay = bank.action('pay', {
    heartbeatWithin: '10s',
    async run(n: number, step) {
      step.heartbeat({ progress: 0.5 })
      await new Promise<void>((resolve) => environment.timer(300, resolve))
      return n
    },
  })
  const order = workflow('order', {
    run: async (n: number, task) => (await Promise.all([task.run(pay, n), task.run(pay, n)]))[0],
  })
  const report = workflow('report', { retention: '1s', run: async (_: null, task) => task.run(pay, 0) })
  const store = memory()
  const engine = await testEngine({
    ...{ environment, workflows: [order, report], agents: [bank] },
    ...{ lease: '10s', sweep: '3s', poll: '1s', onError: (error: unknown) => errors.push(error) },
    store: (environment) =>
      new Proxy(store(environment), {
        get(target, key) {
          const own = Reflect.get(target, key, target) as unknown
          if (key !== name || typeof own !== 'function') return typeof own === 'function' ? own.bind(target) : own
          return (...of: unknown[]) => {
            if (!ill.ness) return (own as (...of: unknown[]) => unknown).apply(target, of)
            ill.calls++
            return fail()
          }
        },
      }),
  })
  if (['leaders', 'elect', 'resign'].includes(name)) void lead(engine)
  return { engine, order, report, ill, errors }
}

/** For a while, and again, until the engine stops. */
async function lead({ triarch, environment }: Awaited<ReturnType<typeof testEngine>>): Promise<void> {
  const moment = () => new Promise<void>((resolve) => environment.timer(3_000, resolve))
  while (await triarch.leaders.lead('often', () => moment().then(() => true)).catch(() => false));
}

const failures = {
  'rejects as the store does': () => Promise.reject(new TriarchError('STORE_UNAVAILABLE', 'injected')),
  'rejects with anything': () => Promise.reject('injected'),
  'throws at once': () => {
    throw new Error('injected')
  },
  'answers nothing at all': () => new Promise<never>(() => undefined),
} as const

describe('every loop of a node survives errors of its store', () => {
  for (const name of loops) {
    it.each(Object.entries(failures))(`${name}, which %s for a minute`, async (_, fail) => {
      const { engine, order, report, ill } = await ailing(name, fail)
      const { triarch } = engine
      await triarch.schedules.get('often').register({ workflow: report, input: null, every: '10s' })
      const before = await triarch.submit(order, 0)
      ill.ness = true
      // Submitted meanwhile it may be refused, and is submitted again then: its id makes it one task.
      triarch.submit(order, 1, { id: 'meanwhile' }).catch(() => undefined)
      await engine.advance('1m')
      const calls = ill.calls
      ill.ness = false
      // What got no answer is given up by then.
      await engine.advance('80s')
      const tasks = [before, await triarch.submit(order, 1, { id: 'meanwhile' }), await triarch.submit(order, 2)]
      const results = Promise.all(tasks.map((task) => task.result()))
      await engine.advance('2m')
      expect(await results).toEqual([0, 1, 2])
      expect(await triarch.nodes.list()).toHaveLength(1)
      expect((await triarch.schedules.get('often').info()).last?.getTime()).toBeGreaterThan(
        engine.now().getTime() - 12_000,
      )
      // Finished tasks are dropped after a second: those of the schedule would add up otherwise.
      expect((await triarch.statistics.get()).tasks).toBeLessThan(8)
      expect(calls).toBeLessThan(1_000)
      await engine.stop()
    })
  }
})
