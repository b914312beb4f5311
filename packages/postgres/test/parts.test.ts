import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { TriarchError } from '../../triarch/src/index.ts'
import { listingOf } from '../../triarch/src/store/listing.ts'
import type { NewTask, Transition } from '../../triarch/src/store/port.ts'
import { handClock } from '../../triarch/test/store/clock.ts'
import { type ListChoice, queryOf } from '../../triarch/test/store/listing.ts'
import { creation, newTask, released, snapshot, transition, workRequest } from '../../triarch/test/store/samples.ts'
import { answerOf, elements, isUnnamed, newsOf, number, postOutcomes, readyOf } from '../src/answer.ts'
import { booleans, integers, texts } from '../src/arrays.ts'
import { BlockedCalls } from '../src/blocked-calls.ts'
import { claimsOf, messagesOf, sharesOf } from '../src/claim.ts'
import { commitArguments, commitOutcomes, gatesOfBatch } from '../src/commit.ts'
import { configOf, goodbye, type Role } from '../src/connect.ts'
import { byNode } from '../src/entries.ts'
import { blocked, isBlocked, ruleOf, sqlStateOf, storeError, tooCostly } from '../src/failure.ts'
import { listStatement } from '../src/list.ts'
import { type News, Tally } from '../src/news.ts'
import { NodeDirectory } from '../src/node-directory.ts'
import { settingsOf } from '../src/options.ts'
import { submitIn } from '../src/outer.ts'
import { patiently } from '../src/patience.ts'
import { PollInterval } from '../src/poll-interval.ts'
import { heartbeatsOf, nodeOf, TASK_COLUMNS } from '../src/reads.ts'
import { scheduleOutcomes } from '../src/schedule.ts'
import { gatesOfTask, gatesOfTasks, submitOutcomes, tagsText } from '../src/submit.ts'

const turns = async (count = 5) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}
/** As Node gives it for a name with several addresses. */
const many = (errors: Error[]) => Object.assign(new AggregateError(errors, 'all'), { message: '' })
const hex = (buffer: Buffer) =>
  buffer
    .toString('hex')
    .replace(/(.{8})/g, '$1 ')
    .trim()

describe('an array in binary form', () => {
  it('has a header, and each element after its length', () => {
    expect(hex(integers([]))).toBe('00000000 00000001 00000014')
    expect(hex(integers([1, null, undefined, -2, 2 ** 40 + 3]))).toBe(
      '00000001 00000001 00000014 00000005 00000001 00000008 00000000 00000001 ffffffff ffffffff 00000008 ffffffff fffffffe 00000008 00000100 00000003',
    )
    expect(hex(texts([]))).toBe('00000000 00000001 00000019')
    expect(hex(texts(['ab', null, undefined, '', 'é']))).toBe(
      '00000001 00000001 00000019 00000005 00000001 00000002 6162ffff ffffffff ffff0000 00000000 0002c3a9',
    )
    expect(hex(booleans([]))).toBe('00000000 00000001 00000010')
    expect(hex(booleans([true, false]))).toBe('00000001 00000001 00000010 00000002 00000001 00000001 01000000 0100')
  })

  it('that is empty is made once', async () => {
    vi.resetModules()
    const { booleans, integers, texts } = await import('../src/arrays.ts')
    const empty = [booleans([]), integers([]), texts([])].map(hex)
    expect(empty).toEqual(['10', '14', '19'].map((type) => `00000000 00000001 000000${type}`))
  })

  it('has whole numbers only', () => {
    for (const value of [1.5, Number.NaN, 2 ** 53]) expect(() => integers([value])).toThrow('is no whole number')
  })
})

describe('an answer', () => {
  it('is a number or a text, or there is none', () => {
    expect([number([3]), number([null]), number(['3']), number(undefined)]).toEqual([3, null, null, null])
    expect(answerOf(['x'])).toBe('x')
    expect(() => answerOf([null])).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }))
    expect(() => answerOf(undefined)).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }))
  })

  it('says what became of letters', () => {
    expect(postOutcomes('7,0,-1,-2')).toEqual(['posted', 'unknown', 'unfit', 'full'])
  })

  it('names who is to be told', () => {
    const row = [1, '{a,NULL,"=w@1",!w@2,b}', '{c}'] as const
    expect([...newsOf(row)]).toEqual([
      { mail: 'a' },
      { tasks: 'w@1', control: false },
      { tasks: 'w@2', control: true },
      { mail: 'b' },
    ])
    expect([...newsOf(row, 2)]).toEqual([{ mail: 'c' }])
    expect([...newsOf(undefined)]).toEqual([])
  })

  it.each([
    ['{NULL}', true],
    ['{a,NULL}', true],
    ['{NULL,=w@1}', false],
    ['{NULL,!w@1}', false],
    ['{a}', false],
    ['{}', false],
    [null, false],
  ])('%s leaves tasks unnamed: %s', (names, unnamed) => {
    expect(isUnnamed([1, names])).toBe(unnamed)
  })

  it('is taken apart into its elements', () => {
    expect([elements('{a,"b c",d}'), elements('{}'), elements(null)]).toEqual([['a', 'b c', 'd'], [], []])
  })

  it('tells of tasks that may be claimed at once', () => {
    const gated: Partial<NewTask> = { gates: { locks: [], after: [] } }
    expect(readyOf([newTask('a'), newTask('b', { startAt: 5, workflow: 'late' }), newTask('c', gated)])).toEqual([
      { tasks: 'flow@1' },
    ])
  })

  it('says what became of submissions', () => {
    expect(submitOutcomes('7,-8')).toEqual([
      { created: true, key: 7 },
      { created: false, key: 8 },
    ])
    expect(submitOutcomes('0,5', '{"1":"x"}')).toEqual([
      { created: false, key: 0, heldBy: 'x' },
      { created: true, key: 5 },
    ])
  })
})

