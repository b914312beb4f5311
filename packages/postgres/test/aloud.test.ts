import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { handClock } from '../../triarch/test/store/clock.ts'
import { claimAll, owned, stopped } from '../../triarch/test/store/samples.ts'
import { causeWithin } from '../src/failure.ts'
import { postgres } from '../src/index.ts'
import { inSchema } from '../src/schema.ts'
import { type Bug, withBug } from './bug.ts'
import { withClient } from './database.ts'
import { ownStore } from './own.ts'
import { startServer } from './server.ts'

// Calls that tell others of themselves once they are committed (commit_one_aloud, submit_one_aloud).

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
    let number = 4
    const refused = () =>
      heard(async (client) => {
        number++
        const { rows } = await aloud(client, 'commit_one', ending(key, 'refused', 99, number), 'ended')
        expect(rows).toMatchObject([{ answer: '0' }])
      })
    expect(await refused()).toEqual([])
    const told = { of: 'commit_one_aloud', change: [["IF answer <> '0' THEN", 'IF true THEN']] } as const
    expect(await withClient((client) => withBug({ client, schema }, told, refused))).toEqual(['ended'])
  })

  it('is undone when it meets what others hold, and the error says so', async () => {
    const { key } = await owned(store, 'held', 'n')
    await withClient(async (other) => {
      await other.query('BEGIN')
      await quiet(other, 'submit_one', submission('open', 70))
      await other.query(`SELECT FROM "${schema}".tasks WHERE key = ${key} FOR UPDATE`)
      await withClient(async (client) => {
        const calls = { submit_one: submission('open', 71), commit_one: ending(key, 'held', 1, 72) }
        for (const [name, given] of Object.entries(calls)) {
          const error = await aloud(client, name as Call, ['t', ...given.slice(1)], 'made').catch((it) => it)
          expect([error.code, causeWithin(error, name)]).toEqual(['55P03', error])
        }
      })
      await other.query('ROLLBACK')
    })
  })

  it('stands when it cannot be said, and answers by its number', async () => {
    await withClient(async (client) => {
      const tooLong = 'x'.repeat(9_000)
      const error = await aloud(client, 'submit_one', submission('unsaid', 7), tooLong).catch((it) => it)
      expect([error.code, causeWithin(error, 'submit_one')]).toEqual(['22023', undefined])
      const key = (await store.task('unsaid'))?.key
      expect((await quiet(client, 'submit_one', submission('unsaid', 7))).rows).toEqual([{ submit_one: String(key) }])
      const said = await heard((client) => aloud(client, 'submit_one', submission('unsaid', 7), 'again'))
      expect(said).toEqual(['again'])
    })
  })

  it('is heard of while it is on its way to disk, and answered once it is there, as is who asks again', async () => {
    await using server = await own()
    const known = { isSeen: true, isTold: true, waitFor: ['SyncRep', 'transactionid', 'SyncRep'], isOne: true }
    expect(await onItsWay(server)).toEqual(known)
    for (const { lacks, known: otherwise, ...bug } of bugs)
      expect(await server.withBug(bug, () => onItsWay(server)), lacks).toEqual({ ...known, ...otherwise })
    expect(await keptWaiting(server)).toBe(false)
    const flushed = { of: 'commit_one_aloud', change: [['    COMMIT;\n', '']] } as const
    expect(await server.withBug(flushed, () => keptWaiting(server))).toBe(true)
  })

  it('does not wait for others who notify: those keep all who do waiting until they are on disk, and on a copy', async () => {
    await using server = await own()
    const client = await server.client('SET synchronous_commit = local')
    const stuck = await server.client('CREATE TABLE seen (n int)')
    await server.mirrored(true)
    const never = stuck.query('INSERT INTO seen VALUES (1); NOTIFY them')
    expect(await server.waits(stuck, never)).toBe('SyncRep')
    const call = aloud(client, 'submit_one', submission('beside', 1), 'made', 'triarch')
    const error = await call.then(String, (it) => it)
    expect([error.code, causeWithin(error, 'submit_one')]).toEqual(['55P03', undefined])
    expect((await client.query(`SELECT id FROM triarch.tasks`)).rows).toEqual([{ id: 'beside' }])
    await server.mirrored(false)
    await never
  })
})

/** What a submission that is told of early, and answered late, cannot do without (0136), and what is known of it then. */
const bugs: (Bug & { lacks: string; known: object })[] = [
  {
    lacks: 'its first transaction does not wait for the disk',
    of: 'submit_one_aloud',
    change: [["set_config('synchronous_commit', 'off', true)", "set_config('synchronous_commit', 'on', true)"]],
    known: { isSeen: false, isTold: false, waitFor: ['SyncRep', 'advisory', 'transactionid'] },
  },
  {
    lacks: 'it is told of in a transaction of its own',
    of: 'submit_one_aloud',
    change: [['words);\n  COMMIT;', 'words);']],
    known: { isTold: false },
  },
  {
    lacks: 'its answer waits until it is on disk',
    of: 'submit_one_aloud',
    change: [
      ['  PERFORM 1 FROM triarch.calls c WHERE c.slot = submit_one_aloud.slot AND c.number = call FOR UPDATE;\n', ''],
    ],
    known: { waitFor: [null, 'SyncRep', 'SyncRep'] },
  },
  {
    lacks: 'so does that of who asks again',
    of: 'submit_one',
    change: [
      ['    PERFORM 1 FROM triarch.calls c WHERE c.slot = submit_one.slot AND c.number = call FOR UPDATE;\n', ''],
    ],
    known: { waitFor: ['SyncRep', null, 'SyncRep'] },
  },
]

