// What `triarch doctor` says of a file and of a cluster, each made ill by what is looked for.
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { agent, migrate, TransientError, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { agents, breakers, clocks, living, nodes, versions } from '../src/doctor/cluster.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { build, disk, sqliteFindings } from '../src/doctor/sqlite.ts'
import { open, type StoreSession } from '../src/session.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let path = ''
let files = 0
beforeEach(async () => {
  path = join(folder, `${++files}.db`)
  await migrate(sqlite(path))
})

const told = (findings: readonly Finding[]) =>
  findings.map(({ check, verdict, found }) => `${verdict} ${check}: ${found}`)
const ofFile = (check: string) => told(sqliteFindings(path).filter((one) => one.check === check))
const change = (sql: string) => {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

it('a file that is not written ahead is told of', () => {
  expect(ofFile('journal')).toEqual(['ok journal: write-ahead log'])
  change('PRAGMA journal_mode = DELETE')
  expect(ofFile('journal')).toEqual(['fail journal: mode delete'])
})

it.each([
  ['in its data', -1, /^fail file: Tree \d+ page \d+: .+ returns error code 11$/],
  ['at its head', 0, /^fail file: file is not a database$/],
])('a file that is damaged %s is told of, and what to do', (_, page, expected) => {
  expect(ofFile('file')[0]).toMatch(/^ok file: .* and sound$/)
  // The last page is one of this table.
  change(`CREATE TABLE data AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    SELECT hex(zeroblob(500)) AS text FROM n`)
  change('PRAGMA wal_checkpoint(TRUNCATE)')
  const file = openSync(path, 'r+')
  const at = page < 0 ? statSync(path).size + page * 4_096 : page * 4_096
  writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, at)
  closeSync(file)
  expect(ofFile('file')[0]).toMatch(expected)
  expect(sqliteFindings(path).find(({ check }) => check === 'file')?.advice).toMatch(/^restore it from a backup/)
})

it('a log that was not written back for long is told of', () => {
  expect(ofFile('log')).toEqual(['ok log: 0.0 MB'])
  writeFileSync(`${path}-wal`, '')
  truncateSync(`${path}-wal`, 300 * 1024 * 1024)
  expect(ofFile('log')).toEqual(['warn log: 300.0 MB'])
})

it('a disk that is nearly full, and a SQLite for one thread, are told of', () => {
  expect(told([disk({ blocks: 1_000, bavail: 51, bsize: 1024 ** 2 })])).toEqual(['ok disk: 51.0 MB are free'])
  expect(told([disk({ blocks: 1_000, bavail: 49, bsize: 1024 ** 2 })])).toEqual(['warn disk: 49.0 MB are free'])
  // Some file systems do not say how large they are.
  expect(told([disk({ blocks: 0, bavail: 0, bsize: 4_096 })])).toEqual(['ok disk: 0.0 MB are free'])
  expect(told([build('3.50.0', '0'), build('3.50.0', '1')])).toEqual([
    'ok SQLite: version 3.50.0',
    'fail SQLite: version 3.50.0, built for one thread',
  ])
})

const mail = agent('mail')
const send = mail.action('send', { run: async () => 'sent' })
const bank = agent('bank', { circuitBreaker: { minimum: 2, open: '10m', openMax: '10m' } })
const pay = bank.action('pay', {
  retry: { attempts: 100, backoff: { initial: '1ms', max: '1ms' } },
  run: async () => {
    throw new TransientError('the bank is ill')
  },
})
const letter = workflow('letter', { run: (_: null, task) => task.run(send, null) })
const order = workflow('order', { run: (_: null, task) => task.run(pay, null) })
const workflows = [letter, order]

const looks =
  (look: (session: StoreSession) => Promise<Finding | Finding[]>, change?: (session: StoreSession) => object) =>
  async () => {
    await using session = await open(sqlite(path))
    return told([await look(Object.assign(session, change?.(session)))].flat())
  }
const shifted = (by: number) =>
  looks(clocks, ({ environment }) => ({
    environment: { now: () => environment.now() + by, monotonic: () => environment.monotonic() },
  }))

it('clocks that are apart are told of, by how much and which way', async () => {
  expect(await looks(clocks)()).toEqual([expect.stringMatching(/^ok clocks: /)])
  expect(await shifted(60_000)()).toEqual([
    expect.stringMatching(/^warn clocks: .* (59|60)\d\d\d ms behind this machine's$/),
  ])
  expect(await shifted(-60_000)()).toEqual([
    expect.stringMatching(/^warn clocks: .* 60\d\d\d ms ahead of this machine's$/),
  ])
})

it('nodes that are late, and roles that nobody has, are told of', async () => {
  expect(await looks(nodes)()).toEqual(['warn nodes: none lives'])
  expect(await looks(living)()).toEqual(['warn nodes: none lives'])
  await using session = await open(sqlite(path))
  const place = { host: 'db-1', pid: 7 } as never
  await session.port.heartbeat({ id: 'gone', roles: ['supervisor'], lease: 1, place })
  await session.port.heartbeat({ id: 'here', roles: ['scheduler'], lease: 3_600_000 })
  const lacking = [
    'fail roles: no living node has the role agent',
    'fail roles: no living node has the role supervisor',
  ]
  await expect.poll(looks(nodes)).toEqual(['ok nodes: 1 lives', expect.stringMatching(/^warn nodes: gone \(db-1, pid 7\) is \d+ s late$/), ...lacking]) // biome-ignore format: a row
  expect(await looks(living)()).toEqual(['ok nodes: 1 lives', ...lacking])
})

it('agents that nobody hosts, open breakers and code that nobody has are told of', async () => {
  const store = sqlite(path)
  await using ill = new Triarch({ store, workflows, agents: [bank], poll: '20ms', sweep: '50ms', notices: false })
  await ill.start()
  for (const [id, of] of [['l-1', letter], ['o-1', order], ['o-2', order]] as const) await ill.submit(of, null, { id }) // biome-ignore format: a row
  await expect.poll(looks(agents)).toEqual(['fail agents: 1 wait for mail, and no living node hosts it'])
  await expect.poll(looks(breakers)).toEqual(['warn breakers: bank is open'])
  expect(await looks(versions)()).toEqual(['ok versions: open tasks: 3, and each has a node that runs it'])
  await ill.stop({ grace: 0 })
  expect(await looks(versions)()).toEqual([
    'fail versions: 2 open tasks need order@1, and no living node has it',
    'fail versions: 1 open task needs letter@1, and no living node has it',
  ])
})