describe('what a submission asks for', () => {
  const gates = { locks: [{ step: 0, name: 'k', ifHeld: 'queue' as const }], after: ['x'] }

  it('has gates only where tasks have some', () => {
    expect(gatesOfTask(newTask('a'), { of: 1 })).toEqual([])
    expect(gatesOfTask(newTask('a', { gates }), { of: 2, parent: 'p', step: 3 })).toEqual([
      { op: 'create', of: 2, parent: 'p', step: 3, id: 'a', ...gates, at: newTask('a').at },
    ])
    expect(gatesOfTasks([newTask('a')])).toBeNull()
    expect(JSON.parse(gatesOfTasks([newTask('a'), newTask('b', { gates })]) ?? '')).toMatchObject([{ of: 2, id: 'b' }])
  })

  it('has tags only where there are some', () => {
    expect([tagsText(newTask('a')), tagsText(newTask('a', { tags: { x: 'y' } }))]).toEqual([null, '{"x":"y"}'])
  })
})

describe('entries of nodes', () => {
  it('are sorted out by node, each in the order of its requests, and know their place', () => {
    const entry = (node: string, work: number) => ({ node, work, message: null })
    const all = [entry('a', 5), entry('b', 2), entry('a', 3)]
    expect([...byNode(all)].map(([node, own]) => [node, own.map(({ place }) => place)])).toEqual([
      ['a', [2, 0]],
      ['b', [1]],
    ])
  })
})

describe('news', () => {
  const tally = (...news: News[]) => {
    const all = new Tally()
    for (const one of news) all.add(one)
    return all
  }

  it('are counted by whom they are for', () => {
    const all = tally(
      { mail: 'a' },
      { ended: 't' },
      { left: 'b' },
      { work: 'x' },
      { work: 'x' },
      { tasks: 'w' },
      { tasks: 'w', control: true },
      { tasks: 'w' },
    )
    expect([[...all.mail], [...all.ended], [...all.left]]).toEqual([['a'], ['t'], ['b']])
    expect([[...all.work], [...all.tasks]]).toEqual([
      [['x', 2]],
      [
        ['=w', 2],
        ['!w', 1],
      ],
    ])
    expect([all.unknown, all.addresses, all.empty]).toEqual([false, true, false])
  })

  it('of what was overlooked are for all who can act', () => {
    const all = tally({ overlooked: ['@a', '+x', '=w', '!v'] })
    expect([[...all.mail], [...all.work], [...all.tasks]]).toEqual([
      ['a'],
      [['x', Infinity]],
      [
        ['=w', Infinity],
        ['!v', Infinity],
      ],
    ])
  })

  it.each<[news: News[], addresses: boolean, empty: boolean]>([
    [[], false, true],
    [['tasks'], true, false],
    [[{ work: 'x' }], true, false],
    [[{ tasks: 'x' }], true, false],
    [[{ mail: 'a' }], true, false],
    [[{ ended: 'a' }], false, false],
    [[{ left: 'a' }], false, false],
  ])('%j have to be addressed: %s; are none: %s', (news, addresses, empty) => {
    const all = tally(...news)
    expect([all.addresses, all.empty]).toEqual([addresses, empty])
  })
})

