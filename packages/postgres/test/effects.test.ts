import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Effect } from '../../triarch/src/store/port.ts'
import { advancing, handClock, turn } from '../../triarch/test/store/clock.ts'
import { connect, disconnect } from '../src/connect.ts'
import { settingsOf } from '../src/options.ts'
import { Transactions } from '../src/transactions.ts'
import { type Counting, counting } from './counting.ts'
import { type Answer, type Asked, type Puppet, puppet } from './puppet.ts'

const effect: Effect = { key: 1, node: 'n', epoch: 2, step: 3, firstStep: 3, name: 'e' }
const CUT = 'cut'
/** Statements, by a text of theirs. */
const usual: Readonly<Record<string, Answer>> = {
  'BEGIN ': [],
  begin_effect: [{ answer: null, transaction: '7' }],
  keep_effect: [{ kept: true }],
  '.effect(': [{ answer: '5' }],
}

describe('a transaction', () => {
  let clock: Counting
  let server: Puppet
  let transactions: Transactions
  /** The first answers to statements with this text are these. */
  let instead: Record<string, Answer[]>
  let thrown: unknown[]
  const note = (error: unknown) => thrown.push(error)

  beforeEach(async () => {
    clock = counting(handClock())
    instead = {}
    thrown = []
    process.on('uncaughtException', note)
    server = await puppet(({ text }: Asked) => {
      const wanted = Object.keys(instead).find((it) => text.includes(it) && instead[it]?.length)
      const answer = wanted
        ? (instead[wanted]?.shift() as Answer)
        : (Object.entries(usual).find(([it]) => text.includes(it))?.[1] ?? [])
      if (answer !== CUT) return answer
      server.cut()
      return null
    })
    transactions = new Transactions(clock, settingsOf({ url: server.url, transactions: 1, schema: 'own' }))
  })
  afterEach(async () => {
    await transactions.close()
    await server[Symbol.asyncDispose]()
    process.off('uncaughtException', note)
    expect(thrown).toEqual([])
  })

  const later = <T>(promise: Promise<T>) => advancing(clock, promise)
  const insert = async (tx: pg.ClientBase) => {
    await tx.query('INSERT')
    return '"yes"'
  }
  const transact = (body = insert, { within = 1_000, signal = new AbortController().signal } = {}) =>
    later(transactions.transact(effect, { within, signal, isolation: 'serializable' }, body))
  const verify = (within = 0) => transactions.effect(effect, within)
  const COMMITTED = ['BEGIN', 'begin_effect', 'INSERT', 'keep_effect', 'COMMIT']
  const on = (by: number, ...all: string[]) => all.map((it) => `${it} ${by}`)

  const kinds = () =>
    server.asked.map(({ text, by }) => {
      const [kind = ''] = /begin_effect|keep_effect/.exec(text) ?? /^\w+/.exec(text) ?? []
      return `${kind} ${by}`
    })

  it('is written with what it answers, and bounded by its time', async () => {
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds()).toEqual(on(1, ...COMMITTED))
    expect(server.asked[0]?.text.replace(/\s+/g, ' ')).toBe(
      'BEGIN ISOLATION LEVEL serializable; SET LOCAL statement_timeout = 1000; SET LOCAL idle_in_transaction_session_timeout = 1000',
    )
    expect(server.asked[1]?.text).toContain('"own".begin_effect')
    expect(server.asked[1]?.values).toEqual(['1', 'n', '2', '3', 'e'])
    expect(server.asked[3]?.values).toEqual(['1', 'n', '2', '3', '3', 'e', '"yes"', '7'])
  })

  it.each([
    [0, 1],
    [0.5, 1],
    [2 ** 40, 2 ** 31 - 1],
  ])('that has %d ms gives them to the server as %d', async (within, bound) => {
    await transact(insert, { within })
    expect(server.asked[0]?.text).toContain(`statement_timeout = ${bound};`)
  })

  it.each<[what: string, text: string, answer: Answer, outcome: object, ran: boolean]>([
    ['whose task has another owner', 'begin_effect', [], { ok: false, reason: 'fenced' }, false],
    ['whose task got another owner', 'keep_effect', [{ kept: false }], { ok: false, reason: 'fenced' }, true],
    ['that was done before', 'begin_effect', [{ answer: '9', transaction: '7' }], { ok: true, answer: '9' }, false],
  ])('%s leaves nothing, and its connection to the next', async (_, text, answer, outcome, ran) => {
    instead = { [text]: [answer] }
    expect(await transact()).toEqual(outcome)
    expect(kinds().at(-1)).toBe('ROLLBACK 1')
    expect(kinds().includes('INSERT 1')).toBe(ran)
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
    expect(server.seen).toBe(1)
  })

  it.each<[what: string, text: string, state: string]>([
    ['cannot be serialised', 'INSERT', '40001'],
    ['loses its connection in its function', 'INSERT', CUT],
    ['loses its connection at its begin', 'BEGIN', CUT],
    ['is answered by another attempt', 'keep_effect', '23505'],
    ['is undone by the server as it commits', 'COMMIT', '40001'],
    ['loses the answer to its commit', 'COMMIT', CUT],
  ])('that %s runs again', async (_, text, state) => {
    instead = { [text]: [state] }
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds().slice(-5)).toEqual(on(state === CUT ? 2 : 1, ...COMMITTED))
  })

  it('runs again, too, when a query builder wraps what the server says', async () => {
    instead = { INSERT: ['40001'] }
    const wrapped = (tx: pg.ClientBase) =>
      insert(tx).catch((cause: unknown) => {
        throw new Error('outer', { cause: new Error('inner', { cause }) })
      })
    expect(await transact(wrapped)).toEqual({ ok: true, answer: '"yes"' })
  })

  it('runs again, too, when its function hides that the connection was lost', async () => {
    instead = { INSERT: [CUT] }
    const hiding = (tx: pg.ClientBase) => insert(tx).catch(() => Promise.reject(new Error('mine')))
    expect(await transact(hiding)).toEqual({ ok: true, answer: '"yes"' })
  })

  it.each(['57014', '23505', '2D000'])('whose function meets %s fails with that, and is undone', async (state) => {
    instead = { INSERT: [state] }
    await expect(transact()).rejects.toMatchObject({ name: 'error', code: state })
    expect(kinds().slice(-2)).toEqual(on(1, 'INSERT', 'ROLLBACK'))
  })

  it('whose function fails is undone, and fails with the same', async () => {
    const own = new Error('mine')
    await expect(transact(() => Promise.reject(own))).rejects.toBe(own)
    const throws = (): never => {
      throw own
    }
    await expect(transact(throws)).rejects.toBe(own)
    expect(kinds()).toEqual([
      ...on(1, 'BEGIN', 'begin_effect', 'ROLLBACK'),
      ...on(1, 'BEGIN', 'begin_effect', 'ROLLBACK'),
    ])
  })

  it('whose function throws what is its own cause fails with that', async () => {
    const circle: Error = new Error('around')
    circle.cause = new Error('and around', { cause: circle })
    const failing = async () => {
      throw circle
    }
    await expect(transact(failing)).rejects.toBe(circle)
  })

  it('whose function hides a failure is not committed', async () => {
    instead = { INSERT: ['23505'] }
    const hiding = (tx: pg.ClientBase) => insert(tx).catch(() => '"hidden"')
    expect(await transact(hiding)).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds()).toEqual(on(1, ...COMMITTED, ...COMMITTED))
  })

  it('that fails while a statement of its function is under way leaves its connection to nobody', async () => {
    instead = { 'SELECT slow': [null] }
    const branching = async (tx: pg.ClientBase) => {
      await Promise.all([tx.query('SELECT slow'), Promise.reject(new Error('mine'))])
      return '1'
    }
    await expect(transact(branching)).rejects.toThrow('mine')
    await server.opened(0)
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds()).toEqual([...on(1, 'BEGIN', 'begin_effect', 'SELECT'), ...on(2, ...COMMITTED)])
  })

  it('keeps its connection for the next one when a statement failed and nothing is under way', async () => {
    instead = { INSERT: ['23505'] }
    await expect(transact()).rejects.toMatchObject({ code: '23505' })
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds()).toEqual([...on(1, 'BEGIN', 'begin_effect', 'INSERT', 'ROLLBACK'), ...on(1, ...COMMITTED)])
  })

  it('that is over refuses a statement the way the driver tells of an error', async () => {
    let tx: pg.ClientBase | null = null
    await transact(async (given) => {
      tx = given
      return insert(given)
    })
    const ended = expect.objectContaining({ code: 'TRANSACTION_ENDED' })
    const late = tx as unknown as pg.ClientBase
    await expect(late.query('SELECT 1')).rejects.toEqual(ended)
    expect(await new Promise((resolve) => late.query('SELECT 1', resolve))).toEqual(ended)
    expect(() => late.query({ submit: () => undefined })).toThrow(ended)
    expect(() => (late as pg.Client).getTransactionStatus()).toThrow(ended)
    expect(kinds()).toEqual(on(1, ...COMMITTED))
  })

  it('counts a statement with a callback as under way until it is answered', async () => {
    const told = Promise.withResolvers<void>()
    const failing = async (tx: pg.ClientBase) => {
      void tx.query('SELECT 1', () => told.resolve())
      await told.promise
      throw new Error('mine')
    }
    await expect(transact(failing)).rejects.toThrow('mine')
    expect(kinds()).toEqual(on(1, 'BEGIN', 'begin_effect', 'SELECT', 'ROLLBACK'))
  })

  it.each(['end', 'release', 'connect'])('keeps its connection when its function calls %s()', async (method) => {
    const ending = async (tx: pg.ClientBase) => {
      await (tx as unknown as Record<string, () => Promise<void>>)[method]?.()
      return '1'
    }
    await expect(transact(ending)).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
    expect(kinds()).toEqual(on(1, 'BEGIN', 'begin_effect', 'ROLLBACK'))
  })

  it('may not be ended by its function, nor by the server', async () => {
    const ends = async (tx: pg.ClientBase) => {
      await tx.query('COMMIT')
      return '1'
    }
    await expect(transact(ends)).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
    instead = { keep_effect: ['2D000'] }
    await expect(transact()).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
  })

  it.each<[what: string, answers: Record<string, Answer[]>, code: string | null]>([
    ['nobody knows of its commit', { COMMIT: [CUT], BEGIN: [[], ...Array(40).fill('57P03')] }, null],
    [
      'its commit was lost, and the next began',
      { COMMIT: [CUT], keep_effect: [[{ kept: true }], '53100'] },
      'STORE_FULL',
    ],
    ['the server refused its commit', { COMMIT: Array(40).fill('40001') }, 'STORE_BUSY'],
    ['it never came to its commit', { keep_effect: Array(40).fill('40001') }, 'STORE_BUSY'],
    ['it was away before', { BEGIN: Array(40).fill('57P03') }, 'STORE_UNAVAILABLE'],
  ])('that cannot be had says so: %s', async (_, answers, code) => {
    instead = answers
    await expect(transact()).rejects.toMatchObject(code === null ? { name: 'UnknownOutcomeError' } : { code })
  })

  it('that is given up before it begins does nothing', async () => {
    const signal = AbortSignal.abort('reason')
    await expect(transact(insert, { signal })).rejects.toBe('reason')
    expect(server.seen).toBe(0)
  })

  it('that is given up while it waits for a connection does nothing', async () => {
    const hold = Promise.withResolvers<string>()
    const first = transactions.transact(
      effect,
      { within: 1_000, signal: new AbortController().signal, isolation: 'serializable' },
      () => hold.promise,
    )
    await server.heard('begin_effect')
    const giving = new AbortController()
    const second = transactions.transact(
      effect,
      { within: 1_000, signal: giving.signal, isolation: 'serializable' },
      insert,
    )
    giving.abort('reason')
    hold.resolve('1')
    await first
    await expect(later(second)).rejects.toBe('reason')
    expect(kinds()).not.toContain('INSERT 1')
  })

  it.each(['BEGIN', 'INSERT', 'keep_effect'])('that is given up during its %s is cut at once', async (text) => {
    instead = { [text]: [null] }
    const giving = new AbortController()
    const given = transact(insert, { signal: giving.signal, within: 1e9 })
    const refused = expect(given).rejects.toBe('reason')
    await server.heard(text)
    giving.abort('reason')
    await refused
    await server.opened(0)
  })

  it('that is given up while its function does something else is cut at once', async () => {
    const giving = new AbortController()
    const given = transact(() => new Promise<string>(() => undefined), { signal: giving.signal, within: 1e9 })
    const refused = expect(given).rejects.toBe('reason')
    await server.heard('begin_effect')
    await turn()
    giving.abort('reason')
    await refused
    await server.opened(0)
  })

  it('that is given up while it is undone is cut at once', async () => {
    instead = { ROLLBACK: [null] }
    const giving = new AbortController()
    const given = transact(() => Promise.reject(new Error('mine')), { signal: giving.signal, within: 1e9 })
    const refused = expect(given).rejects.toThrow('mine')
    await server.heard('ROLLBACK')
    giving.abort('reason')
    await refused
    await server.opened(0)
  })

  it('that is over is not given up any more', async () => {
    const giving = new AbortController()
    await transact(insert, { signal: giving.signal })
    const slow = async (tx: pg.ClientBase) => {
      giving.abort()
      return insert(tx)
    }
    expect(await transact(slow)).toEqual({ ok: true, answer: '"yes"' })
    expect(server.seen).toBe(1)
  })

  it.each<[text: string, state: string]>([
    ['BEGIN', '57P01'],
    ['keep_effect', '57P01'],
    ['COMMIT', '57P01'],
    ['ROLLBACK', '22023'],
  ])('whose connection is of no more use after %s leaves it to nobody', async (text, state) => {
    instead = { [text]: [state], ...(text === 'ROLLBACK' && { begin_effect: [[]] }) }
    await transact()
    await transact()
    expect(kinds().slice(-5)).toEqual(on(2, ...COMMITTED))
    await server.opened(1)
  })

  it('takes another connection when the one at rest was lost', async () => {
    await transact()
    server.cut()
    await server.opened(0)
    await disconnect(clock, await connect(settingsOf({ url: server.url }), 'calls')) // that one was heard of by then
    expect(await transact()).toEqual({ ok: true, answer: '"yes"' })
  })

  it('takes another connection when nothing is answered any more on the one at rest', async () => {
    await transact()
    instead = { BEGIN: [null] }
    expect(await transact(insert, { within: 60_000 })).toEqual({ ok: true, answer: '"yes"' })
    expect(kinds().slice(-6)).toEqual([...on(1, 'BEGIN'), ...on(2, ...COMMITTED)])
    expect(clock.monotonic()).toBeLessThan(10_000)
    await server.opened(1)
  })

  it('is looked for by what it would have answered', async () => {
    expect(await verify()).toBe('5')
    expect(server.asked.map(({ text }) => text)).toEqual([
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      expect.stringContaining('"own".effect('),
      'ROLLBACK',
    ])
    expect(server.asked[1]?.values).toEqual(['1', '2', '3', 'e'])
    instead = { '.effect(': [[{ answer: null }]] }
    expect(await verify()).toBeNull()
    expect([server.seen, clock.waiting]).toEqual([1, 0])
  })

  it('is looked for again on another connection where nothing is answered any more', async () => {
    for (const text of ['BEGIN', '.effect(', 'ROLLBACK']) {
      const before = server.asked.filter((it) => it.text.includes(text)).length
      const seen = server.seen
      instead = { [text]: [null] }
      const given = verify(60_000)
      await server.heard(text, before)
      clock.advance(5_000)
      expect(await later(given)).toBe('5')
      if (text !== 'ROLLBACK') expect(server.seen).toBeGreaterThan(seen)
    }
    expect(clock.waiting).toBe(0)
  })

  it('leaves no connection behind', async () => {
    await transact()
    await transactions.close()
    await server.opened(0)
    expect(clock.waiting).toBe(0)
    transactions = new Transactions(clock, settingsOf({ url: server.url }))
  })
})
