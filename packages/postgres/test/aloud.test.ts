import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { handClock } from '../../triarch/test/store/clock.ts'
import { claimAll, owned, stopped } from '../../triarch/test/store/samples.ts'
import { postgres } from '../src/index.ts'
import { inSchema } from '../src/schema.ts'
import { withClient } from './database.ts'
import { ownStore } from './own.ts'
import { startServer } from './server.ts'

// Calls that tell others of themselves once they are committed (migrations/0035, 0037).

const { schema, store } = await ownStore()

type Given = readonly unknown[]
/** Each with the columns of its answer. */
const columns = { submit_one: 1, commit_one: 3 } as const
type Call = keyof typeof columns
const submission = (id: string, number: number): Given => [
  's',
  number,
  id,
  'flow',
  '1',
  0,
  'planned',
  1,
  null,
  null,
  null,
  null,
  '[{"n":1}]',
]
const ending = (key: number, id: string, epoch: number, number: number): Given => {
  const { status, result, failures, deadline, progress, output, error, pause } = stopped
  const none = Array.from({ length: 10 }, () => null)
  const snapshot = [status, result, failures, deadline, progress, output, error, pause]
  return ['s', number, key, id, 'n', epoch, 2, 7, null, '[{"n":2}]', null, ...snapshot, null, false, false, ...none]
}
const placeholders = (count: number) => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
/** As the store has it: what is waited for first, then the call's own, then channel, words and the columns of the answer. */
const aloud = (client: pg.Client, name: Call, given: Given, words: string, of = schema) => {
  const nothing = Array.from({ length: columns[name] }, () => 'NULL').join(', ')
  const call = `CALL triarch.${name}_aloud('200', '20', ${placeholders(given.length + 2)}, ${nothing})`
  return client.query(inSchema(call, of), [...given, 'triarch_@x', words])
}
const quiet = (client: pg.Client, name: Call, given: Given) =>
  client.query(inSchema(`SELECT * FROM triarch.${name}(${placeholders(given.length)})`, schema), [...given])
/** All that is written of a task. */
const written = async (client: pg.Client, id: string) => {
  const text = `SELECT to_jsonb(t) - 'key' - 'id' AS row, (SELECT json_agg(to_jsonb(h) - 'task' ORDER BY h.seq) FROM "${schema}".history h WHERE h.task = t.key) AS records
    FROM "${schema}".tasks t WHERE id = $1`
  return (await client.query(text, [id])).rows[0]
}
/** What is heard, until the end of it is said. */
async function heard(body: (client: pg.Client) => Promise<unknown>): Promise<(string | undefined)[]> {
  return withClient(async (listener) => {
    const words: (string | undefined)[] = []
    const over = Promise.withResolvers<void>()
    listener.on('notification', ({ payload }) => (payload === 'over' ? over.resolve() : words.push(payload)))
    await listener.query('LISTEN "triarch_@x"')
    await withClient(async (client) => {
      await body(client)
      await client.query(`SELECT pg_notify('triarch_@x', 'over')`)
    })
    await over.promise
    return words
  })
}