describe('an audience', () => {
  const clock = handClock()
  const runs = (workflows: string[], actions: string[] = []) => JSON.stringify({ workflows, actions })
  const rows = [
    ['a', '["scheduler","agent"]', runs(['w@1'], ['x'])],
    ['b', '["scheduler"]', runs(['w@2'])],
    ['c', '["agent"]', runs([], ['x'])],
    ['d', '["scheduler","agent"]', null],
  ]
  const audience = (own = rows) => {
    const all = new NodeDirectory(clock)
    all.read(own)
    return all
  }

  it('is read anew after a while', () => {
    const all = new NodeDirectory(clock)
    expect([all.old, all.known]).toEqual([true, false])
    all.read(rows.slice(0, 2))
    expect([all.old, all.known]).toEqual([false, true])
    clock.advance(5_000)
    expect(all.old).toBe(false)
    clock.advance(1)
    expect([all.old, all.known]).toEqual([true, false])
  })

  const words = (all: readonly { word: string }[]) => all.map(({ word }) => word).sort()

  it('of tasks is who can run them, or never said what it can run', () => {
    expect(words(audience().tasks('w@1', false, 9, null))).toEqual(['=a', '=d'])
    expect(words(audience().tasks('w@2', false, 9, null))).toEqual(['=b', '=d'])
    expect(words(audience().tasks('w@1', false, 9, 'a'))).toEqual(['=d'])
    expect(audience().tasks('w@1', false, 1, 'a')).toEqual([])
    expect(audience().tasks('w@2', false, 1, 'a')).toHaveLength(1)
    expect(audience().tasks('w@1', false, 1, null)).toHaveLength(1)
  })

  it('of what nobody can run is everybody, if a word of an operator came for it', () => {
    expect(audience(rows.slice(0, 3)).tasks('v@1', false, 9, null)).toEqual([])
    expect(words(audience(rows.slice(0, 3)).tasks('v@1', true, 9, null))).toEqual(['=a', '=b'])
    expect(words(audience(rows.slice(0, 3)).tasks('w@1', true, 9, null))).toEqual(['=a'])
  })

  it('of requests is who hosts their action', () => {
    expect(words(audience().work('x', 9, null))).toEqual(['+a', '+c', '+d'])
    expect(words(audience().work('y', 9, null))).toEqual(['+d'])
    expect(audience().work('x', 1, 'a')).toHaveLength(1)
    expect(audience(rows.slice(1, 2)).work('x', 9, null)).toEqual([])
  })

  it.each([
    ['tasks', undefined, { 1: 1, 4: 1, 5: 2, 12: 3, 1000: 9 }],
    ['requests of agents with many slots', 100, { 1: 1, 4: 1, 5: 2, 12: 3, 1000: 9 }],
    ['requests of agents with some slots', 8, { 1: 1, 2: 1, 3: 2, 12: 6, 1000: 9 }],
    ['requests of agents with few slots', 7, { 1: 1, 2: 2, 4: 4, 12: 9 }],
    ['requests of agents that never said it', null, { 1: 1, 2: 2, 4: 4, 12: 9 }],
  ])('of %s is as many as will take them all, each as many as it has room for', (_, slots, drawn) => {
    const said = {
      workflows: ['w@1'],
      actions: ['pay.charge'],
      ...(slots && { slots: { pay: slots } }),
    }
    const many = Array.from({ length: 9 }, (_, n) => [`n${n}`, '["scheduler","agent"]', JSON.stringify(said)])
    const all = audience(many)
    const count = (of: number) =>
      slots === undefined ? all.tasks('w@1', false, of, null) : all.work('pay.charge', of, null)
    const counted = Object.fromEntries(Object.keys(drawn).map((of) => [of, count(Number(of)).length]))
    expect(counted).toEqual(drawn)
  })

  it('is without who left', () => {
    const all = audience()
    all.gone('a')
    expect(words(all.tasks('w@1', false, 9, null))).toEqual(['=d'])
  })
})

describe('migrations', () => {
  it('are there, in their order', async () => {
    vi.resetModules()
    const { migrations } = await import('../src/migrations/index.ts')
    const names = migrations.map(({ name }) => name)
    expect(names).toEqual(migrations.map((_, n) => String(n + 1).padStart(4, '0')))
    for (const { sql } of migrations) expect(sql).toContain('triarch.')
  })
})

describe('the pace of looking', () => {
  it('without hints slows down while nothing is found', () => {
    const clock = handClock()
    const pace = new PollInterval(clock)
    const looks: number[] = []
    let last = pace.count(false)
    for (let at = 1; at <= 1_000; at++) {
      clock.advance(1)
      if (at === 700) pace.found()
      const count = pace.count(false)
      if (count !== last) looks.push(at)
      last = count
    }
    expect(looks).toEqual([5, 15, 35, 75, 155, 315, 515, 700, 710, 730, 770, 850])
  })

  it('with hints is drawn anew each time', () => {
    const clock = { ...handClock(), random: () => 0 }
    const pace = new PollInterval(clock)
    clock.random = () => 0.999
    clock.advance(2_250)
    const looked = pace.count(true)
    clock.advance(3_700)
    expect([looked, pace.count(true)]).toEqual([1, 1])
    clock.advance(50)
    expect(pace.count(true)).toBe(2)
  })

  it.each([
    [1, 2_250, 3_750],
    [10, 22_500, 37_500],
    [0, 375, 625],
    [1_000, 45_000, 75_000],
  ])('with hints is shared by %d nodes', (living, least, most) => {
    for (const lot of [0, 0.999]) {
      const clock = { ...handClock(), random: () => lot }
      const pace = new PollInterval(clock)
      pace.living = living
      const first = pace.count(true)
      clock.advance(least - 1)
      expect(pace.count(true)).toBe(first)
      clock.advance(most - least + 1)
      expect(pace.count(true)).toBe(first + 1)
    }
  })
})

