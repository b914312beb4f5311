import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { LONGEST_ANSWER } from '../../triarch/src/store/index.ts'
import type { StateStore } from '../../triarch/src/store/port.ts'
import { advancing, handClock, turn } from '../../triarch/test/store/clock.ts'
import { list } from '../../triarch/test/store/listing.ts'
import { newTask, released, snapshot, stopped, transition, workRequest } from '../../triarch/test/store/samples.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { lifeline } from '../src/lifeline.ts'
import { migrations } from '../src/migrations/index.ts'
import { settingsOf } from '../src/options.ts'
import { PostgresStore } from '../src/store.ts'
import { type Counting, counting } from './counting.ts'
import { type Answer, type Asked, type Puppet, puppet, spoken } from './puppet.ts'

const good = {
  version: '160002',
  standby: false,
  locks: true,
  encoding: 'UTF8',
  read_only: 'off',
  synchronous: 'on',
  isolation: 'read committed',
}
const runs = (workflows: string[], actions: string[] = []) => JSON.stringify({ workflows, actions })
const members = [
  { id: 'a', roles: '["scheduler"]', runs: runs(['flow@1']) },
  { id: 'b', roles: '["scheduler"]', runs: runs(['other@1']) },
  { id: 'c', roles: '["agent"]', runs: runs([], ['pay.charge']) },
]
const described = '{"rest":null,"unread":false,"strikes":null,"more":false}'
/** The columns of a row. */
const row = (...values: (string | number | boolean | null)[]) => [
  Object.fromEntries(values.map((value, n) => [`c${n}`, value])),
]

