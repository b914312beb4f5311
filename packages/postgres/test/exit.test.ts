// What scripts go by: the same code for the same thing, wherever the tasks are.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '@triarch/server'
import { type StoreFactory, Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExitCode, exitCodes } from '../../cli/src/exit.ts'
import { run } from '../../cli/src/run.ts'
import { processTerminal } from '../../cli/src/terminal.ts'
import { approval, bank, desk, letter } from '../../cli/test/shop.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'

type Env = Readonly<Record<string, string>>

const folder = mkdtempSync(join(tmpdir(), 'triarch-exit-'))
const file = join(folder, 'shop.db')
const schema = freshSchema()
const role = `exit_${schema}`
const stores: readonly StoreFactory[] = [sqlite(file), postgres({ url: serverUrl(), schema })]
const engines = stores.map(
  (store) => new Triarch({ store, workflows: [letter, approval], agents: [desk, bank], notices: false }),
)
const authenticate = ({ headers }: Request) => (headers.get('authorization') === 'Bearer s3cret' ? { id: 'ada' } : null)
const server = createServer(engines[0] as Triarch, { workflows: [letter, approval], authenticate })

/** How to reach the tasks, to be refused, and to find nothing that answers; refused null: root is refused nothing by a file system. */
interface Place {
  well: Env
  refused: Env | null
  away: Env
}
const places = new Map<string, Place>()

async function exitOf(args: readonly string[], env: Env): Promise<{ exit: ExitCode; err: string }> {
  let said = ''
  const err = (text: string) => {
    said += text
  }
  const nobody = { ask: async () => null, secret: async () => null, out: () => undefined, err }
  const exit = await run(args, { ...processTerminal(), env, width: null, colour: false, ...nobody })
  return { exit: exit as ExitCode, err: said }
}

beforeAll(async () => {
  for (const engine of engines) {
    await engine.start()
    await (await engine.submit(letter, 'hello', { id: 'done' })).result()
    await (await engine.submit(letter, 'bad', { id: 'failed' })).result().catch(() => undefined)
    await engine.submit(approval, 'x', { id: 'waits' })
  }
  const { url } = await server.listen({ port: 0, signals: [] })
  const free = new URL(url)
  free.port = '1'
  places.set('the URL of a server', {
    well: { TRIARCH_URL: url, TRIARCH_KEY: 's3cret' },
    refused: { TRIARCH_URL: url, TRIARCH_KEY: 'wrong' },
    away: { TRIARCH_URL: free.href, TRIARCH_KEY: 's3cret' },
  })
  const [locked, old] = [join(folder, 'locked.db'), join(folder, 'old.db')]
  for (const path of [locked, old]) writeFileSync(path, '')
  chmodSync(locked, 0)
  places.set('a SQLite file', {
    well: { TRIARCH_STORE: file },
    refused: process.getuid?.() === 0 ? null : { TRIARCH_STORE: locked },
    away: { TRIARCH_STORE: old },
  })
  await withClient((client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`))
  const stranger = new URL(serverUrl())
  stranger.username = role
  stranger.password = 'x'
  const pg = { TRIARCH_STORE: serverUrl(), TRIARCH_SCHEMA: schema }
  places.set('PostgreSQL', {
    well: pg,
    refused: { ...pg, TRIARCH_STORE: stranger.href },
    away: { ...pg, TRIARCH_SCHEMA: `${schema}_none` },
  })
}, 60_000)
afterAll(async () => {
  await server.close()
  for (const engine of engines) await engine.stop({ grace: 0 })
  await dropSchema(schema)
  await withClient((client) => client.query(`DROP ROLE ${role}`))
  rmSync(folder, { recursive: true, force: true })
})

/** Exit code → what ends with it, where, and by which code it is told. */
const ends: readonly [code: ExitCode, args: string, at: keyof Place, told: RegExp][] = [
  [exitCodes.ok, 'task watch done', 'well', /^$/],
  [exitCodes.failed, 'task watch failed', 'well', /^$/],
  [exitCodes.usage, 'task list status:bogus', 'well', /^triarch: INVALID_FILTER: /],
  [exitCodes.usage, 'task cancel waits', 'well', /^triarch: USAGE: .*--yes/],
  [exitCodes.forbidden, 'task get done', 'refused', /^triarch: [A-Z_]+: /],
  [exitCodes.absent, 'task get nobody', 'well', /^triarch: UNKNOWN_TASK: /],
  [exitCodes.absent, 'probe history nowhere', 'well', /^triarch: NO_ENDPOINT: /],
  [exitCodes.conflict, 'task cancel done --yes', 'well', /^triarch: TASK_STOPPED: /],
  [exitCodes.unavailable, 'task get done', 'away', /^triarch: (?:SERVER_UNREACHABLE|STORE_\w+): /],
  [exitCodes.timeout, 'task watch waits --timeout 1ms', 'well', /^triarch: WAIT_TIMEOUT: /],
]

describe.each(['the URL of a server', 'a SQLite file', 'PostgreSQL'])('the command on %s', (name) => {
  it.each(ends)('ends with %i for: %s (%s)', { timeout: 30_000 }, async (code, args, at, told) => {
    const env = places.get(name)?.[at]
    if (!env) return expect([code, name]).toEqual([exitCodes.forbidden, 'a SQLite file'])
    const { exit, err } = await exitOf(args.split(' '), env)
    expect({ exit, err }).toEqual({ exit: code, err: expect.stringMatching(told) })
  })
})

it('each exit code that there is has its line', () => {
  expect(new Set(ends.map(([code]) => code))).toEqual(new Set(Object.values(exitCodes)))
})
