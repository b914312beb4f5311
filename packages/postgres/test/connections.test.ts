import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { advancing, handClock, turn } from '../../triarch/test/store/clock.ts'
import { connect, disconnect, goodbye, type Role } from '../src/connect.ts'
import { type PostgresOptions, settingsOf } from '../src/options.ts'
import { Pool } from '../src/pool.ts'
import { Slot, type Statement } from '../src/slot.ts'
import { type Counting, counting } from './counting.ts'
import { type Answer, type Asked, type Puppet, puppet } from './puppet.ts'

const CALL: Statement = { name: 'call', sql: 'SELECT call', numbered: true }
const READ: Statement = { name: 'read', sql: 'SELECT read', numbered: false }
const BOUNDED: Statement = { name: 'bounded', sql: 'SELECT bounded', numbered: true, bounded: true }
const FOUND: Answer = [{ x: 1 }]
/** The connection is lost instead. */
const CUT = 'cut'

let clock: Counting
let server: Puppet
/** Answers in their order; then all are FOUND. */
let answers: Answer[]

const settings = (options: PostgresOptions = {}) => settingsOf({ url: server.url, answerWithin: 5_000, ...options })
/** What becomes of it, time passing. */
const later = <T>(promise: Promise<T>, step = 10) => advancing(clock, promise, step)
const sent = (text: string) => server.asked.filter((it) => it.text === text)

beforeEach(async () => {
  clock = counting(handClock())
  answers = []
  server = await puppet(({ text }: Asked) => {
    if (text === 'DISCARD PLANS') return []
    const answer = answers.length > 0 ? (answers.shift() as Answer) : FOUND
    if (answer !== CUT) return answer
    server.cut()
    return null
  })
})
afterEach(() => server[Symbol.asyncDispose]())

