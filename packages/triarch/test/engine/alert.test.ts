import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { type AlertNotification, type AlertOptions, agent, TransientError, Triarch, workflow } from '../../src/index.ts'
import { memory } from '../../src/testing/index.ts'
import { type Stage, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

const mail = agent('mail')
const send = mail.action('send', { run: async (_: null) => 'sent' })
const letter = workflow('letter', { run: async (_: null, task) => task.run(send, null) })

type Rules = NonNullable<AlertOptions['rules']>

/** A sink that keeps what it is told. */
const sink = () => {
  const told: AlertNotification[] = []
  const send = (it: AlertNotification) => void told.push(it)
  return { told, sink: { name: 'desk', send }, news: () => told.map(({ news, name }) => `${news} ${name}`) }
}
const only = (rules: Rules): Rules => ({
  ...{ stuck: false, 'failure-rate': false, 'queue-age': false, 'no-agent': false, 'missed-schedule': false },
  ...{
    'undo-failed': false,
    quarantine: false,
    flapping: false,
    'node-lost': false,
    'breaker-open': false,
    check: false,
  },
  ...rules,
})
const names = async ({ engine }: Stage, ended = false) =>
  (await engine.triarch.alerts.list({ ended })).alerts.map(({ name, phase }) => `${phase} ${name}`)
const by = { reason: 'a test', actor: 'ada' }

describe('an alert', () => {
  it('is told once to each sink and to on(alert) when its condition has held for long enough, and so is its end', async () => {
    const desk = sink()
    let well = false
    const rules = only({ check: { for: '1m', keep: '2m', repeat: false } })
    await using s = await stage({
      ...{ alerts: { rules, sinks: [desk.sink], retention: '1h' }, health: { checks: { bank: () => well } } },
    })
    await s.advance('20s')
    expect(await names(s)).toEqual(['pending check:bank'])
    expect(desk.told).toEqual([])
    await s.advance('10m')
    expect(await names(s)).toEqual(['firing check:bank'])
    well = true
    await s.advance('1m')
    expect(desk.news()).toEqual(['raised check:bank'])
    await s.advance('3m')
    expect(desk.news()).toEqual(['raised check:bank', 'ended check:bank'])
    expect(new Set(desk.told.map(({ opening }) => opening)).size).toBe(1)
    expect(s.alerts.map(({ code, alert }) => `${code} ${alert}`)).toEqual([
      'ALERT_RAISED check:bank',
      'ALERT_ENDED check:bank',
    ])
    expect([await names(s), await names(s, true)]).toEqual([[], ['ended check:bank']])
    await s.advance('2h')
    expect(await names(s, true)).toEqual([])
  })

  it('is found by each rule, by the name of what it is about', async () => {
    const rules = only({
      ...{ 'queue-age': {}, 'no-agent': {}, 'missed-schedule': {}, stuck: { after: '10m' } },
      'breaker-open': {},
    })
    await using s = await stage({ workflows: [letter], alerts: { rules } })
    await s.submit(letter, null, { id: 'l-1' })
    await s.submit(letter, null, { id: 'l-2' })
    await s.engine.tasks.get('l-2').pause()
    await s.settle()
    await s.advance('20m')
    expect((await names(s)).sort()).toEqual([
      'firing no-agent:mail',
      'firing queue-age:mail',
      'firing stuck:l-1',
      'firing stuck:l-2',
    ])
  })

  it('tells of an undo that failed', async () => {
    const sad = agent('sad')
    const keep = sad.action('keep', {
      run: async (_: null) => 1,
      undoRetry: { attempts: 1 },
      undo: async () => {
        throw new Error('no way back')
      },
    })
    const trip = workflow('trip', {
      rescue: 'compensate',
      run: async (_: null, task) => {
        await task.run(keep, null)
        throw new Error('over')
      },
    })
    await using s = await stage({ workflows: [trip], agents: [sad], alerts: { rules: only({ 'undo-failed': {} }) } })
    await s.submit(trip, null, { id: 't-1' })
    await s.advance('1h')
    expect(await names(s)).toEqual(['firing undo-failed:t-1'])
  })

  it('tells of a task that was quarantined', async () => {
    using file = scratch()
    const waits = workflow('waits', {
      run: async (_: null, task) => {
        await task.run('first', () => 1)
        await task.waitForSignal('go')
      },
    })
    const before = await stage({ store: file.store, workflows: [waits] })
    await before.submit(waits, null, { id: 'w-1' })
    await before.leave()
    using database = new DatabaseSync(file.path)
    database.exec("UPDATE triarch_history SET events = '[{' WHERE seq = 2")
    const alerts = { rules: only({ quarantine: {} }) }
    const s = await stage({ store: file.store, workflows: [waits], alerts })
    await s.engine.tasks.get('w-1').signal('go')
    await s.advance('1m')
    expect(await names(s)).toEqual(['firing quarantine:w-1'])
    await s.kill()
  })

  it('tells of a circuit breaker that is open, until it is not', async () => {
    const bank = agent('bank', { circuitBreaker: { minimum: 2, open: '10m', openMax: '10m' } })
    let ill = true
    const pay = bank.action('pay', {
      retry: { attempts: 100, backoff: { initial: '1s', max: '1s' } },
      run: async (_: null) => {
        if (ill) throw new TransientError('ill')
      },
    })
    const order = workflow('order', { run: (_: null, task) => task.run(pay, null) })
    const alerts = { rules: only({ 'breaker-open': { keep: 1 } }) }
    await using s = await stage({ workflows: [order], agents: [bank], alerts })
    for (const id of ['o-1', 'o-2', 'o-3', 'o-4']) await s.submit(order, null, { id })
    await s.advance('1m')
    expect(await names(s)).toEqual(['firing breaker-open:bank'])
    ill = false
    await s.advance('30m')
    expect([await names(s), await names(s, true)]).toEqual([[], ['ended breaker-open:bank']])
  })

  it('tells of a schedule that was due and started nothing, be it that each try to start it fails', async () => {
    let ill = false
    const store = seen(memory(), (inner) => ({
      writeSchedule: (write) => {
        if (ill && write.tasks.length > 0) throw new Error('it cannot be started')
        return inner.writeSchedule(write)
      },
    }))
    const nothing = workflow('nothing', { run: async () => undefined })
    const alerts = { rules: only({ 'missed-schedule': { keep: 1 } }) }
    const s = await stage({ store, workflows: [nothing], sweep: '5s', alerts, onError: () => undefined })
    await s.engine.triarch.schedules.get('often').register({ workflow: nothing, input: null, every: '10s' })
    await s.advance('5m')
    expect(await names(s)).toEqual([])
    ill = true
    await s.advance('10m')
    expect(await names(s)).toEqual(['firing missed-schedule:often'])
    ill = false
    await s.advance('10m')
    expect([await names(s), await names(s, true)]).toEqual([[], ['ended missed-schedule:often']])
    await s.kill()
  })

  it('tells of a workflow of which more fails than may, where tasks are counted', async () => {
    const ill = workflow('ill', {
      run: async (_: null) => {
        throw new Error('ill')
      },
    })
    const rules = only({ 'failure-rate': { least: 3 } })
    await using s = await stage({ workflows: [ill], statistics: true, sweep: '5s', alerts: { rules } })
    for (const id of ['i-1', 'i-2', 'i-3']) await s.submit(ill, null, { id })
    await s.advance('2m')
    expect(await names(s)).toEqual(['firing failure-rate:ill'])
  })

  it('tells of a machine on which nodes die again and again', async () => {
    const rules = only({ flapping: { least: 2 } })
    await using s = await stage({ sweep: '5s', lease: '10s', alerts: { rules } })
    const place = { host: 'rack-1', boot: 'b', space: 's', pid: 1, born: 'x' }
    for (const id of ['n-1', 'n-2']) {
      await s.store.heartbeat({ id, roles: ['agent'], lease: 20_000, place })
      await s.advance('1m')
    }
    expect(await names(s)).toEqual(['firing flapping:rack-1'])
  })

  it('names a machine where a node died and none has started since, and ends when one starts there', async () => {
    const rules = only({ 'node-lost': { for: '1m', keep: 0 } })
    await using s = await stage({ sweep: '5s', lease: '10s', alerts: { rules } })
    const place = { host: 'rack-1', boot: 'b', space: 's', pid: 1, born: 'x' }
    await s.store.heartbeat({ id: 'n-1', roles: ['agent'], lease: 20_000, place })
    await s.advance('4m')
    expect(await names(s)).toEqual(['firing node-lost:rack-1'])
    await s.store.heartbeat({ id: 'n-2', roles: ['agent'], lease: 3_600_000, place })
    await s.advance('1m')
    expect(await names(s)).toEqual([])
  })

  it('counts the deaths that a process found which started again on the same machine', async () => {
    const rules = only({ flapping: { least: 2 } })
    await using s = await stage({ sweep: '5s', lease: '10s', alerts: { rules } })
    const place = { host: 'rack-1', boot: 'b', space: 's', pid: 1, born: 'x' }
    const at = s.engine.now().getTime()
    const buried = ['n-1', 'n-2'].map((id) => ({ id, host: 'rack-1', at }))
    const runs = { workflows: [], actions: [], buried }
    await s.store.heartbeat({ id: 'n-3', roles: ['agent'], lease: 3_600_000, place, runs })
    await s.advance('1m')
    expect(await names(s)).toEqual(['firing flapping:rack-1'])
  })

  it('of more than a hundred subjects is one for the rest', async () => {
    const rules = only({ stuck: { after: '1m' } })
    await using s = await stage({ workflows: [letter], alerts: { rules } })
    for (let index = 0; index < 103; index++) {
      const { id } = await s.submit(letter, null)
      await s.engine.tasks.get(id).pause()
    }
    await s.advance('3m')
    const { alerts } = await s.engine.triarch.alerts.list({ limit: 1_000 })
    expect(alerts.length).toBe(101)
    expect(alerts.find(({ subject }) => subject === '*')?.message).toContain('3 more')
  })

  it('belongs to who acknowledged it, is silent for as long as it was told to be, and stays ended while it still holds', async () => {
    const desk = sink()
    const rules = only({ check: { for: 0, repeat: '10m' } })
    await using s = await stage({ alerts: { rules, sinks: [desk.sink] }, health: { checks: { bank: () => false } } })
    const { triarch } = s.engine
    const alert = triarch.alerts.get('check:bank')
    await s.advance('11m')
    expect(desk.news()).toEqual(['raised check:bank', 'repeated check:bank'])
    const until = new Date(s.engine.now().getTime() + 3_600_000)
    expect((await alert.silence({ ...by, until })).silence).toMatchObject({ actor: 'ada', until })
    await s.advance('30m')
    expect(desk.told.length).toBe(2)
    await s.advance('31m')
    expect(desk.told.length).toBe(3)
    expect((await alert.acknowledge(by)).owner).toMatchObject(by)
    await s.advance('1h')
    expect(desk.told.length).toBe(3)
    expect(await alert.end(by)).toMatchObject({ phase: 'ended', endedBy: by })
    await s.advance('1h')
    expect(desk.news().slice(3)).toEqual(['ended check:bank'])
    await expect(alert.acknowledge(by)).rejects.toMatchObject({ code: 'UNKNOWN_ALERT' })
    const acts = (await triarch.audit.list({ subject: 'alert:check:bank' })).entries
    expect(acts.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
      ...['ada alert.end', 'ada alert.acknowledge', 'ada alert.silence'],
    ])
  })

  it('that there is not is unknown, and options that are none are refused', async () => {
    using file = scratch()
    const make = (alerts: unknown) => () => new Triarch({ store: file.store, alerts: alerts as never })
    await using triarch = make(true)()
    await expect(triarch.alerts.get('no:thing').info()).rejects.toMatchObject({ code: 'UNKNOWN_ALERT' })
    await expect(triarch.alerts.list({ limit: 0 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(triarch.alerts.get('a').silence({ reason: 'x' } as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
    const send = () => undefined
    const wrong = [
      ...[{ rules: { other: {} } }, { rules: { stuck: { after: 'soon' } } }, { rules: { stuck: { above: 2 } } }],
      ...[{ rules: { stuck: { severity: 'bad' } } }, { sinks: [{ name: 'a b', send }] }, { sinks: [{ name: 'a' }] }],
      ...[{ sinks: [{ name: 'log', send }] }, { sinks: {} }, { every: 0 }, { only: 1 }],
      ...[{ group: 0 }, { group: '2h' }, { sinks: [{ name: 'a', send, quiet: { from: '22:00', to: '7' } }] }],
    ]
    for (const options of wrong) expect(make(options), JSON.stringify(options)).toThrow(/alerts/)
  })
})

describe('a rule, a check or a sink of alerts', () => {
  it('that hangs or throws keeps no other from its work', async () => {
    const desk = sink()
    const errors: string[] = []
    const trouble = () => ({ schedules: () => new Promise<never>(() => undefined) })
    const sinks = [
      { name: 'hangs', send: () => new Promise(() => undefined) },
      { name: 'throws', send: () => { throw new Error('no pager') } }, // biome-ignore format: a row
      desk.sink,
    ]
    const checks = { bank: () => false, hangs: () => new Promise<boolean>(() => undefined) }
    const s = await stage({
      ...{ store: seen(memory(), trouble), health: { checks } },
      alerts: { rules: only({ check: { for: 0 }, 'missed-schedule': {}, 'no-agent': {} }), sinks },
      onError: (error: unknown) => errors.push(`${error}`),
    })
    await s.advance('5m')
    expect(desk.news().sort()).toEqual(['raised check:bank', 'raised check:hangs'])
    expect(errors.join()).toMatch(/missed-schedule/)
    expect(errors.join()).toMatch(/"throws" failed/)
    expect(errors.join()).toMatch(/"hangs" failed/)
    await s.kill()
  })

  it('that failed is told again, under the same id, and not for ever', async () => {
    const ids: string[] = []
    let well = false
    const pager = {
      name: 'pager',
      send: ({ id }: AlertNotification) => {
        ids.push(id)
        if (!well) throw new Error('busy')
      },
    }
    const rules = only({ check: { for: 0, repeat: false } })
    const alerts = { rules, sinks: [pager] }
    await using s = await stage({ alerts, health: { checks: { bank: () => false } }, onError: () => undefined })
    await s.advance('2m')
    expect(ids.length).toBeGreaterThan(1)
    well = true
    await s.advance('10m')
    const tried = ids.length
    await s.advance('1h')
    expect([new Set(ids).size, ids.length]).toEqual([1, tried])
    well = false
    await s.engine.triarch.alerts.get('check:bank').end(by)
    await s.advance('10h')
    expect(ids.length - tried).toBe(10)
    // Who listens to alerts of the process hears of what the pager never took.
    const given = s.alerts.filter(({ code }) => code === 'ALERT_UNDELIVERED')
    expect(given).toMatchObject([{ alert: 'check:bank', cause: 'pager', message: expect.stringContaining('busy') }])
  })

  it('is tried by hand, and says what came of it', async () => {
    const desk = sink()
    const sinks = [desk.sink, { name: 'ill', send: () => Promise.reject(new Error('no route')) }]
    await using s = await stage({ alerts: { sinks } })
    const { triarch } = s.engine
    const ill = { sink: 'ill', ok: false, ms: 0, problem: 'no route' }
    expect(await triarch.alerts.test({ sink: 'desk', ...by })).toEqual([{ sink: 'desk', ok: true, ms: 0 }])
    expect(await triarch.alerts.test({ sink: 'ill' })).toEqual([ill])
    expect(desk.told.map(({ message }) => message)).toEqual(['ada tries the sink desk'])
    const all = await triarch.alerts.test()
    expect(all.map(({ sink, ok }) => `${sink} ${ok}`)).toEqual(['log true', 'desk true', 'ill false'])
    expect(s.alerts.map(({ alert }) => alert)).toEqual(['test:test'])
    const { entries } = await triarch.audit.list({ action: 'alert.test' })
    expect(entries.map(({ actor, subject }) => `${actor} ${subject}`)).toEqual([
      ...['operator sink:*', 'operator sink:ill', 'ada sink:desk'],
    ])
    for (const wrong of [{ sink: 'other' }, { only: 1 }, { actor: 1 }, null])
      await expect(triarch.alerts.test(wrong as never)).rejects.toThrow()
    using file = scratch()
    await using nobody = new Triarch({ store: file.store })
    expect(await nobody.alerts.test()).toEqual([])
    expect(desk.news()).toEqual(['test test:test', 'test test:test'])
  })
})

describe('alerts over several processes', () => {
  it('outlive the leader: whoever leads next goes on with them, and tells nobody twice', async () => {
    using file = scratch()
    const desk = sink()
    const alerts = { rules: only({ check: { for: '1m', repeat: false as const } }), sinks: [desk.sink] }
    const options = {
      store: file.store,
      lease: '10s' as const,
      sweep: '1s' as const,
      alerts,
      health: { checks: { bank: () => false } },
    }
    const first = await stage(options)
    await first.advance('2m')
    const [before] = (await first.engine.triarch.alerts.list()).alerts
    const { environment } = first.engine
    await first.kill()
    await using second = await stage({ ...options, environment })
    await second.advance('5m')
    const [after] = (await second.engine.triarch.alerts.list()).alerts
    expect(after?.id).toBe(before?.id)
    expect(desk.news()).toEqual(['raised check:bank'])
  })
})