describe('a call that says itself what others are to hear', () => {
  it('writes what the call writes, and says it once', async () => {
    const words = await heard(async (client) => {
      await aloud(client, 'submit_one', submission('loud', 1), 'made')
      await quiet(client, 'submit_one', submission('quiet', 2))
      const [loud, other] = (await claimAll(store, 'n')).map(({ key }) => key)
      const { rows } = await aloud(client, 'commit_one', ending(loud ?? 0, 'loud', 1, 3), 'ended')
      expect(rows).toEqual([{ answer: String(loud), owners: null, told: null }])
      await quiet(client, 'commit_one', ending(other ?? 0, 'quiet', 1, 4))
      expect(await written(client, 'loud')).toEqual(await written(client, 'quiet'))
    })
    expect(words).toEqual(['made', 'ended'])
  })

  it('says nothing of what is refused', async () => {
    const { key } = await owned(store, 'refused', 'n')
    const words = await heard(async (client) => {
      expect((await aloud(client, 'commit_one', ending(key, 'refused', 99, 5), 'ended')).rows).toMatchObject([
        { answer: '0' },
      ])
    })
    expect(words).toEqual([])
  })

  it('stands when it cannot be said, and answers by its number', async () => {
    await withClient(async (client) => {
      const tooLong = 'x'.repeat(9_000)
      await expect(aloud(client, 'submit_one', submission('unsaid', 6), tooLong)).rejects.toMatchObject({
        code: '22023',
      })
      const key = (await store.task('unsaid'))?.key
      expect((await quiet(client, 'submit_one', submission('unsaid', 6))).rows).toEqual([{ submit_one: String(key) }])
      const said = await heard((client) => aloud(client, 'submit_one', submission('unsaid', 6), 'again'))
      expect(said).toEqual(['again'])
    })
  })

  it('is heard of while it is on its way to disk, and answered once it is there, as is who asks again', async () => {
    await using server = await own()
    const [client, other] = [await server.client('SET synchronous_commit = on'), await server.client('SELECT')]
    const heard = new Set<string | undefined>()
    const listener = await server.client('LISTEN "triarch_@x"')
    const next = () => new Promise((resolve) => listener.once('notification', resolve))
    listener.on('notification', ({ payload }) => heard.add(payload))
    let number = 1
    // What a connection reads for the first time it may mark as committed, which writes to the log as well.
    await aloud(client, 'submit_one', submission('first', number), 'first', 'triarch')
    await server.mirrored(true)
    const { over } = await server.stuck(() => {
      number++
      return aloud(client, 'submit_one', submission(`ahead-${number}`, number), `made-${number}`, 'triarch')
    })
    while (!heard.has(`made-${number}`)) await next()
    const { rows } = await other.query('SELECT key FROM triarch.tasks WHERE id = $1', [`ahead-${number}`])
    const answer = { answer: rows[0].key }
    await server.mirrored(false)
    expect((await over) as pg.QueryResult).toMatchObject({ rows: [answer] })
    // Nobody heard that answer: it may be of before a crash, and not on disk.
    await server.mirrored(true)
    await other.query('SET synchronous_commit = on')
    while ((await other.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names === '') {}
    const quietly = inSchema(`SELECT triarch.submit_one(${placeholders(13)}) AS answer`, 'triarch')
    let asked = 0
    const again = await server.stuck(() => {
      asked++
      return other.query(quietly, [...submission(`ahead-${number}`, number)])
    })
    expect(asked).toBe(1)
    await server.mirrored(false)
    expect((await again.over) as pg.QueryResult).toMatchObject({ rows: [answer] })
  })

  it('does not wait for others who notify: those keep all who do waiting until they are on disk, and on a copy', async () => {
    await using server = await own()
    const client = await server.client('SET synchronous_commit = local')
    const stuck = await server.client('CREATE TABLE seen (n int)')
    await server.mirrored(true)
    const never = await server.stuck(() => stuck.query('INSERT INTO seen VALUES (1); NOTIFY them'))
    const call = aloud(client, 'submit_one', submission('beside', 1), 'made', 'triarch')
    await expect(call).rejects.toMatchObject({ code: '55P03' })
    expect((await client.query(`SELECT id FROM triarch.tasks`)).rows).toEqual([{ id: 'beside' }])
    await server.mirrored(false)
    await never.over
  })
})

/** A server that can be told to wait for a copy that never comes. */
async function own() {
  const { url, stop } = await startServer()
  const made = postgres(url)(handClock())
  await made.open()
  await made.close()
  const clients: pg.Client[] = []
  const client = async (text: string) => {
    const client = new pg.Client({ connectionString: url })
    clients.push(client)
    await client.connect()
    await client.query(text)
    return client
  }
  const operator = await client('SET synchronous_commit = off')
  return {
    client,
    async mirrored(on: boolean) {
      await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${on ? 'nobody' : ''}'`)
      await operator.query('SELECT pg_reload_conf()')
      for (let now = ''; now !== (on ? 'nobody' : ''); ) {
        now = (await operator.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names
      }
    },
    /** The first of these that waits for the copy: the server takes a moment to want one. */
    async stuck(write: () => Promise<unknown>): Promise<{ over: Promise<unknown> }> {
      for (;;) {
        let done = false
        const over = write().finally(() => {
          done = true
        })
        over.catch(() => undefined)
        while (!done) {
          const { rowCount } = await operator.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
          if (rowCount !== 0) return { over }
        }
      }
    },
    async [Symbol.asyncDispose]() {
      for (const it of clients) await it.end()
      await stop()
    },
  }
}