describe('an error', () => {
  it.each<[error: unknown, verdict: string, code: string]>([
    [many([Object.assign(new Error('a'), { code: 'ECONNREFUSED' })]), 'reconnect', 'STORE_UNAVAILABLE'],
    [many([new Error('a')]), 'fail', 'STORE_FAILED'],
    [Object.assign(new Error('x'), { code: '08006' }), 'reconnect', 'STORE_UNAVAILABLE'],
    [Object.assign(new Error('connection terminated'), { code: 'EOTHER' }), 'reconnect', 'STORE_UNAVAILABLE'],
    [new Error('timeout expired'), 'reconnect', 'STORE_UNAVAILABLE'],
    [new Error('something'), 'fail', 'STORE_FAILED'],
    [{}, 'fail', 'STORE_FAILED'],
  ])('%o means: %s, else %s', (error, verdict, code) => {
    expect(ruleOf(error)).toEqual({ verdict, code })
  })

  it('is one of ours, with that of the server', () => {
    const ours = new TriarchError('STORE_CLOSED', 'x')
    expect(storeError(ours)).toBe(ours)
    const theirs = Object.assign(new Error('x'), { code: '53100' })
    expect(storeError(theirs)).toMatchObject({
      code: 'STORE_FULL',
      message: 'x',
      details: { postgres: '53100' },
      cause: theirs,
    })
    expect((storeError(new Error('x')) as TriarchError).details).toBeUndefined()
    expect(storeError(many([new Error('a'), new Error('b')]))).toMatchObject({
      message: 'Error: a; Error: b',
    })
    expect(storeError('text')).toMatchObject({ message: 'text' })
  })

  it('of a call that somebody is in the way of says so', () => {
    const theirs = Object.assign(new Error('x'), { code: '55P03' })
    expect([isBlocked(blocked(theirs)), isBlocked(storeError(theirs)), isBlocked(theirs)]).toEqual([true, false, false])
    const other = Object.assign(new Error('x'), { code: '55P02' })
    expect(blocked(other)).toBe(other)
  })

  it('of a read that took too long says so', () => {
    const theirs = Object.assign(new Error('x'), { code: '57014' })
    expect(tooCostly(theirs)).toMatchObject({ code: 'READ_TOO_COSTLY', details: { postgres: '57014' } })
    const other = Object.assign(new Error('x'), { code: '55P03' })
    expect(tooCostly(other)).toBe(other)
  })

  it('has its state, also behind what others made of it', () => {
    const state = Object.assign(new Error('x'), { code: '23505' })
    expect(sqlStateOf(new Error('y', { cause: new Error('z', { cause: state }) }))).toBe('23505')
    const circle: Error = new Error('around')
    circle.cause = new Error('and around', { cause: circle })
    expect(sqlStateOf(circle)).toBeUndefined()
    expect([
      sqlStateOf(new Error('y')),
      sqlStateOf(Object.assign(new Error('x'), { code: 'EPIPE' })),
      sqlStateOf('x'),
    ]).toEqual([undefined, undefined, undefined])
  })
})

describe('who waits for the server', () => {
  const away = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))

  it('tries as long as it may, ever more rarely', async () => {
    const clock = handClock()
    const tried: number[] = []
    const heard: unknown[] = []
    const attempt = () => {
      tried.push(clock.monotonic())
      return away()
    }
    const given = patiently(clock, 3_000, attempt, (error) => heard.push(error)).catch((error: unknown) => error)
    for (let n = 0; n < 500; n++) {
      await turns(1)
      clock.advance(10)
    }
    expect(await given).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(heard).toHaveLength(tried.length)
    expect([(tried.at(-2) as number) < 3_000, (tried.at(-1) as number) >= 3_000]).toEqual([true, true])
    const waits = tried.slice(1).map((at, index) => at - (tried[index] as number))
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_010)
    expect(waits.at(-1)).toBeGreaterThanOrEqual(500)
    expect(waits[0]).toBeLessThanOrEqual(10)
  })

  it('does not try again what would fail again', async () => {
    let tries = 0
    const attempt = () => {
      tries++
      return Promise.reject(Object.assign(new Error('x'), { code: '23505' }))
    }
    await expect(patiently(handClock(), 1_000, attempt)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(patiently(handClock(), 0, away)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(tries).toBe(1)
  })

  it('stands in line without a connection while others are in the way, two at a time', async () => {
    const clock = handClock()
    const queue = new BlockedCalls(clock)
    const busy = new TriarchError('STORE_BUSY', 'x', { details: { blocked: true } })
    let at = 0
    let most = 0
    let tries = 0
    const attempt = async () => {
      if (tries++ >= 5) most = Math.max(most, ++at)
      await turns(2)
      if (tries > 5) at--
      throw busy
    }
    const all = Array.from({ length: 5 }, () => queue.run(400, attempt).catch((error: unknown) => error))
    for (let n = 0; n < 300; n++) {
      await turns(1)
      clock.advance(5)
    }
    expect(await Promise.all(all)).toEqual([busy, busy, busy, busy, busy])
    expect(tries).toBeGreaterThan(15)
    expect(most).toBeLessThanOrEqual(2)
  })

  it('comes at once, whoever stands in line, and stands there for a while', async () => {
    const clock = handClock()
    const queue = new BlockedCalls(clock)
    const busy = new TriarchError('STORE_BUSY', 'x', { details: { blocked: true } })
    let tries = 0
    const blocked = () => (++tries > 3 ? new Promise<never>(() => undefined) : Promise.reject(busy))
    for (let n = 0; n < 3; n++) void queue.run(1_000, blocked)
    await turns()
    clock.advance(9)
    await turns()
    expect(tries).toBe(3)
    clock.advance(11)
    await turns()
    expect(tries).toBe(5)
    expect(await queue.run(100, async () => 7)).toBe(7)
  })

  it('gets its answer, or what else went wrong, at once', async () => {
    const queue = new BlockedCalls(handClock())
    expect(await queue.run(100, async () => 7)).toBe(7)
    const other = new TriarchError('STORE_BUSY', 'x')
    await expect(queue.run(100, () => Promise.reject(other))).rejects.toBe(other)
    const busy = new TriarchError('STORE_BUSY', 'x', { details: { blocked: true } })
    await expect(queue.run(0, () => Promise.reject(busy))).rejects.toBe(busy)
  })

  it('says goodbye for a moment only', async () => {
    const clock = handClock()
    let late = 0
    const never = goodbye(clock, new Promise(() => undefined), () => late++)
    clock.advance(999)
    expect(late).toBe(0)
    clock.advance(1)
    await never
    expect(late).toBe(1)
    await goodbye(clock, Promise.reject(new Error('gone')), () => late++)
    clock.advance(5_000)
    expect(late).toBe(1)
  })
})

