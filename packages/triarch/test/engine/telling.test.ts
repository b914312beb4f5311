import { describe, expect, it } from 'vitest'
import type { AlertNotification, AlertOptions, AlertSink, QuietHours } from '../../src/index.ts'
import { memory } from '../../src/testing/index.ts'
import { never, type Stage, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** What is well, by its name: a rule has an alert for each that is not. */
const watched = ['a', 'b', 'c', 'd']
const world = (given: { group?: string; quiet?: QuietHours; severity?: 'critical' } = {}) => {
  const well = new Set(watched)
  const told: { at: string; said: AlertNotification }[] = []
  const clock: { now: () => Date } = { now: () => new Date(0) }
  const pager: AlertSink = {
    name: 'pager',
    send: (said) => void told.push({ at: clock.now().toISOString().slice(11, 19), said }),
    ...(given.quiet && { quiet: given.quiet }),
  }
  const off = { stuck: false, 'failure-rate': false, 'queue-age': false, 'no-agent': false } as const
  const also = {
    'missed-schedule': false,
    'undo-failed': false,
    quarantine: false,
    flapping: false,
    'node-lost': false,
  } as const
  const terms = { for: 0, keep: '1m', repeat: '2h', ...(given.severity && { severity: given.severity }) } as const
  const alerts = {
    rules: { ...off, ...also, 'breaker-open': false, check: terms },
    sinks: [pager],
    ...(given.group && { group: given.group as '30s' }),
    // Nights are long.
    ...(given.quiet && { every: '5m' as const }),
  } satisfies AlertOptions
  const slow = given.quiet ? ({ sweep: '1m', poll: '1m', lease: '10m' } as const) : {}
  const checks = Object.fromEntries(watched.map((name) => [name, () => well.has(name)]))
  return {
    ...{ well, told, options: { alerts, health: { checks }, ...slow } },
    watch: (s: Stage) => {
      clock.now = () => s.engine.now()
    },
    said: () => told.map(({ said: { news, name, group } }) => `${news} ${group ? group.count : 1} ${name}`),
  }
}

/** Goes on to that time of the day. */
async function until(s: Stage, time: string): Promise<void> {
  const now = s.engine.now().getTime()
  const day = 86_400_000
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  const wanted = (hour * 60 + minute) * 60_000
  await s.advance((((wanted - now) % day) + day) % day || day)
}

describe('alerts that are told as a group', () => {
  it('are one message to each sink, no later than the window of the first', async () => {
    const it = world({ group: '1m' })
    await using s = await stage(it.options)
    it.watch(s)
    const from = s.engine.now().getTime()
    it.well.delete('a')
    await s.advance('20s')
    for (const name of ['b', 'c']) it.well.delete(name)
    await s.advance('10m')
    expect(it.said()).toEqual(['raised 3 check:*'])
    const [{ said } = expect.fail('nothing was told')] = it.told
    expect(said.group?.alerts.map(({ name }) => name)).toEqual(['check:a', 'check:b', 'check:c'])
    expect(said.message).toBe('3 alerts of check: a, b, c')
    // Found by the look after 15 s.
    expect(said.at.getTime()).toBe(from + 15_000)
    expect(it.told[0]?.at).toBe(new Date(from + 75_000).toISOString().slice(11, 19))
    expect(s.alerts.map(({ alert }) => alert)).toEqual(['check:*'])
    it.well.delete('d')
    await s.advance('10m')
    for (const name of watched) it.well.add(name)
    await s.advance('10m')
    expect(it.said()).toEqual(['raised 3 check:*', 'raised 1 check:d', 'ended 4 check:*'])
  })

  it('are told with what an operator ends meanwhile, in order', async () => {
    const it = world({ group: '10m' })
    await using s = await stage(it.options)
    for (const name of ['a', 'b']) it.well.delete(name)
    await s.advance('1m')
    await s.engine.triarch.alerts.get('check:a').end({ reason: 'a test' })
    await s.advance('1m')
    expect(it.said()).toEqual(['raised 2 check:*', 'ended 1 check:a'])
  })

  it('are one message also where the leader dies while they wait', async () => {
    using file = scratch()
    const it = world({ group: '5m' })
    const options = { ...it.options, store: file.store, lease: '10s' as const, sweep: '1s' as const }
    const first = await stage(options)
    it.well.delete('a')
    await first.advance('1m')
    const { environment } = first.engine
    await first.kill()
    await using second = await stage({ ...options, environment })
    it.well.delete('b')
    await second.advance('10m')
    expect(it.said()).toEqual(['raised 2 check:*'])
  })

  it('are one message where the leader dies when they were just made one', async () => {
    using file = scratch()
    const it = world({ group: '1m' })
    const options = { ...it.options, lease: '10s' as const, sweep: '1s' as const }
    let made = 0
    const store = seen(file.store, (inner) => ({
      settleAlertPost: (settlement) => {
        if (settlement.next === null) return never()
        made++
        return inner.settleAlertPost(settlement)
      },
    }))
    const first = await stage({ ...options, store })
    for (const name of ['a', 'b']) it.well.delete(name)
    await first.advance('2m')
    expect([it.said(), made > 0]).toEqual([[], true])
    const { environment } = first.engine
    await first.kill()
    await using second = await stage({ ...options, store: file.store, environment })
    await second.advance('10m')
    expect(it.said()).toEqual(['raised 2 check:*'])
  })

  it('are tried again as the same message', async () => {
    const it = world({ group: '30s' })
    const ids: string[] = []
    const ill: AlertSink = {
      name: 'ill',
      send: ({ id, group }) => {
        ids.push(`${id} ${group?.count}`)
        if (ids.length < 3) throw new Error('busy')
      },
    }
    const alerts = { ...it.options.alerts, sinks: [ill] }
    await using s = await stage({ ...it.options, alerts, onError: () => undefined })
    for (const name of ['a', 'b']) it.well.delete(name)
    await s.advance('1m')
    it.well.delete('c')
    await s.advance('10m')
    expect([new Set(ids.slice(0, 3)).size, ids[0]?.endsWith(' 2'), ids.length]).toEqual([1, true, 4])
  })
})

describe('a sink that has quiet hours', () => {
  const quiet = { from: '22:00', to: '07:00', timeZone: 'Europe/Vienna' } as const

  it('hears after them of what came in them and has not ended; others hear at once', async () => {
    const it = world({ quiet })
    await using s = await stage(it.options)
    it.watch(s)
    await until(s, '20:00')
    it.well.delete('d')
    await s.advance('10m')
    const known = it.said()
    expect(known).toEqual(['raised 1 check:d'])
    await until(s, '22:00')
    it.well.delete('a')
    it.well.delete('b')
    await s.advance('1h')
    it.well.add('a')
    it.well.add('d')
    await until(s, '04:00')
    expect(s.alerts.filter(({ alert }) => alert === 'check:a').map(({ code }) => code)).toEqual([
      'ALERT_RAISED',
      'ALERT_ENDED',
    ])
    await until(s, '12:00')
    const after = it.told.filter(({ at }) => at < '12:00' && at > '04:00')
    expect(
      after
        .map(({ said }) => `${said.news} ${said.name}`)
        .slice(0, 2)
        .sort(),
    ).toEqual(['ended check:d', 'raised check:b'])
    expect(it.said().filter((said) => said.endsWith('check:a'))).toEqual([])
    // 07:00 in Vienna is 05:00 or 06:00 by UTC.
    expect(after[0]?.at).toMatch(/^0[56]:00:/)
  })

  it('hears in them of what may not wait', async () => {
    const it = world({ quiet: { ...quiet, except: 'critical' }, severity: 'critical' })
    await using s = await stage(it.options)
    await until(s, '23:00')
    it.well.delete('a')
    await s.advance('10m')
    expect(it.said()).toEqual(['raised 1 check:a'])
  })

  it('hears of all that it slept through as a group, whoever leads then', async () => {
    using file = scratch()
    const it = world({ quiet, group: '30s' })
    const options = { ...it.options, store: file.store }
    const first = await stage(options)
    await until(first, '23:00')
    for (const name of ['a', 'b']) it.well.delete(name)
    await first.advance('1h')
    it.well.delete('c')
    await first.advance('1h')
    expect(it.said()).toEqual([])
    const { environment } = first.engine
    await first.kill()
    await using second = await stage({ ...options, environment })
    await until(second, '10:00')
    expect(it.said()[0]).toBe('raised 3 check:*')
    expect(it.said().filter((said) => said.startsWith('raised'))).toHaveLength(1)
  })

  it('is not told after them of what an operator silenced in them, until that is over', async () => {
    const it = world({ quiet })
    await using s = await stage(it.options)
    await until(s, '23:00')
    it.well.delete('a')
    await s.advance('1h')
    const silent = new Date(s.engine.now().getTime() + 12 * 3_600_000)
    await s.engine.triarch.alerts.get('check:a').silence({ reason: 'a test', until: silent })
    await s.advance('11h')
    expect(it.said()).toEqual([])
    await s.advance('2h')
    expect(it.said()[0]).toBe('raised 1 check:a')
  })

  it('is tried by hand all the same', async () => {
    const it = world({ quiet: { from: '00:00', to: '23:59' } })
    await using s = await stage({ ...it.options, store: memory() })
    await until(s, '12:00')
    expect(await s.engine.triarch.alerts.test({ sink: 'pager' })).toMatchObject([{ ok: true }])
    expect(it.said()).toEqual(['test 1 test:test'])
  })
})