let submitted = 0
/** What is known of a submission, and who waits for what, while the server waits for a copy that all that is written must be on. */
async function onItsWay({ client, mirrored, waits, told, operator }: Server) {
  const on = 'SET synchronous_commit = on'
  const [one, again, beside] = [await client(on), await client(on), await client(on)]
  submitted += 2
  const [id, word] = [`ahead-${submitted}`, `made-${submitted}`]
  const quietly = (client: pg.Client, slot: string) =>
    client.query(inSchema(`SELECT triarch.submit_one(${placeholders(13)}) AS answer`, 'triarch'), [
      slot,
      ...submission(id, submitted).slice(1),
    ])
  // What a connection reads for the first time it may mark as committed, which writes to the log as well.
  await aloud(one, 'submit_one', submission(`first-${submitted}`, submitted - 1), 'first', 'triarch')
  await mirrored(true)
  const calls = [aloud(one, 'submit_one', submission(id, submitted), word, 'triarch')]
  const first = await waits(one, calls[0])
  const { rowCount } = await operator.query('SELECT FROM triarch.tasks WHERE id = $1', [id])
  const isTold = (await told())?.includes(word) === true
  calls.push(quietly(again, 's'), quietly(beside, 'other'))
  const others = [await waits(again, calls[1]), await waits(beside, calls[2])]
  await mirrored(false)
  const [key, ...answers] = (await Promise.all(calls)).map(({ rows }) => rows[0].answer)
  return { isSeen: rowCount === 1, isTold, waitFor: [first, ...others], isOne: answers.join() === `${key},-${key}` }
}

/** Whether others who notify wait while the end of a task is on its way to disk. */
async function keptWaiting({ client, mirrored, waits, told, operator }: Server) {
  const one = await client('SET synchronous_commit = on')
  submitted += 2
  const id = `ending-${submitted}`
  const { rows } = await aloud(one, 'submit_one', submission(id, submitted - 1), 'made', 'triarch')
  await operator.query(`UPDATE triarch.tasks SET locked_by = 'n', epoch = 1, ready = false WHERE id = $1`, [id])
  await mirrored(true)
  const call = aloud(one, 'commit_one', ending(rows[0].answer, id, 1, submitted), 'ended', 'triarch')
  expect(await waits(one, call)).toBe('SyncRep')
  const isKept = (await told()) === null
  await mirrored(false)
  expect((await call).rows).toMatchObject([{ answer: rows[0].answer }])
  return isKept
}

type Server = Awaited<ReturnType<typeof own>>

/** A server that can be told to wait for a copy that never comes. */
async function own() {
  const { url, stop } = await startServer()
  const made = postgres(url)(handClock())
  await made.open()
  await made.close()
  const pids = new Map<pg.Client, number>()
  const client = async (text: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(text)
    pids.set(client, (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid)
    return client
  }
  const operator = await client('SET synchronous_commit = off; SET lock_timeout = 20; LISTEN "triarch_@x"')
  const probe = await client('CREATE TABLE probed ()')
  let probed: Promise<unknown> | null = null
  let words: (string | undefined)[] = []
  operator.on('notification', ({ payload }) => words.push(payload))
  /** What its call waits for: the copy, or others; null: it is over. */
  const waits = async (client: pg.Client, call: Promise<unknown> | undefined) => {
    let done = false
    const end = () => {
      done = true
    }
    call?.then(end, end)
    const waiting = `SELECT wait_event AS of FROM pg_stat_activity WHERE pid = $1 AND (wait_event = 'SyncRep' OR wait_event_type = 'Lock')`
    while (!done) {
      const { rows } = await operator.query<{ of: string }>(waiting, [pids.get(client)])
      if (rows[0]) return rows[0].of
    }
    return null
  }
  return {
    client,
    operator,
    waits,
    withBug: <T>(bug: Bug, body: () => Promise<T>) => withBug({ client: operator, schema: 'triarch' }, bug, body),
    /** What was said up to now; null: nobody can say anything, for who does so is not on disk yet. */
    async told(): Promise<(string | undefined)[] | null> {
      // By then it has heard all that was said before.
      const said = await operator.query(`NOTIFY "triarch_@x", 'over'`).catch(() => null)
      const all = words
      words = []
      return said && all
    },
    async mirrored(on: boolean) {
      await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${on ? 'nobody' : ''}'`)
      await operator.query('SELECT pg_reload_conf()')
      if (!on) return void (await probed)
      // It takes the server a moment to want one.
      do probed = probe.query('INSERT INTO probed DEFAULT VALUES')
      while ((await waits(probe, probed)) !== 'SyncRep')
    },
    async [Symbol.asyncDispose]() {
      for (const it of pids.keys()) await it.end()
      await stop()
    },
  }
}