describe('a call', () => {
  let slot: Slot
  const made = (role: Role = 'calls', options: PostgresOptions = {}) => {
    slot = new Slot(clock, settings(options), role)
    return slot
  }
  afterEach(() => slot.close())

  it('has a number of its own, unless it found nothing: the next is in its place', async () => {
    made()
    answers = [FOUND, FOUND, []]
    expect(await slot.run(CALL, ['a'], 0)).toEqual([[1]])
    await slot.run(CALL, ['b'], 0)
    expect(await slot.run(CALL, ['c'], 0)).toEqual([])
    await slot.run(CALL, ['d'], 0)
    await slot.run(READ, ['e'], 0)
    const given = ['1 a', '2 b', '3 c', '3 d'].map((it) => ['id-1', ...it.split(' ')])
    expect(server.asked.map(({ values }) => values)).toEqual([...given, ['e']])
    expect(clock.waiting).toBe(0)
  })

  it.each([
    [true, ['call', 'read']],
    [false, ['', '']],
  ])('is prepared under its name where sessions keep such things: %s', async (notify, names) => {
    made('calls', { notify })
    await slot.run(CALL, [], 0)
    await slot.run(READ, [], 0)
    expect(server.asked.map(({ name }) => name)).toEqual(names)
  })

  it.each<[what: string, lost: Answer]>([
    ['is lost', CUT],
    ['is ended by the server', '57P01'],
  ])('whose connection %s is sent again under its number, which is not given back', async (_, lost) => {
    made()
    answers = [FOUND, lost, []]
    await slot.run(CALL, [], 0)
    expect(await later(slot.run(CALL, [], 10_000))).toEqual([])
    await slot.run(CALL, [], 0)
    expect(server.asked.map(({ values, by }) => `${values[1]} on ${by}`)).toEqual([
      '1 on 1',
      '2 on 1',
      '2 on 2',
      '3 on 2',
    ])
    await server.opened(1)
  })

  it('that was undone is sent again on its connection, under its number, which may be given back', async () => {
    made()
    answers = ['40001', [], FOUND]
    expect(await later(slot.run(CALL, [], 10_000))).toEqual([])
    await slot.run(CALL, [], 0)
    expect(server.asked.map(({ values, by }) => `${values[1]} on ${by}`)).toEqual(['1 on 1', '1 on 1', '1 on 1'])
  })

  it('that gets no answer is sent again on another connection, or given up', async () => {
    made()
    answers = [null, null]
    const run = slot.run(CALL, [], 5_001)
    await server.heard('call')
    clock.advance(4_999)
    await turn()
    expect(server.open).toBe(1)
    clock.advance(1)
    const given = later(run).catch((error: unknown) => error)
    expect(await given).toMatchObject({
      code: 'STORE_UNANSWERED',
      message: 'the connection was lost before the answer came: the server gave no answer in time',
    })
    expect(sent('SELECT call').map(({ by }) => by)).toEqual([1, 2])
    await server.opened(0)
    expect(clock.waiting).toBe(0)
  })

  it('that somebody is in the way of says so, if it is one that does not wait, and surely has done nothing', async () => {
    made()
    answers = ['55P03']
    const blocked = { code: 'STORE_BUSY', details: { blocked: true } }
    await expect(slot.run(BOUNDED, [], 10_000)).rejects.toMatchObject(blocked)
    answers = ['55P03', FOUND]
    expect(await later(slot.run(CALL, [], 10_000))).toEqual([[1]])
    answers = [CUT, '55P03', FOUND]
    expect(await later(slot.run(BOUNDED, [], 10_000))).toEqual([[1]])
  })

  it('that lost its connection is never said to be refused, whatever ends its patience: it may have taken effect', async () => {
    for (const last of ['57014', '55P03', '40001', '57P01'] as const) {
      made()
      answers = [CUT, ...Array.from({ length: 50 }, () => last)]
      await expect(later(slot.run(CALL, [], 3_000))).rejects.toMatchObject({ code: 'STORE_UNANSWERED' })
    }
  })

  it.each<[role: Role, code: string]>([
    ['reads', 'READ_TOO_COSTLY'],
    ['calls', 'STORE_BUSY'],
  ])('of %s that takes too long is refused with %s', async (role, code) => {
    made(role)
    answers = ['57014']
    await expect(slot.run(READ, [], 0)).rejects.toMatchObject({ code })
  })

  it('is planned anew now and then, on each connection', async () => {
    made()
    const replanned = () => sent('DISCARD PLANS').length
    for (let n = 0; n < 15; n++) await slot.run(READ, [], 0)
    expect(replanned()).toBe(0)
    await slot.run(READ, [], 0)
    expect(replanned()).toBe(1)
    answers = ['57P01']
    await later(slot.run(READ, [], 10_000))
    for (let n = 1; n < 15; n++) await slot.run(READ, [], 0)
    expect(replanned()).toBe(1)
    await slot.run(READ, [], 0)
    expect(replanned()).toBe(2)
  })

  it('after the end is refused, and its connection ended', async () => {
    made()
    await slot.run(READ, [], 0)
    await slot.close()
    await server.opened(0)
    await expect(slot.run(READ, [], 0)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(clock.waiting).toBe(0)
    await made().close()
    expect(server.seen).toBe(1)
  })

  it('that is on its way to a connection when the end comes is refused, and leaves none behind', async () => {
    made()
    const run = slot.run(READ, [], 0).catch(({ code }) => code as string)
    await slot.close()
    expect(await run).toBe('STORE_CLOSED')
    await server.opened(0)
    expect([server.seen, server.asked]).toEqual([1, []])
  })
})

describe('a pool', () => {
  let pool: Pool
  beforeEach(() => {
    pool = new Pool(clock, settings({ patience: 0 }), 'calls', 2)
  })
  afterEach(() => pool.close())

  it('opens a connection when it needs one, and no more than it may: who comes later waits', async () => {
    await pool.run(READ, [])
    await pool.run(READ, [])
    expect(server.seen).toBe(1)
    const all = await Promise.all(Array.from({ length: 7 }, () => pool.run(READ, [])))
    expect([all.length, server.seen]).toEqual([7, 2])
  })

  it('gives its connection on even when a call fails', async () => {
    answers = ['22P02', '22P02', '22P02', '22P02']
    const all = Array.from({ length: 5 }, () => pool.run(READ, []).catch(({ code }) => code as string))
    expect((await Promise.all(all)).filter((it) => it === 'STORE_FAILED')).toHaveLength(4)
    expect(await pool.run(READ, [])).toEqual([[1]])
    expect(server.seen).toBe(2)
  })

  it('tries as long as it may, or as is said', async () => {
    answers = ['40001']
    await expect(pool.run(READ, [])).rejects.toMatchObject({ code: 'STORE_BUSY' })
    answers = ['40001']
    expect(await later(pool.run(READ, [], 10_000))).toEqual([[1]])
  })

  it('is of one kind', async () => {
    const reads = new Pool(clock, settings({ patience: 0 }), 'reads', 1)
    answers = ['57014']
    await expect(reads.run(READ, [])).rejects.toMatchObject({ code: 'READ_TOO_COSTLY' })
    await reads.close()
  })

  it('closes the connections that nobody has needed for half a minute, but for one, and opens them again', async () => {
    const all = () => Promise.all(Array.from({ length: 4 }, () => pool.run(READ, [])))
    await all()
    expect(server.seen).toBe(2)
    clock.advance(20_000)
    await pool.run(READ, [])
    clock.advance(15_000)
    await server.opened(1)
    clock.advance(300_000)
    await turn()
    expect(clock.waiting).toBe(0)
    await pool.run(READ, [])
    expect(server.seen).toBe(2)
    await all()
    expect(server.seen).toBe(3)
  })

  it('for what users ask keeps none open that nobody needs', async () => {
    const reads = new Pool(clock, settings({ patience: 0 }), 'reads', 2)
    await Promise.all([reads.run(READ, []), reads.run(READ, [])])
    clock.advance(30_000)
    await server.opened(0)
    expect(await reads.run(READ, [])).toEqual([[1]])
    await reads.close()
    expect(clock.waiting).toBe(0)
  })

  it('that is closed before anything was asked opens nothing', async () => {
    await pool.close()
    await expect(pool.run(READ, [])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(server.seen).toBe(0)
  })

  it('that is closed refuses who waits and who comes', async () => {
    answers = [null, null]
    const all = Array.from({ length: 3 }, () => pool.run(READ, []).catch(({ code }) => code as string))
    await server.heard('read', 1)
    const closed = pool.close()
    expect(await all[2]).toBe('STORE_CLOSED')
    await later(closed)
    await expect(pool.run(READ, [])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await server.opened(0)
    expect(await Promise.all(all)).toHaveLength(3)
    expect(server.seen).toBe(2)
  })
})

describe('a connection', () => {
  it('that is lost while nobody uses it disturbs nobody', async () => {
    const client = await connect(settings(), 'calls')
    expect(() => client.emit('error', new Error('lost'))).not.toThrow()
    server.cut()
    await server.opened(0)
    await disconnect(clock, client)
  })

  it('gives whole numbers as numbers, truth as truth, and all else as text', async () => {
    const client = await connect(settings(), 'calls')
    answers = [[{ a: 2n ** 40n, b: 2, c: true, d: false, e: 't', f: null }]]
    const { rows } = await client.query({ text: 'SELECT', rowMode: 'array' })
    expect(rows).toEqual([[2 ** 40, 2, true, false, 't', null]])
    await disconnect(clock, client)
  })

  it('is waited for a moment only when it ends', async () => {
    let late = 0
    const ended = goodbye(clock, new Promise(() => undefined), () => late++, 500)
    clock.advance(499)
    expect(late).toBe(0)
    clock.advance(1)
    await ended
    await goodbye(clock, Promise.resolve())
    expect([late, clock.waiting]).toEqual([1, 0])
  })
})