describe('the settings', () => {
  it.each<[given: unknown, code: string]>([
    ['', 'INVALID_OPTION'],
    [null, 'INVALID_OPTION'],
    [5, 'INVALID_OPTION'],
    [{ uri: 'x' }, 'UNKNOWN_OPTION'],
    [{ schema: 'No good' }, 'INVALID_OPTION'],
    [{ clock: 'wall' }, 'INVALID_OPTION'],
    [{ migrate: 'later' }, 'INVALID_OPTION'],
    [{ connections: 0 }, 'INVALID_OPTION'],
    [{ reads: 1_001 }, 'INVALID_OPTION'],
    [{ transactions: 1.5 }, 'INVALID_OPTION'],
    [{ patience: -1 }, 'INVALID_OPTION'],
    [{ answerWithin: 9 }, 'INVALID_OPTION'],
  ])('%j are refused with %s', (given, code) => {
    expect(() => settingsOf(given as string)).toThrow(expect.objectContaining({ code }))
  })

  it('have bounds that may be reached, and defaults', () => {
    const bounds = {
      connections: 1,
      reads: 1_000,
      patience: 0,
      answerWithin: 10,
      clock: 'environment',
      migrate: 'wait',
    } as const
    expect(settingsOf(bounds)).toMatchObject(bounds)
    const { migrations, ...others } = settingsOf('postgres://h/d')
    expect(migrations[0]?.name).toBe('0001')
    expect(others).toEqual({
      ...{
        connection: { connectionString: 'postgres://h/d' },
        schema: 'triarch',
        connections: 8,
        readFrom: null,
        reads: 4,
        transactions: 4,
      },
      ...{ notify: true, patience: 30_000, answerWithin: 5_000, clock: 'server', migrate: 'auto' },
    })
    expect(settingsOf({ connection: { host: 'h' } }).connection).toEqual({ host: 'h' })
  })

  it.each<[role: Role, within: number, timeout: number, commit: string]>([
    ['calls', 5_000, 30_000, 'on'],
    ['reads', 5_000, 4_000, 'off'],
    ['beats', 60_000, 30_000, 'off'],
  ])('of a connection for %s have bounds within which it answers', (role, answerWithin, timeout, commit) => {
    const config = configOf(settingsOf({ answerWithin }), role)
    expect(config).toMatchObject({ statement_timeout: timeout, lock_timeout: answerWithin * 0.8 })
    expect(config.options).toContain(`-c synchronous_commit=${commit} `)
  })

  it('of a connection hold beside those that its address has', () => {
    const url = 'postgres://u:p%3Fw@h/d?sslmode=disable&options=-c%20work_mem%3D8MB&statement_timeout=1&lock_timeout=1'
    const client = new pg.Client(configOf(settingsOf(url), 'calls'))
    const { connectionParameters } = client as unknown as { connectionParameters: Record<string, string> }
    expect(connectionParameters).toMatchObject({
      host: 'h',
      password: 'p?w',
      statement_timeout: 30_000,
      lock_timeout: 4_000,
    })
    expect(connectionParameters.options).toMatch(/^-c work_mem=8MB -c default_transaction_isolation=/)
    expect(configOf(settingsOf({ url, notify: false }), 'calls').connectionString).toBe(url)
  })

  it('of a pooled connection touch no session', () => {
    const config = configOf(settingsOf({ notify: false }), 'calls')
    expect([config.options, config.statement_timeout, config.lock_timeout]).toEqual([undefined, undefined, undefined])
  })
})

