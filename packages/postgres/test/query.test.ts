import type pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { ask, connect, disconnect } from '../src/connect.ts'
import { settingsOf } from '../src/options.ts'
import type { Question } from '../src/query.ts'
import { serverUrl } from './database.ts'

const environment = systemEnvironment()

/** A connection of its own, and how often the server was asked to describe an answer. */
async function asking(options: pg.ClientConfig = {}) {
  const settings = settingsOf({ url: serverUrl() })
  const client = await connect({ ...settings, connection: { ...settings.connection, ...options } }, 'calls')
  const { connection } = client as unknown as { connection: { describe(message: object): void } }
  const described = vi.spyOn(connection, 'describe')
  return {
    ask: (question: Question) => ask(environment, settings, client, question),
    described: () => described.mock.calls.length,
    [Symbol.asyncDispose]: () => disconnect(environment, client),
  }
}

const four = {
  name: 'four',
  text: "SELECT $1::bigint, $2::boolean, $3::text, NULL UNION ALL SELECT 2, false, '', 'x'",
}

describe('a question', () => {
  it('has the answer to what is prepared described once a connection, and always reads it the same', async () => {
    for (let connection = 0; connection < 2; connection++) {
      await using own = await asking()
      for (const [number, truth, text] of [
        [1, true, 'a'],
        [2 ** 40, false, '7'],
        [null, null, 't'],
      ] as const) {
        expect(await own.ask({ ...four, values: [number, truth, text] })).toEqual([
          [number, truth, text, null],
          [2, false, '', 'x'],
        ])
      }
      expect(own.described()).toBe(1)
    }
  })

  it('has it described each time without a name, for a pooler may prepare it anywhere', async () => {
    await using own = await asking()
    for (const n of [1, 2])
      expect(await own.ask({ text: 'SELECT $1::int, $2::text', values: [n, n] })).toEqual([[n, `${n}`]])
    expect(own.described()).toBe(2)
  })

  it('is asked again after an error, whether it was described by then, or not even parsed', async () => {
    await using own = await asking()
    const divided = (by: number) => own.ask({ name: 'divided', text: 'SELECT 6 / $1::int', values: [by] })
    await expect(divided(0)).rejects.toMatchObject({ code: '22012' })
    expect(await divided(2)).toEqual([[3]])
    await expect(divided(0)).rejects.toMatchObject({ code: '22012' })
    expect(await divided(3)).toEqual([[2]])
    const absent = { name: 'absent', text: 'SELECT n FROM soon_there' }
    await expect(own.ask(absent)).rejects.toMatchObject({ code: '42P01' })
    await own.ask({ text: 'CREATE TEMP TABLE soon_there AS SELECT 5 AS n' })
    expect(await own.ask(absent)).toEqual([[5]])
  })

  it('has no rows where nothing answers, or several statements that ask for none', async () => {
    await using own = await asking()
    for (let call = 0; call < 2; call++) {
      expect(await own.ask({ name: 'set', text: "SET application_name = 'x'" })).toEqual([])
      expect(await own.ask({ name: 'none', text: 'SELECT 1 WHERE $1::boolean', values: [false] })).toEqual([])
    }
    expect(await own.ask({ text: 'LISTEN a; LISTEN b' })).toEqual([])
    expect(await own.ask({ text: 'SELECT pg_listening_channels() ORDER BY 1' })).toEqual([['a'], ['b']])
  })

  it.each([{}, [1], new Date(0), () => 1, Symbol('s')])(
    'is not sent with %s for a parameter, and the next one is',
    async (value) => {
      await using own = await asking()
      const said = (it: unknown) => own.ask({ name: 'said', text: 'SELECT $1::text', values: [it] })
      await expect(said(value)).rejects.toMatchObject({ code: 'STORE_FAILED' })
      expect(await said('here')).toEqual([['here']])
    },
  )

  it('keeps to the `query_timeout` of a connection', async () => {
    await using own = await asking({ query_timeout: 100 })
    expect(await own.ask({ text: 'SELECT 1' })).toEqual([[1]])
    await expect(own.ask({ text: 'SELECT pg_sleep(60)' })).rejects.toThrow('Query read timeout')
  })

  it('fails with its connection', async () => {
    await using own = await asking()
    await expect(own.ask({ ...four, text: 'SELECT pg_terminate_backend(pg_backend_pid())' })).rejects.toMatchObject({
      code: '57P01',
    })
    await expect(own.ask({ text: 'SELECT 1' })).rejects.toThrow(/connection|not queryable/i)
  })
})