describe('a store on PostgreSQL', () => {
  let clock: Counting
  let server: Puppet
  let store: StateStore
  /** By the name of the statement; all else finds nothing. */
  let answers: Record<string, Answer>
  let unfit: object
  let woken: string[]

  const answer = ({ name, text }: Asked): Answer => {
    if (text.includes('server_version_num')) return [{ ...good, ...unfit }]
    if (text.includes('pg_tables')) return [{ name: 'schema_version' }, { name: 'migrations' }]
    if (text.includes('AS oldest')) return migrations.map(({ name }) => ({ name, oldest: 0 }))
    if (text.includes('SELECT id, roles, runs FROM')) return answers.members ?? members
    if (text.includes('AS untaken')) return [{ untaken: '{@z}' }]
    const given = answers[name.replace('triarch_', '')]
    return given === undefined ? [] : given
  }
  const made = (options: PostgresOptions = {}) =>
    postgres({ url: server.url, clock: 'environment', patience: 30_000, ...options })(clock)
  const settled = async () => {
    while (clock.waiting > 0) await turn()
  }
  const later = <T>(promise: Promise<T>) => advancing(clock, promise)
  const named = () => server.asked.map(({ name }) => name).filter(Boolean)
  /** The words that others hear of it. */
  const words = async (call: Promise<unknown>) => {
    const before = server.asked.length
    await call
    await settled()
    return server.asked
      .slice(before)
      .filter(({ text }) => text.includes('pg_notify'))
      .flatMap((asked) => spoken(asked).flatMap(([, words]) => words.split(' ')))
      .sort()
  }

  beforeEach(async () => {
    clock = counting(handClock())
    answers = { beat: row(true) }
    unfit = {}
    server = await puppet(answer)
    store = made()
    await store.open()
    await store.heartbeat({ id: 'n', roles: [], lease: 60_000 })
    woken = []
    store.watch?.((hints) => woken.push(...hints), true)
  })
  afterEach(async () => {
    await store.close()
    await server[Symbol.asyncDispose]()
  })

  const t = { key: 5, id: 't', epoch: 1 }
  /** Of whatever call writes a batch. */
  const commits = (given: Answer) => ({ commit: given, commit_one: given, commit_gated: given })
  const owner = (...all: Parameters<typeof row>) => commits(row(...all))
  const gates = { locks: [], unlocks: [0] }
  const ready = { ...released, ready: true }

  it.each<[what: string, row: Answer, change: Parameters<typeof transition>[1], words: string[], told: boolean]>([
    ['nothing', row('5', '{}', null), {}, [], false],
    ['a letter', row('5', '{m}', null), {}, ['@m'], false],
    ['a task that became ready', row('5', '{=flow@1}', null), {}, ['=a'], false],
    ['what it leaves to others', row('5', '{}', '{=flow@1}'), {}, ['=a'], true],
    ['a lock given back', row('5', '{m}', null, null), { gates } as never, ['@m'], true],
    ['a request', row('5', '{}', null), { work: [workRequest('t', 1)] }, ['+c'], false],
    ['a child', row('5', '{}', null), { children: [newTask('child')] }, ['=a'], false],
    ['a task given back for anybody', row('5', '{}', null), { release: ready }, ['@z'], false],
    ['a task given back', row('5', '{}', null), { release: released }, [], false],
    ['an end that nobody waits for', row('5', '{}', null), { snapshot: stopped }, [], false],
  ])('tells others of %s in a commit', async (_, given, change, expected, told) => {
    answers = commits(given)
    expect(await words(store.commit([transition(t, change)]))).toEqual(expected)
    expect(await store.commit([transition(t, change)])).toEqual([{ ok: true, key: 5, ...(told && { told }) }])
    expect(named().at(-1) === 'triarch_commit_gated').toBe(change?.gates !== undefined)
  })

  it('says of a commit that was refused no more than that', async () => {
    answers = owner('0', '{}', '{=flow@1}')
    expect(await store.commit([transition(t)])).toEqual([{ ok: false, reason: 'fenced' }])
  })

  it('tells of an end who waits for it', async () => {
    answers = owner('5', '{}', null)
    server.notify('?@1 ?@2 @n')
    while (woken.length === 0) await turn()
    expect(await words(store.commit([transition(t, { snapshot: stopped })]))).toEqual(['.t', '.t'])
    expect(await words(store.commit([transition(t, { snapshot: snapshot() })]))).toEqual([])
  })

  it.each<[owners: string, release: typeof released | null, woken: string[]]>([
    ['{NULL}', released, ['tasks']],
    ['{NULL}', null, []],
    ['{}', released, []],
    ['{NULL,=flow@1}', released, []],
  ])('wakes its own node for a task that it gave back too early: %s, %j', async (owners, release, expected) => {
    answers = owner('5', owners, null)
    await store.commit([transition(t, { release })])
    await settled()
    expect(woken).toEqual(expected)
  })

  it('asks nothing for nothing', async () => {
    const before = server.asked.length
    expect([await store.commit([]), await store.submit([]), await store.post([])]).toEqual([[], [], []])
    expect(server.asked).toHaveLength(before)
  })

  it('tells others of what is submitted, posted, and replied', async () => {
    answers = { submit: row('7'), submit_gated: row('7', '{m}', null, '{}'), post_on_terms: row('7', '{m}') }
    expect(await words(store.submit([newTask('u')]))).toEqual(['=a'])
    const gated = newTask('u', { gates: { locks: [], after: ['t'] } })
    expect(await words(store.submit([gated]))).toEqual(['@m'])
    const message = { type: 'event', name: 'go', payload: 1 } as const
    expect(await words(store.post([{ task: 't', message, control: false }]))).toEqual(['@m'])
    answers = { reply: row('1', '{m}'), pulse_work: row('alive', '{}') }
    expect(await words(store.reply([{ work: 1, node: 'n', message: message as never }]))).toEqual(['@m'])
  })

  it('tells who can act of what an operator does, if it was done', async () => {
    expect(await words(store.releaseQuarantine('t'))).toEqual([])
    answers = { releaseQuarantine: row(1), terminate: row('yes', '{m}'), truncate_history: row('no', '{m}') }
    expect(await words(store.releaseQuarantine('t'))).toEqual(['@z'])
    const end = { id: 't', at: 1, events: '[]', snapshot: stopped, posts: [] }
    expect(await words(store.terminate(end))).toEqual(['@m', '@z'])
    expect(await words(store.truncate({ ...end, after: 1, base: 1, locks: [] } as never))).toEqual(['@m', '@z'])
    expect([await store.terminate(end), await store.truncate({ ...end, after: 1, locks: [] } as never)]).toEqual([
      true,
      false,
    ])
  })

  it('tells that a node left', async () => {
    expect(await words(store.leave('m'))).toEqual(['-m', '@z'])
    expect(named()).toContain('triarch_leave')
  })

  it('tells of what nobody took, and looks itself', async () => {
    const request = { name: 'l', token: 1, limit: 5 }
    const report = '{"woken":1}'
    answers = { sweep: row(report, null, '{}', true) }
    expect(await words(store.sweep(request))).toEqual([])
    expect(woken).toEqual([])
    answers = { sweep: row(report, null, '{@m,=flow@1}', false) }
    expect(await words(store.sweep(request))).toEqual(['=a', '@m'])
    expect(woken).toEqual(['tasks', 'work', 'mail'])
    expect(await store.sweep(request)).toMatchObject({ woken: 1, schedules: false })
    answers = { sweep: row(null) }
    expect(await store.sweep({ ...request, silent: [{ id: 'x', mark: 'y' }] })).toBeNull()
  })

  it('tells of what a schedule starts', async () => {
    const write = { name: 's', expected: 1, definition: 'd', state: 's', nextAt: null, fence: null }
    answers = { write_schedule: row('7', '{m}', null) }
    expect(await words(store.writeSchedule({ ...write, tasks: [newTask('u')] }))).toEqual(['=a', '@m'])
    answers = { write_schedule: row('', '{m}', null) }
    expect(await words(store.writeSchedule({ ...write, tasks: [] }))).toEqual([])
  })

  it('says what of a node others need to know, and takes no longer than it may', async () => {
    const beat = () => server.asked.findLast(({ name }) => name === 'triarch_beat')?.values.slice(1)
    expect(server.asked.findLast(({ name }) => name === 'triarch_beat')?.values[0]).toBe(`${clock.now()}`)
    expect(beat()).toEqual(['n', '[]', '60000', null, null])
    answers = { beat: row(false) }
    const node = { id: 'n', roles: [], lease: 3_000, runs: { workflows: [], actions: [] } }
    expect(await store.heartbeat(node)).toBe(false)
    expect(beat()?.[3]).toMatch(/^\{"workflows":\[\],"actions":\[\],"own":"@[a-z0-9]+"\}$/)
    answers = { beat: '40001' }
    const began = clock.monotonic()
    await expect(later(store.heartbeat(node))).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(clock.monotonic() - began).toBeLessThan(3_000)
  })

  it('looks the more rarely the more nodes there are', async () => {
    answers = { poll: row(1, false, false, false, false, null, 10) }
    await store.poll({ node: 'n', runnable: [], actions: [], lease: 'l' })
    const first = await store.changes?.()
    clock.advance(20_000)
    expect(await store.changes?.()).toBe(first)
    clock.advance(20_000)
    expect(await store.changes?.()).not.toBe(first)
  })

  it('looks soon again where it found something', async () => {
    const alone = made({ notify: false })
    await alone.open()
    const agents = [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }]
    const found = async (call: () => Promise<unknown>) => {
      for (let n = 0; n < 8; n++) {
        clock.advance(200)
        await alone.changes?.()
      }
      const before = await alone.changes?.()
      await call()
      clock.advance(5)
      return (await alone.changes?.()) !== before
    }
    const calls = [
      () => alone.claim({ node: 'n', runnable: [], limit: 1 }),
      () => alone.inbox('n', 1),
      () => alone.takeWork({ node: 'n', agents }),
    ]
    const all: boolean[] = []
    for (const call of calls) all.push(await found(call))
    // Without a session that keeps statements they have no names.
    const message = '{"type":"event","name":"go","payload":1}'
    answers = { '': row(1, 0, 0, described) }
    all.push(await found(calls[0] as () => Promise<unknown>))
    answers = { '': row(1, 1, message) }
    all.push(await found(calls[1] as () => Promise<unknown>))
    answers = { '': row(1, 'pay', JSON.stringify(workRequest('t', 1).request), 1, null) }
    all.push(await found(calls[2] as () => Promise<unknown>))
    answers = { '': row('7') }
    all.push(await found(() => alone.submit([newTask('u')])))
    expect(all).toEqual([false, false, false, true, true, true, true])
    expect(server.asked.filter(({ text }) => text.includes('LISTEN'))).toHaveLength(1)
    expect(await words(alone.leave('n'))).toEqual([])
    await alone.close()
  })

  it('asks what it is asked', async () => {
    const calls: [call: () => Promise<unknown>, statement: string][] = [
      [() => store.schedules({ due: 1, limit: 1 }), 'schedulesDue'],
      [() => store.schedules({ name: 's', limit: 1 }), 'scheduleNamed'],
      [() => store.schedules({ after: 's', limit: 1 }), 'schedulesAfter'],
      [() => store.locks({ task: 't' }), 'locksOfTask'],
      [() => store.locks({ name: 'l' }), 'locksOfName'],
      [() => store.clearSuspicion?.(t as never) ?? Promise.resolve(), 'clearSuspicion'],
      [() => store.inbox('n', 1), 'letters_beside'],
      [
        () => store.inbox('n', 1, { bytes: 9, each: { limit: 1, bytes: 1, after: 0, skip: [] } } as never),
        'letters_each',
      ],
    ]
    for (const [call, statement] of calls) {
      await call()
      expect(named().at(-1)).toBe(`triarch_${statement}`)
    }
    expect(await store.records('t', 3, 7)).toEqual([])
    expect(server.asked.at(-1)?.values).toEqual(['t', '3', '7', `${Number.MAX_SAFE_INTEGER}`])
    await store.records('t', 3, { records: 8, bytes: 9 })
    expect(server.asked.at(-1)?.values).toEqual(['t', '3', '8', '9'])
    expect(await store.dropSchedule('s')).toBe(false)
  })

  it('gives what the server answers', async () => {
    const effect = { key: 1, node: 'n', epoch: 1, step: 1, firstStep: 1, name: 'e' }
    const bounds = { within: 1_000, signal: new AbortController().signal, isolation: 'serializable' } as const
    const gated = newTask('u', { gates: { locks: [], after: ['t'] } })
    const message = { type: 'event', name: 'go', payload: 1 } as never
    const lease = { name: 'l', token: 1, limit: 1 }
    const transaction = {
      query: async () => ({ rows: [{ answer: '7', refused: null }] }),
      getTransactionStatus: () => 'T',
    }
    const replies = [3, 2].map((work) => ({ work, node: 'n', message }))
    const write = { name: 's', expected: 1, definition: 'd', state: 's', nextAt: null, fence: null, tasks: [] }
    const calls: [statement: string, answer: Answer, call: () => Promise<unknown>, given: unknown][] = [
      [
        'submit_gated',
        row('0', null, null, '{"1":"x"}'),
        () => store.submit([gated]),
        [{ created: false, key: 0, heldBy: 'x' }],
      ],
      ['submit_gated', row('7', null, null, null), () => store.submit([gated]), [{ created: true, key: 7 }]],
      ['submit', row('7'), async () => store.submitIn(transaction, [newTask('u')]), [{ created: true, key: 7 }]],
      ['', [{ answer: '9', transaction: '7' }], () => store.effect(effect, 1_000), '9'],
      [
        '',
        [{ answer: '9', transaction: '7' }],
        () => store.transact(effect, bounds, () => '1'),
        { ok: true, answer: '9' },
      ],
      ['post_on_terms', row('0', null), () => store.post([{ task: 't', message, control: false }]), ['unknown']],
      ['nextWake', row(5), () => store.nextWake(), 5],
      [
        'letters_of',
        row(7, 5, '{"type":"event"}'),
        async () => (await store.taskInbox(5, 0, { limit: 1, bytes: 1 })).length,
        1,
      ],
      [
        'quarantine',
        row('yes'),
        () => store.quarantine({ ...t, node: 'n', at: 1, orphaned: true, record: null } as never),
        true,
      ],
      [
        'quarantine',
        row('no'),
        () => store.quarantine({ ...t, node: 'n', at: 1, orphaned: true, record: null } as never),
        false,
      ],
      ['reply', row('1,0', null), () => store.reply(replies), [false, true]],
      [
        'pulse_work',
        row('a,b', null),
        () => store.heartbeatWork(replies.map((it) => ({ ...it, message: null })) as never),
        ['b', 'a'],
      ],
      ['lead', row(3), () => store.lead({ name: 'l', node: 'n', ttl: 1 }), 3],
      [
        'heartbeats',
        row(1, 'h', 2, null),
        () => store.heartbeats('l'),
        { now: 1, nodes: [], term: { holder: 'h', left: 2 } },
      ],
      ['prune', row('{"a":1}'), () => store.prune({ ...lease, rules: [], records: 1 }), { a: 1 }],
      ['prune', row(null), () => store.prune({ ...lease, rules: [], records: 1 }), null],
      ['taskVersions', row('t', 'm', false), () => store.taskVersions(['t']), [{ id: 't', mark: 'm', ended: false }]],
      ['replay', row(1, 2, 'e'), () => store.replay('t'), [{ seq: 1, at: 2, events: 'e' }]],
      ['records', row(1, 2, 'e'), () => store.records('t', 0, 1), [{ seq: 1, at: 2, events: 'e' }]],
      ['lostRecords', row('t', 3), () => store.lostRecords([{ ...t, seq: 4 }]), [{ id: 't', last: 3 }]],
      ['counts', row(1, 2, 3, 4), async () => (await store.counts()).tasks, 1],
      ['', row(7, ...Array(24).fill(null)), async () => (await list(store, { limit: 1 })).length, 1],
      ['letters_beside', row(7, 5, '{"type":"event"}', false), async () => (await store.inbox('n', 1)).length, 1],
      [
        'take_tasks',
        row(5, 0, 0, described),
        async () => (await store.claim({ node: 'n', runnable: [], limit: 1 })).length,
        1,
      ],
      ['owned', row(5, 't', 1), () => store.owned({ node: 'n', after: 0, limit: 1 }), [t]],
      ['nodes', row('n', '[]', 1, 2, null, null), async () => (await store.nodes()).length, 1],
      ['write_schedule', row('no', null, null), () => store.writeSchedule(write), null],
    ]
    for (const [statement, answer, call, given] of calls) {
      answers = { [statement]: answer }
      expect([statement, await call()]).toEqual([statement, given])
    }
  })

  it('gives requests back that it cannot read, and only those', async () => {
    const take = () => store.takeWork({ node: 'n', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 2 }] })
    const legible = row(6, 'pay', JSON.stringify(workRequest('t', 1).request), 1, null)
    answers = { take_work: legible }
    expect(await take()).toMatchObject([{ id: 6, completeBy: 1 }])
    expect(named()).not.toContain('triarch_attempts')
    const attempts = row(7, 1, 'run', 2)
    answers = {
      take_work: [...legible, ...row(7, 'pay', 'x', 1, null)],
      attempts,
      clock: row(55),
      reply: row('1', null),
    }
    expect(await take()).toHaveLength(1)
    expect(named().slice(-4)).toEqual(['take_work', 'attempts', 'clock', 'reply'].map((it) => `triarch_${it}`))
    const said = server.asked.findLast(({ name }) => name === 'triarch_reply')?.values.at(-5)
    expect(said).toMatch(/"attempt":2,"outcome":{"kind":"withdrawn".*"endedAt":55/)
  })

  it('has a thread renew the lease of its node, within a third of it', async () => {
    const told: { type: string; error?: unknown }[] = []
    const failed = Promise.withResolvers<void>()
    const renewed = Promise.withResolvers<void>()
    answers = { lease: row(true, 5) }
    const settings = settingsOf({ url: server.url, answerWithin: 86_400_000 })
    const keeper = lifeline(systemEnvironment(), settings, {
      node: { id: 'k', roles: ['scheduler'], lease: 600, runs: { workflows: [], actions: [] } },
      ...{ stall: 60_000, quiet: true },
      report(it) {
        told.push(it)
        if (it.type === 'renewed') renewed.resolve()
        if (it.type === 'failed') failed.resolve()
      },
    })
    await renewed.promise
    expect(server.asked.findLast(({ name }) => name === 'triarch_lease')?.values).toEqual([
      'k',
      '["scheduler"]',
      '600',
      '{"workflows":[],"actions":[]}',
      null,
    ])
    answers = { lease: null }
    await failed.promise
    expect(told.find(({ type }) => type === 'failed')).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })
    await keeper?.close()
  })

  it('says so where no thread can do that', () => {
    const told: unknown[] = []
    const settings = settingsOf({ connection: { password: async () => 'x' } })
    const options = { node: { id: 'k', roles: [], lease: 300 }, stall: 1, quiet: true }
    expect(lifeline(systemEnvironment(), settings, { ...options, report: (it) => told.push(it) })).toBeNull()
    expect(told).toMatchObject([{ type: 'failed', error: { code: 'LEASE_UNGUARDED' } }])
  })

  it('leaves the time to the server, unless its environment has another', async () => {
    const other = made({ clock: 'server' })
    await other.open()
    await other.now()
    expect(server.asked.findLast(({ name }) => name === 'triarch_clock')?.values).toEqual([null])
    await other.close()
  })

  it('waits for an answer twice as long as it is patient, and not too short', () => {
    expect(made().patience).toBe(Math.max(LONGEST_ANSWER, 70_000))
    expect(made({ patience: 1_000_000 }).patience).toBe(2_010_000)
    expect(made({ patience: 0 }).patience).toBe(LONGEST_ANSWER)
  })

  it('that is not open, or no longer, refuses every call', async () => {
    const other = made()
    const effect = { key: 1, node: 'n', epoch: 1, step: 1, firstStep: 1, name: 'e' }
    const bounds = { within: 1_000, signal: new AbortController().signal, isolation: 'serializable' } as const
    const refused = async (of: StateStore) => {
      for (const call of [
        () => of.now(),
        () => of.effect(effect, 1_000),
        () => of.transact(effect, bounds, () => '1'),
        () => of.task('t'),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      }
    }
    await refused(other)
    await store.task('t')
    await store.effect(effect, 1_000).catch(() => undefined)
    await store.close()
    await refused(store)
    await server.opened(0)
  })

  it('opens no more connections than it needs, and none to a server that will not do', async () => {
    await server.opened(2) // for notifications and for leases
    unfit = { standby: true }
    await expect(made({ patience: 0 }).open()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    await expect(made().migrate({ dryRun: true, patience: 0 })).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    await server.opened(2)
    unfit = {}
    expect(await made().migrate({ dryRun: true, patience: 0 })).toEqual({ pending: [], done: [] })
    await server.opened(2)
    expect(made().keepAlive?.({} as never)).toBeNull()
    expect(store.watchEnds?.(() => undefined)).toBe(false)
  })

  it.each(['server_version_num', 'pg_tables', 'LISTEN'])('gives up a server that stands still at %s', async (text) => {
    const silent = await puppet((asked) => (asked.text.includes(text) ? null : answer(asked)))
    const calls = [
      () => made({ url: silent.url, patience: 0 }).open(),
      () => made({ url: silent.url, patience: 0, migrate: 'wait' }).open(),
      () => made({ url: silent.url }).migrate({ dryRun: true, patience: 0 }),
    ]
    for (const [n, call] of calls.slice(0, text === 'LISTEN' ? 1 : 3).entries()) {
      const refused = expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await silent.heard(text, n)
      clock.advance(5_000)
      await refused
    }
    await silent.opened(0)
    await silent[Symbol.asyncDispose]()
  })

  it('migrates when it is asked to, and only then', async () => {
    const change = { name: '9998', sql: '-- nothing' }
    const asked = answer
    const others = await puppet((it) =>
      it.text.includes('AS oldest') ? done.map((name) => ({ name, oldest: 0 })) : asked(it),
    )
    const done = migrations.map(({ name }) => name)
    try {
      const settings = settingsOf({ url: others.url, clock: 'environment' })
      const there = new PostgresStore(clock, { ...settings, migrations: [...migrations, change] })
      const ran = () => others.asked.some(({ text }) => text.includes('-- nothing'))
      expect(await there.migrate({ dryRun: true, patience: 0 })).toEqual({ pending: ['9998'], done: [] })
      expect(ran()).toBe(false)
      const migrated = there.migrate({ dryRun: false, patience: 0 })
      await others.heard('migrations (name')
      done.push('9998')
      expect(await migrated).toEqual({ pending: ['9998'], done: ['9998'] })
      expect(ran()).toBe(true)
      await expect(
        made({ url: 'postgres://127.0.0.1:1/x' }).migrate({ dryRun: true, patience: 0 }),
      ).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      })
    } finally {
      await others[Symbol.asyncDispose]()
    }
  })
})