describe('a list', () => {
  const shape = (choice: ListChoice) => {
    const query = queryOf({ order: 'oldest', limit: 5, ...choice })
    const { sql, values } = listStatement(query, listingOf(query.where))
    const where = sql.replaceAll(TASK_COLUMNS, 'ROW').replace(/\s+/g, ' ').trim()
    return { where, values }
  }
  const whole = (branches: string) => `SELECT p.*, NULL::bigint FROM (${branches}) p ORDER BY 1 ASC`

  it.each<[what: string, choice: ListChoice, where: string, values: unknown[]]>([
    [
      'everything behind one',
      { after: 9 },
      whole('SELECT ROW FROM triarch.tasks t WHERE t.key > $2 ORDER BY t.key ASC LIMIT $1'),
      [5, 9],
    ],
    [
      'what was quarantined',
      { quarantined: true },
      whole('SELECT ROW FROM triarch.tasks t WHERE t.quarantined ORDER BY t.key ASC LIMIT $1'),
      [5],
    ],
    [
      'statuses',
      { status: ['running', 'paused', 'running'] },
      whole(
        "(SELECT ROW FROM triarch.tasks t WHERE t.status <> 'stopped' AND t.status = $2 ORDER BY t.key ASC LIMIT $1) UNION ALL (SELECT ROW FROM triarch.tasks t WHERE t.status <> 'stopped' AND t.status = $3 ORDER BY t.key ASC LIMIT $1) ORDER BY 1 ASC LIMIT $1",
      ),
      [5, 'running', 'paused'],
    ],
    [
      'a workflow, and says how far it looked',
      { workflow: 'w' },
      'WITH page AS MATERIALIZED (SELECT ROW FROM (SELECT t.* FROM triarch.tasks t ORDER BY t.key ASC LIMIT 5000) t WHERE (t.workflow = ANY ($2)) ORDER BY t.key ASC LIMIT $1) SELECT p.*, l.looked FROM (SELECT CASE WHEN (SELECT count(*) FROM page) < $1 THEN least((SELECT t.key FROM triarch.tasks t ORDER BY t.key ASC OFFSET 4999 LIMIT 1)) END AS looked) l LEFT JOIN page p ON true ORDER BY p.key ASC',
      [5, '{"w"}'],
    ],
    [
      'tags, in both orders',
      { tags: { a: '1', b: '2' }, order: 'newest', after: 9 },
      'WITH page AS MATERIALIZED (SELECT ROW FROM (SELECT t.* FROM triarch.tags tag JOIN triarch.tasks t ON t.key = tag.task WHERE tag.name = $2 AND tag.value = $3 AND tag.task < $4 ORDER BY tag.task DESC LIMIT 5000) t WHERE EXISTS (SELECT 1 FROM triarch.tags x WHERE x.task = t.key AND x.name = $5 AND (x.value = ANY ($6))) ORDER BY t.key DESC LIMIT $1) SELECT p.*, l.looked FROM (SELECT CASE WHEN (SELECT count(*) FROM page) < $1 THEN greatest((SELECT tag.task FROM triarch.tags tag JOIN triarch.tasks t ON t.key = tag.task WHERE tag.name = $2 AND tag.value = $3 AND tag.task < $4 ORDER BY tag.task DESC OFFSET 4999 LIMIT 1)) END AS looked) l LEFT JOIN page p ON true ORDER BY p.key DESC',
      [5, 'a', '1', 9, 'b', '{"2"}'],
    ],
  ])('of %s asks what an index knows', (_, choice, where, values) => {
    expect(shape(choice)).toEqual({ where, values })
  })
})

