// Each check of the health, made to fail by what it is there for.
import { expect, it } from 'vitest'
import { agent, type HealthCheckReport, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { memory, type TestOptions, type VirtualEnvironment } from '../../src/testing/index.ts'
import { type Stage, seen, stage } from './harness.ts'

const mail = agent('mail')
const send = mail.action('send', { run: async () => 'sent' })
const letter = workflow('letter', { run: async (_: null, task) => task.run(send, null) })
const bank = agent('bank', { circuitBreaker: { minimum: 2, open: '10m', openMax: '10m' } })
const pay = bank.action('pay', {
  retry: { attempts: 100, backoff: { initial: '1s', max: '1s' } },
  run: async () => {
    throw new Error('the bank is ill')
  },
})
const order = workflow('order', { run: (_: null, task) => task.run(pay, null) })

interface Ill {
  /** What is wrong from now on. */
  ill: boolean
}
interface Cause {
  options?: TestOptions
  /** Calls of the store, as they are while something is wrong. */
  store?(store: StateStore, now: Ill, environment: VirtualEnvironment): Partial<StateStore>
  /** While all is well. */
  before?(stage: Stage): Promise<unknown>
  happens?(stage: Stage): Promise<unknown>
  found: Partial<Omit<HealthCheckReport, 'message'>> & { message: RegExp }
}

const takes = (environment: VirtualEnvironment, ms: number) =>
  new Promise<void>((resolve) => void environment.timer(ms, resolve))

/** A call of the store that takes so long while something is wrong. */
const slow = (call: 'nextWake' | 'lead', ms: number): NonNullable<Cause['store']> => {
  return (store, now, environment) => ({
    [call]: async (...given: never[]) => {
      if (now.ill) await takes(environment, ms)
      return (store[call] as (...given: never[]) => unknown)(...given)
    },
  })
}

const vitals = (given: Awaited<ReturnType<NonNullable<StateStore['vitals']>>>): NonNullable<Cause['store']> => {
  return () => ({ vitals: async () => given })
}

const dead = (roles: string[]) => (s: Stage) =>
  s.store.heartbeat({ id: 'gone', roles, lease: 1_000 }).then(() => s.advance('2s'))

let secret = ''
let blocked: () => void = () => undefined

const causes: Readonly<Record<string, readonly Cause[]>> = {
  'store.read': [
    { store: slow('nextWake', 2_000), found: { status: 'warning', message: /^a read took 2000 ms, more than 1000$/ } },
    { store: slow('nextWake', 60_000), found: { status: 'critical', message: /^no answer within 5000 ms$/ } },
  ],
  'store.write': [
    { store: slow('lead', 2_000), found: { status: 'warning', message: /^a commit took 2000 ms, more than 1000$/ } },
    {
      store: (store, now) => ({
        lead: (given) => (now.ill ? Promise.reject(new Error('the disk is full')) : store.lead(given)),
      }),
      found: { status: 'critical', message: /^the disk is full$/ },
    },
  ],
  clock: [-60_000, 60_000].map((by) => ({
    store: (store, now) => ({ now: async () => (await store.now()) + (now.ill ? by : 0) }),
    found: {
      status: 'warning',
      message: new RegExp(`clock is 60000 ms ${by < 0 ? 'ahead of' : 'behind'} the store's$`),
    },
  })),
  disk: [[500, 'warning'] as const, [100, 'critical'] as const].map(([free, status]) => ({
    store: vitals({ disk: { path: '/data', free: free * 1024 * 1024, total: 1e12 } }),
    found: { status, message: new RegExp(`^${free} MiB are free beside "/data"$`) },
  })),
  pool: [
    {
      store: vitals({ pools: [{ name: 'calls', most: 2, busy: 2, waiting: 21 }, { name: 'turns', most: 9, busy: 9, waiting: 9 }] }), // biome-ignore format: a row
      found: { status: 'warning', message: /^21 calls wait for connections of "calls"$/ },
    },
  ],
  replica: [
    [null, /^it cannot be asked: the primary answers in its place$/] as const,
    [2_000, /^it is 2000 ms behind$/] as const,
  ].map(([lag, message]) => ({ store: vitals({ replica: { lag } }), found: { status: 'warning', message } })),
  node: [
    {
      options: { lease: '10s' },
      store: (store, now) => ({ heartbeat: async (beat) => now.ill || store.heartbeat(beat) }),
      happens: (s) => s.advance('12s'),
      found: { status: 'critical', message: /^the lease of node \S+ ended \d+ ms ago$/ },
    },
    {
      happens: async (s) => s.store.leave((await s.store.nodes())[0]?.id ?? ''),
      found: { status: 'critical', message: /^the store does not know node / },
    },
  ],
  loop: [
    {
      // What the thread says that renews the lease, once it has seen it.
      store: () => ({
        keepAlive: ({ report }) => {
          blocked = () => report({ type: 'blocked', ms: 8_000, ran: [] })
          return {
            dead: false,
            renewedAt: 0,
            tick: () => undefined,
            resize: () => undefined,
            close: async () => undefined,
          } as never
        },
      }),
      happens: async (s) => {
        blocked()
        await s.advance('20s')
      },
      found: {
        status: 'warning',
        message: /^the event loop of this process was blocked for 8000 ms, 20 s ago$/,
        observed: { blocked: 8_000 },
      },
    },
  ],
  nodes: [
    { happens: dead(['agent']), found: { status: 'warning', message: /^the leases ended of gone$/ } },
    { options: { roles: ['agent', 'supervisor'] }, found: { status: 'critical', message: /^no scheduler lives/ } },
    { options: { roles: ['scheduler', 'supervisor'] }, found: { status: 'warning', message: /has the role agent$/ } },
  ],
  leader: [
    { options: { roles: ['scheduler', 'agent'] }, found: { status: 'critical', message: /^no supervisor leads$/ } },
    {
      // Its next sweep is in an hour.
      happens: (s) => dead(['agent'])(s).then(() => s.advance('2m')),
      found: { status: 'warning', message: /^the leader does not sweep: 1 dead nodes are registered$/ },
    },
  ],
  timers: [
    {
      options: { roles: ['agent', 'supervisor'] },
      happens: (s) => s.submit(letter, null, { startAt: '1m' }).then(() => s.advance('3m')),
      found: { status: 'warning', message: /^a task should have gone on 120 s ago$/ },
    },
  ],
  backlog: [
    {
      options: { roles: ['agent', 'supervisor'] },
      happens: (s) => s.submit(letter, null, { id: 'l-1' }).then(() => s.advance('2m')),
      found: { status: 'warning', message: /^task "l-1" of letter@1 waits for a scheduler for 120 s$/ },
    },
  ],
  queues: [
    {
      options: { agents: [] },
      happens: (s) => s.submit(letter, null).then(() => s.advance('6m')),
      found: {
        status: 'warning',
        message: /^requests wait for 360 s, for mail$/,
        observed: { oldest: 360_000, depth: 1 },
      },
    },
  ],
  agents: [
    {
      options: { agents: [] },
      happens: (s) => s.submit(letter, null).then(() => s.settle()),
      found: { status: 'critical', message: /^nobody hosts mail, and requests wait$/ },
    },
  ],
  breakers: [
    {
      happens: async (s) => {
        for (let index = 0; index < 4; index++) await s.submit(order, null)
        await s.advance('30s')
      },
      found: { status: 'warning', message: /^open: bank$/, observed: { open: 1 } },
    },
  ],
  schedules: [
    {
      options: { roles: ['scheduler', 'agent'] },
      happens: async (s) => {
        await s.engine.triarch.schedules.get('nightly').register({ workflow: letter, input: null, every: '1h' })
        await s.advance('62m')
      },
      found: { status: 'warning', message: /^schedules were due and did not start anything: nightly$/ },
    },
  ],
  settings: [
    {
      options: { lease: '10m' },
      happens: async (s) => {
        const setting = s.engine.triarch.settings.get('triarch.agent.mail')
        for (const priority of [2, 3]) await setting.change({ priority }, { reason: 'a test' })
        const { live } = await setting.info()
        const settings = { 'triarch.agent.mail': (live?.version ?? 0) - 1 }
        const [node] = await s.store.nodes()
        const runs = { ...(node?.runs ?? { workflows: [], agents: {} }), settings } as never
        await s.store.heartbeat({ id: 'deaf', roles: ['agent'], lease: 3_600_000, runs })
        await s.advance('2m')
      },
      found: {
        status: 'warning',
        message: /^nodes run other versions of settings than they should: \S+mail \(deaf\)$/,
      },
    },
  ],
  keys: [
    ['1m', 'warning', /^API keys cannot be read: those that are known are taken for another \d+ s/] as const,
    ['1h', 'critical', /^API keys cannot be read, and none is taken any more$/] as const,
  ].map(([span, status, message]) => ({
    store: (store, now) => ({
      keyMark: () => (now.ill ? Promise.reject(new Error('nobody is there')) : store.keyMark()),
    }),
    // It is read as long as somebody comes with keys.
    before: async (s) => {
      secret = (await s.engine.triarch.keys.get('one').create({ rights: ['read'] })).secret
      const asked = s.engine.triarch.serving.keyring().verify(secret)
      await s.advance('2s')
      await asked
    },
    happens: async (s) => {
      await s.advance(span)
      const asked = s.engine.triarch.serving
        .keyring()
        .verify(secret)
        .catch(() => null)
      await s.advance('5s')
      await asked
    },
    found: { status, message },
  })),
  probes: [
    ['down', 'critical', /^1 of 1 endpoints are down: shop: the status is 500$/] as const,
    ['up', 'warning', /^nobody probes 1 of 1 endpoints: shop$/] as const,
  ].map(([state, status, message]) => ({
    happens: async (s) => {
      const now = s.engine.now()
      const last = { at: now, ms: 5, redirects: [], problem: { code: 'status', message: 'the status is 500' } } as const
      const shop = { name: 'shop', url: 'https://shop.example.com/', state, since: now, streak: 1, lateAt: now, last } as const // biome-ignore format: a row
      await s.engine.triarch.leaders.lead('prober', ({ keepProbes }) =>
        keepProbes([{ ...shop, last: { ...last, redirects: [] } }]),
      )
      await s.advance('2m')
    },
    found: { status, message },
  })),
}

const table = Object.entries(causes).flatMap(([name, many]) => many.map((cause) => ({ name, text: String(cause.found.message), cause }))) // biome-ignore format: a row

it.each(table)('the check $name says $text, and was well before', async ({ name, cause }) => {
  const { options, store: change, happens, found } = cause
  const now: Ill = { ill: false }
  const inner = memory()
  const changed = seen(
    (environment) => inner(environment),
    (store) => change?.(store, now, environment) ?? {},
  )
  let environment: VirtualEnvironment = undefined as never
  const factory: typeof inner = (given) => {
    environment = given as VirtualEnvironment
    return changed(given)
  }
  const given = { workflows: [letter, order], agents: [mail, bank], health: { cache: 0 }, onError: () => undefined }
  const s = await stage({ ...given, ...options, store: factory })
  try {
    const look = async () => {
      const asking = s.engine.triarch.health.check({ checks: [name] })
      await s.advance('6s')
      return (await asking).checks[0]
    }
    await cause.before?.(s)
    const isFrom = options?.roles !== undefined || ['disk', 'pool', 'replica'].includes(name)
    if (!isFrom) expect(await look()).toMatchObject({ name, status: 'ok' })
    now.ill = true
    await happens?.(s)
    expect(await look()).toMatchObject({ ...found, message: expect.stringMatching(found.message) })
  } finally {
    await s.kill()
  }
})

it('a process that stops says so', async () => {
  const s = await stage({ workflows: [letter], agents: [mail] })
  await s.kill()
  const { checks } = await s.engine.triarch.health.check({ checks: ['node'] })
  expect(checks).toMatchObject([{ status: 'critical', message: 'this process is stopping' }])
})

it('no check of the engine is without a cause here', async () => {
  await using s = await stage()
  const { checks } = await s.engine.triarch.health.check()
  expect(Object.keys(causes)).toEqual(checks.map(({ name }) => name))
})
