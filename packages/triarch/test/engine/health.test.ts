import { describe, expect, it } from 'vitest'
import { agent, type HealthReport, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import type { StateStore } from '../../src/store/port.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

const mail = agent('mail')
const send = mail.action('send', { run: async (_: null) => 'sent' })
const letter = workflow('letter', { run: async (_: null, task) => task.run(send, null) })

const checkOf = (report: HealthReport, name: string) => report.checks.find((check) => check.name === name)
const notWell = ({ checks }: HealthReport) => checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)
const health = (checks: NonNullable<TriarchOptions['health']>['checks']) => ({ health: { checks: checks ?? {} } })

/** The store, with calls of a test's own. */
const with_ = (change: (store: StateStore) => Partial<StateStore>) => {
  const { store } = scratch()
  const factory: TriarchOptions['store'] = (environment) => {
    const made = store(environment)
    const own = change(made)
    return new Proxy(made, {
      get: (target, name) => {
        const member = (name in own ? own : target)[name as keyof StateStore]
        return typeof member === 'function' ? member.bind(name in own ? own : target) : member
      },
    })
  }
  return factory
}

describe('the health of an engine', () => {
  it('is well where all is, each check by its name, its time and since when', async () => {
    await using s = await stage({ workflows: [letter], agents: [mail] })
    const { triarch, environment } = s.engine
    const report = await triarch.health.check()
    expect(notWell(report)).toEqual([])
    expect(report.status).toBe('ok')
    expect(report.node).toBe((await triarch.nodes.list())[0]?.id)
    expect(report.checks.map(({ name }) => name)).toEqual([
      ...[
        'store.read',
        'store.write',
        'clock',
        'disk',
        'pool',
        'replica',
        'node',
        'loop',
        'nodes',
        'leader',
        'timers',
        'backlog',
      ],
      ...['queues', 'agents', 'breakers', 'schedules', 'settings', 'keys', 'probes'],
    ])
    for (const { at, since } of report.checks) expect([at.getTime(), since.getTime()]).toEqual([environment.now(), environment.now()]) // biome-ignore format: a row
  })

  it('says that nobody leads, and that no scheduler lives, on a store on which nothing works', async () => {
    using file = scratch()
    await using triarch = new Triarch({ store: file.store, notices: false })
    const report = await triarch.health.check()
    expect(report.status).toBe('critical')
    expect(notWell(report)).toEqual(['nodes', 'leader'])
    expect(report.node).toBeUndefined()
  })

  it('tells of agents that nobody hosts, and of requests that wait for long', async () => {
    await using s = await stage({ workflows: [letter] })
    const { triarch } = s.engine
    await s.submit(letter, null, { id: 'l-1' })
    await s.settle()
    expect(checkOf(await triarch.health.check(), 'agents')).toMatchObject({ status: 'critical', message: expect.stringContaining('mail') }) // biome-ignore format: a row
    await s.advance('6m')
    const { message, status } = checkOf(await triarch.health.check(), 'queues') ?? {}
    expect([status, message]).toEqual(['warning', expect.stringContaining('mail')])
  })

  it('tells of a node that still runs another version of a setting, once there was time to hear of it', async () => {
    await using s = await stage({ workflows: [letter], agents: [mail], lease: '10m' })
    const { triarch } = s.engine
    const setting = triarch.settings.get('triarch.agent.mail')
    await setting.change({ priority: 2 }, { reason: 'a test' })
    await s.settle()
    const [node] = await s.store.nodes()
    const told = (version: number) =>
      s.store.heartbeat({
        ...{ id: 'deaf', roles: ['agent'], lease: 3_600_000 },
        runs: {
          ...(node?.runs ?? { workflows: [], agents: {} }),
          settings: { 'triarch.agent.mail': version },
        } as never,
      })
    await setting.change({ priority: 3 }, { reason: 'a test' })
    const { live } = await setting.info()
    await told((live?.version ?? 0) - 1)
    expect(checkOf(await triarch.health.check(), 'settings')?.status).toBe('ok')
    await s.advance('2m')
    expect(checkOf(await triarch.health.check(), 'settings')).toMatchObject({
      ...{
        status: 'warning',
        message: expect.stringContaining('triarch.agent.mail (deaf)'),
        observed: { drifting: 1 },
      },
    })
    await told(live?.version ?? 0)
    await s.advance('1m')
    expect(checkOf(await triarch.health.check(), 'settings')?.status).toBe('ok')
  })

  it('weighs a check as its options say', async () => {
    using file = scratch()
    const severity = { leader: 'warning', nodes: 'ok' } as const
    await using triarch = new Triarch({ store: file.store, notices: false, health: { severity } })
    const report = await triarch.health.check()
    expect(report.status).toBe('warning')
    expect(checkOf(report, 'nodes')).toMatchObject({ status: 'ok', message: expect.stringContaining('no scheduler') })
  })

  it('is refused with a name that there is not, and options that are none', async () => {
    using file = scratch()
    const make = (health: TriarchOptions['health']) => () => new Triarch({ store: file.store, health: health as never })
    await using triarch = make({})()
    await expect(triarch.health.check({ checks: ['nothing'] })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(triarch.health.check({ only: [] } as never)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    const wrong = [
      ...[{ checks: { disk: () => true } }, { checks: { 'a b': () => true } }, { checks: { a: 1 } }, { checks: [] }],
      ...[{ severity: { nothing: 'ok' } }, { severity: { disk: 'bad' } }, { diskFree: -1 }],
      ...[{ checks: { a: { run: () => true, severity: 'ok' } } }],
    ]
    for (const options of wrong) expect(make(options as never), JSON.stringify(options)).toThrow(/health/)
  })
})

describe('a check of the health', () => {
  it('that hangs, throws or answers rubbish harms nobody, and is told of it', async () => {
    let asked = 0
    const hanging = () => {
      asked++
      return new Promise<boolean>(() => undefined)
    }
    const trap = () => new Proxy({}, { get: () => { throw new Error('trap') } }) // biome-ignore format: a row
    const checks = {
      hangs: { run: hanging, timeout: '2s' as const },
      throws: () => {
        throw new Error('no bank')
      },
      rejects: async () => {
        throw Object.assign(new Error('gone'), { code: 'GONE' })
      },
      odd: (() => 42) as never,
      trap: trap as never,
      never: { run: () => Promise.reject(undefined), severity: 'warning' as const },
      well: () => true,
      quiet: () => undefined,
      told: async () => ({ status: 'warning' as const, message: 'x'.repeat(2_000) }),
    }
    await using s = await stage({ workflows: [letter], agents: [mail], ...health(checks) })
    const { triarch } = s.engine
    const look = async () => {
      const asking = triarch.health.check()
      await s.settle()
      await s.advance('2s')
      return asking
    }
    const report = await look()
    const found = Object.keys(checks).map((name) => [
      name,
      checkOf(report, name)?.status,
      checkOf(report, name)?.message,
    ])
    expect(found).toEqual([
      ['hangs', 'critical', 'no answer within 2000 ms'],
      ['throws', 'critical', 'no bank'],
      ['rejects', 'critical', 'GONE: gone'],
      ['odd', 'critical', 'the check answered what is no finding'],
      ['trap', 'critical', 'trap'],
      ['never', 'warning', expect.anything()],
      ['well', 'ok', undefined],
      ['quiet', 'ok', undefined],
      ['told', 'warning', 'x'.repeat(1_000)],
    ])
    expect(checkOf(report, 'store.read')?.status).toBe('ok')
    // It is not asked again as long as it has not answered.
    await s.advance('1m')
    expect(checkOf(await look(), 'hangs')?.message).toMatch(/^no answer for \d+ ms$/)
    expect(asked).toBe(1)
  })

  it('is asked once for all who ask within some seconds, and not at all while nobody does', async () => {
    let asked = 0
    const count = () => {
      asked++
    }
    await using s = await stage({ workflows: [letter], agents: [mail], ...health({ count }) })
    const { triarch } = s.engine
    await s.advance('1m')
    expect(asked).toBe(0)
    await Promise.all([triarch.health.check(), triarch.health.check(), triarch.health.check({ checks: ['count'] })])
    await s.advance('4s')
    await triarch.health.check()
    expect(asked).toBe(1)
    await s.advance('2s')
    await triarch.health.check()
    expect(asked).toBe(2)
  })

  it('knows since when it is so, and what was last wrong', async () => {
    let well = true
    await using s = await stage({ workflows: [letter], agents: [mail], ...health({ bank: () => well }) })
    const { triarch, environment } = s.engine
    const began = environment.now()
    const look = async () => checkOf(await triarch.health.check(), 'bank')
    expect(await look()).toMatchObject({ status: 'ok', since: new Date(began) })
    await s.advance('10s')
    expect(await look()).toMatchObject({ status: 'ok', since: new Date(began) })
    well = false
    await s.advance('10s')
    const broke = new Date(environment.now())
    expect(await look()).toMatchObject({ status: 'critical', since: broke, lastError: { at: broke } })
    well = true
    await s.advance('10s')
    expect(await look()).toMatchObject({ status: 'ok', since: new Date(environment.now()), lastError: { at: broke } })
  })

  it('of a store that cannot write says so, and those that only read are well', async () => {
    const store = with_(() => ({ lead: () => Promise.reject(new Error('disk is read-only')) }))
    await using triarch = new Triarch({ store, notices: false })
    const report = await triarch.health.check({ checks: ['store.read', 'store.write'] })
    expect(report.checks.map(({ status, message }) => [status, message])).toEqual([
      ['ok', undefined],
      ['critical', 'disk is read-only'],
    ])
  })

  it('of a full disk, a crowded pool and a clock that is wrong says how bad it is', async () => {
    let free = 1
    const store = with_((inner) => ({
      vitals: async () => ({
        disk: { path: '/data', free, total: 1e12 },
        pools: [{ name: 'calls', most: 2, busy: 2, waiting: 50 }],
      }),
      now: async () => (await inner.now()) - 60_000,
    }))
    await using triarch = new Triarch({ store, notices: false, health: { cache: 0 } })
    const look = async (name: string) => (await triarch.health.check({ checks: [name] })).checks[0]
    expect((await look('disk'))?.status).toBe('critical')
    free = 500 * 1024 * 1024
    expect(await look('disk')).toMatchObject({ status: 'warning', message: '500 MiB are free beside "/data"' })
    free = 1e12
    expect((await look('disk'))?.status).toBe('ok')
    expect(await look('pool')).toMatchObject({ status: 'warning', message: '50 calls wait for connections of "calls"' })
    expect(await look('clock')).toMatchObject({ status: 'warning', message: expect.stringContaining('ahead') })
  })
})