describe('a submission in somebody else’s transaction', () => {
  type Answers = (text: string) => object[]
  const created: Answers = () => [{ answer: '7', refused: null }]
  const client = (answers: Answers, status?: string | null) => {
    const asked: string[] = []
    const query = async (text: string, values: unknown[]) => {
      asked.push(
        `${text.trim().split(/[\s(]/)[0]} ${text.includes('pg_notify') ? `${values[11]} ${values[13]}` : values.join()}`.trim(),
      )
      return { rows: answers(text) }
    }
    return { asked, transaction: { query, ...(status !== undefined && { getTransactionStatus: () => status }) } }
  }
  const words = async () => ({ channel: 'c', payload: 'p' })
  const submit = (transaction: unknown, options: object = {}, told: typeof words | (() => Promise<null>) = words) =>
    submitIn(transaction, [newTask('t')], settingsOf({ ...options }), told)

  it.each([undefined, null, 5, {}, { query: 5 }, () => undefined])('takes no %j', async (transaction) => {
    await expect(submit(transaction)).rejects.toMatchObject({
      code: 'STORE_TRANSACTION_INVALID',
      message: '`transaction` is no client of pg',
    })
  })

  it('asks whether there is one, unless it knows', async () => {
    const savepoint = ['SAVEPOINT', 'RELEASE']
    for (const [status, first] of [
      ['T', []],
      ['I', savepoint],
      [null, savepoint],
      [undefined, savepoint],
    ] as const) {
      const { asked, transaction } = client(created, status)
      expect(await submit(transaction)).toEqual([{ created: true, key: 7 }])
      expect(asked).toEqual([...first, 'WITH c p'])
    }
  })

  it('tells nobody where nobody is to be told', async () => {
    for (const [options, told] of [
      [{ notify: false }, words],
      [{}, async () => null],
    ] as const) {
      const { asked, transaction } = client(created, 'T')
      await submit(transaction, options, told)
      expect(asked).toEqual(['WITH'])
    }
  })

  it('gives drivers nothing but texts, for each makes something else of numbers and lists', async () => {
    const given: unknown[][] = []
    const query = async (_: string, values: unknown[]) => {
      given.push(values)
      return { rows: [{ answer: '-7', refused: null }] }
    }
    const at = newTask('t').at
    const task = { ...newTask('t'), priority: 3, parent: 'p', tags: { a: 'b' }, startAt: at + 5, deadline: at + 9 }
    const transaction = { query, getTransactionStatus: () => 'T' }
    await submitIn(transaction, [{ ...task, gates: { locks: [], after: ['x'] } }], settingsOf({}), words)
    const [id, workflow, version, ...others] = given[0] ?? []
    const list = (value: string) => `{"${value.replaceAll('"', '\\"')}"}`
    expect([id, workflow, version]).toEqual(['t', 'flow', '1'].map(list))
    const instants = [at, at + 5, at + 9].map(String)
    expect(others.slice(0, 8)).toEqual(['3', 'pending', ...instants, 'p', '{"a":"b"}', task.events].map(list))
    expect(others[8]).toBe('c')
    expect(JSON.parse(String(others[9]))).toMatchObject([{ op: 'create', id: 't', after: ['x'] }])
    expect(given[1]).toEqual(['{"7"}'])
    await submitIn(transaction, [newTask('t')], settingsOf({}), words)
    expect(given[2]?.slice(6, 10)).toEqual(['{NULL}', '{NULL}', '{NULL}', '{NULL}'])
  })

  it.each<[what: string, answer: object, first: object[], outcome: object, calls: number]>([
    ['there', { answer: '-7', refused: null }, [{ task: '7', events: 'e' }], { created: false, key: 7, first: 'e' }, 2],
    ['there, but its first record is not', { answer: '-7', refused: null }, [], { created: false, key: 7 }, 2],
    [
      'refused',
      { answer: '0', refused: '{"1":"x"}' },
      [{ task: '7', events: 'e' }],
      { created: false, key: 0, heldBy: 'x' },
      1,
    ],
    [
      'not there, and cannot be',
      { answer: '0', refused: null },
      [{ task: '7', events: 'e' }],
      { created: false, key: 0 },
      1,
    ],
  ])('says of a task that is %s', async (_, answer, first, outcome, calls) => {
    const { asked, transaction } = client((text) => (text.includes('history') ? first : [answer]), 'T')
    expect(await submit(transaction)).toEqual([outcome])
    expect(asked).toHaveLength(calls)
    if (calls === 2) expect(asked[1]).toBe('SELECT {"7"}')
  })

  it.each([
    ['25P01', 'STORE_TRANSACTION_INVALID'],
    ['25P02', 'STORE_TRANSACTION_INVALID'],
    ['3F000', 'STORE_TRANSACTION_INVALID'],
    ['42P01', 'STORE_TRANSACTION_INVALID'],
    ['42883', 'STORE_TRANSACTION_INVALID'],
    ['40001', 'STORE_BUSY'],
    ['57P01', 'STORE_UNAVAILABLE'],
    ['23505', 'STORE_FAILED'],
  ])('that meets %s fails with %s', async (code, ours) => {
    const fails = () => {
      throw Object.assign(new Error('it'), { code })
    }
    await expect(submit(client(fails, 'T').transaction)).rejects.toMatchObject({ code: ours })
  })
})

describe('what the server answers to a claim', () => {
  const message = { type: 'event', name: 'go', payload: 1 } as const
  const described = (id: string, change: object = {}) => {
    const task = { id, workflow: 'w', version: '1', epoch: 1, orphaned: false, work: [] }
    return JSON.stringify({ ...task, rest: null, unread: false, strikes: null, more: false, ...change })
  }
  const claim = (key: number, id: string) => {
    return { key, id, workflow: 'w', version: '1', epoch: 1, orphaned: false, work: [], records: [], letters: [] }
  }

  it('are tasks with their records and letters', () => {
    const rows = [
      [1, 0, 0, described('a', { rest: 5, unread: true, strikes: 2 })],
      [2, 0, 0, described('b', { more: true })],
      [1, 1, 10, 'e1'],
      [1, 2, 11, 'e2'],
      [2, -1, 7, JSON.stringify(message)],
    ] as const
    const records = [
      { seq: 1, at: 10, events: 'e1' },
      { seq: 2, at: 11, events: 'e2' },
    ]
    const letters = [{ id: 7, key: 2, message }]
    expect(claimsOf(rows)).toEqual([
      { ...claim(1, 'a'), rest: 5, unread: true, trial: { strikes: 2 }, records },
      { ...claim(2, 'b'), letters, more: true },
    ])
    expect(claimsOf([[1, 0, 0, described('a')]])).toEqual([claim(1, 'a')])
    expect(claimsOf([])).toEqual([])
  })

  it('are letters, of which there are more when a bound was reached', () => {
    const text = JSON.stringify(message)
    const rows = [
      [7, 1, text],
      [8, 2, text],
    ] as const
    const more = (limit: number, bytes: number) => sharesOf(rows, { limit, bytes }).map((it) => it.more === true)
    const size = 2 * text.length
    expect(sharesOf(rows, { limit: 9, bytes: 9_999 })).toEqual([
      { id: 7, key: 1, message },
      { id: 8, key: 2, message },
    ])
    expect([more(3, size + 1), more(2, size + 1), more(3, size)]).toEqual([
      [false, false],
      [false, true],
      [false, true],
    ])
    expect(sharesOf([], { limit: 0, bytes: 0 })).toEqual([])
    const told = [true, false].map((said) =>
      messagesOf([
        [7, 1, text, false],
        [8, 2, text, said],
      ]),
    )
    expect(told.map((all) => all.map((it) => it.more === true))).toEqual([
      [false, true],
      [false, false],
    ])
    expect(messagesOf([])).toEqual([])
  })
})

describe('a batch of transitions', () => {
  const key = (key: number) => ({ key, id: `t${key}`, epoch: 1 })
  const gates = { locks: [{ step: 0, name: 'k', ifHeld: 'queue' as const }], after: [] }
  const message = { type: 'event', name: 'go', payload: 1 } as const
  const batch = [
    transition(key(1), { snapshot: snapshot() }),
    transition(key(2), { release: released }),
    creation(newTask('c'), { release: released }),
    creation(newTask('d'), { snapshot: snapshot() }),
    transition(key(5), { rebase: true }),
    transition(key(6), {
      consumed: [9],
      work: [workRequest('t6', 1)],
      withdraw: [3],
      forget: [4],
      children: [newTask('child', { gates })],
      posts: [{ task: 'x', control: true, message }],
      gates: { locks: gates.locks, unlocks: [7] },
    } as Partial<Transition>),
    transition(key(7)),
  ]

  it('is written as arrays, each entry with the place of its transition', () => {
    const given = commitArguments(batch)
    const [created, changed, others] = [given.slice(8, 27), given.slice(28, 44), given.slice(44)]
    expect(given[0]).toEqual(integers([1, 2, null, null, 5, 6, 7]))
    expect(created[0]).toEqual(integers([3, 4]))
    expect(given[27]).toEqual(integers([2])) // what is created is given back by its id
    expect(changed[0]).toEqual(integers([1, 2, 3, 5]))
    expect(changed[1]).toEqual(booleans([true, false, false, false]))
    expect(changed[10]).toEqual(booleans([false, false, false, true]))
    expect(changed[11]).toEqual(booleans([false, true, true, false]))
    expect(others.slice(0, 3)).toEqual([integers([6]), integers([9]), integers([6])])
    expect(others.slice(13, 18)).toEqual([[6], [3], [6], [4], [6]].map((it) => integers(it)))
    expect(others.slice(-6, -3)).toEqual([integers([6]), texts(['x']), booleans([true])])
    expect(given).toHaveLength(80)
  })

  it('asks of gates what its transitions do', () => {
    expect(JSON.parse(gatesOfBatch(batch) ?? '')).toMatchObject([
      { op: 'create', of: 6, parent: 't6', step: 0, id: 'child' },
      { op: 'unlock', of: 6, step: 7 },
      { op: 'lock', of: 6, step: 0, name: 'k' },
    ])
    expect(gatesOfBatch(batch.slice(0, 5))).toBeNull()
  })

  it('has an outcome for each', () => {
    expect(commitOutcomes('7,0,-1')).toEqual([
      { ok: true, key: 7 },
      { ok: false, reason: 'fenced' },
      { ok: false, reason: 'exists' },
    ])
  })
})

describe('rows', () => {
  it('of pulses tell of nodes, and who leads', () => {
    const node = ['n', 'm', 10, '["scheduler"]', true] as const
    expect(heartbeatsOf([[100, 'h', 5, ...node]])).toEqual({
      now: 100,
      nodes: [{ id: 'n', mark: 'm', lease: 10, roles: ['scheduler'], late: true }],
      term: { holder: 'h', left: 5 },
    })
    const nobody = { now: 100, nodes: [], term: null }
    expect(heartbeatsOf([[100, null, null, null, null, null, null, null]])).toEqual(nobody)
  })

  it('of nodes show what users may see', () => {
    const runs = '{"workflows":["w"],"actions":["x"]}'
    expect(nodeOf(['n', '[]', 1, 2, runs, null]).runs).toEqual({ workflows: ['w'], actions: ['x'] })
    expect(nodeOf(['n', '[]', 1, 2, null, null]).runs).toBeNull()
  })

  it('of a schedule that was written say what it started', () => {
    expect([scheduleOutcomes(['no', null, null]), scheduleOutcomes(['', null, null])]).toEqual([null, []])
    expect(scheduleOutcomes(['7', null, null])).toEqual([{ created: true, key: 7 }])
  })
})
