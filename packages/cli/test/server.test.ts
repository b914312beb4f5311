import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type TriarchServer } from '@triarch/server'
import { Triarch } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exitCodes } from '../src/exit.ts'
import { run } from '../src/run.ts'
import { processTerminal, type Terminal } from '../src/terminal.ts'
import { triarch } from './binary.ts'
import { approval, bank, careful, desk, letter } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-cli-url-'))
const config = join(folder, 'config', 'config.json')
const workflows = [letter, approval, careful]
let engine: Triarch
let server: TriarchServer
let url: string
let env: Record<string, string>
let isPagerWell = true

/** In this process, where a person is needed. */
async function inside(args: readonly string[], given: Partial<Terminal> = {}) {
  const said = { out: '', err: '' }
  const terminal: Terminal = {
    ...processTerminal(),
    ...{
      width: null,
      colour: false,
      env,
      ask: async () => null,
      secret: async () => null,
      screen: () => null,
      errWidth: null,
      read: async () => '',
    },
    out(text) {
      said.out += text
    },
    err(text) {
      said.err += text
    },
    ...given,
  }
  return { exit: await run(args, terminal), ...said }
}

beforeAll(async () => {
  const send = () => {
    if (!isPagerWell) throw new Error('no route')
  }
  const alerts = { sinks: [{ name: 'pager', send }] }
  engine = new Triarch({ store: memory(), workflows, agents: [desk, bank], notices: false, operations: true, alerts })
  await engine.start()
  const authenticate = ({ headers }: Request) =>
    headers.get('authorization') === 'Bearer s3cret'
      ? { id: 'ada' }
      : headers.get('authorization') === 'Bearer look'
        ? { id: 'eve', rights: ['read', 'settings:read'] as const }
        : null
  server = createServer(engine, { workflows, authenticate })
  url = (await server.listen({ port: 0, signals: [] })).url
  env = { TRIARCH_URL: url, TRIARCH_KEY: 's3cret', TRIARCH_CONFIG: config }
})
afterAll(async () => {
  await server.close()
  await engine.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

it('works on the URL of a server as it does on a store, without the code of its workflows', async () => {
  const started = await triarch(
    ['task', 'start', 'letter', '--input', '"by URL"', '--id', 'u-1', '--wait', '--json'],
    env,
  )
  expect(started).toMatchObject({ exit: 0, err: '' })
  expect(JSON.parse(started.out)).toMatchObject({ id: 'u-1', output: 'BY URL' })
  const file = join(folder, 'u-1.json')
  expect((await inside(['task', 'start', 'careful', '--input', '"bad"', '--id', 'u-2'])).exit).toBe(0)
  for await (const { status } of engine.tasks.get('u-2').watch()) if (status === 'paused') break
  const on = async (...args: string[]) => {
    const { exit, out } = await inside(args)
    expect([args, exit]).toEqual([args, 0])
    return out
  }
  expect(await on('task', 'list', 'workflow:letter')).toMatch(/^u-1 +letter@1 +success/m)
  expect(await on('task', 'explain', 'u-2')).toContain('a step failed')
  expect(await on('task', 'steps', 'u-2', '--json')).toContain('not a word to stamp')
  expect(await on('task', 'skip', 'u-2', '--step', '1', '--output', '"HELD"', '--yes', '--wait')).toContain('HELD')
  expect(await on('task', 'history', 'u-2')).toContain('stepSkipped 1')
  expect(await on('task', 'watch', 'u-2', '--jsonl')).toContain('"outcome":"warning"')
  expect(await on('agent', 'list')).toMatch(/^desk +1 +0 +stamp/m)
  expect(await on('node', 'list')).toContain('scheduler')
  expect(await on('breaker', 'open', 'bank', '--reason', 'x', '--yes')).toMatch(/^state +open$/m)
  expect(await on('breaker', 'reset', 'bank', '--reason', 'x')).toContain('state')
  expect(await on('audit', '--on', 'breaker:bank', '--limit', '1')).toMatch(/breaker\.reset +breaker:bank .* x$/m)
  const setting = 'triarch.agent.bank'
  const why = ['--reason', 'a test']
  const letters = 'triarch.workflow.letter'
  await on('setting', 'set', letters, '{"paused":"no stamps","closed":"no paper"}', ...why)
  expect(await on('workflow', 'list')).toMatch(
    /^letter .*letter is paused since .* by ada: no stamps .* by ada: no paper/m,
  )
  await on('setting', 'set', letters, '{"paused":"no stamps"}', ...why)
  expect((await inside(['task', 'start', 'letter', '--input', '"late"', '--id', 'u-3'])).exit).toBe(0)
  expect(await on('task', 'get', 'u-3')).toMatch(
    /^waits +workflow-paused: workflow letter is paused since .* by ada: no stamps$/m,
  )
  expect(await on('task', 'list', 'workflow:letter')).toMatch(/^u-3 .* by ada: no stamps$/m)
  expect(await on('task', 'explain', 'u-3')).toMatch(/workflow letter is paused since .* by ada: no stamps/)
  await on('setting', 'set', letters, '--clear', ...why)
  await on('setting', 'set', 'triarch.agent.desk', '{"paused":"lunch"}', ...why)
  expect(await on('agent', 'list')).toMatch(/^desk .*desk is paused since .* by ada: lunch$/m)
  await on('setting', 'set', 'triarch.agent.desk', '--clear', ...why)
  expect(await on('setting', 'list')).toContain('triarch.engine')
  expect(await on('setting', 'set', setting, '{"priority":3}', ...why)).toMatch(/^live +version 1 by ada: a test$/m)
  expect(await on('setting', 'get', setting)).toMatch(/^says default +\{\}\n^says store +\{"priority":3\}$/m)
  const canary = ['--stage', 'label.zone=none,lasts=1h', '--guard', 'metric=queue-age,agent=bank,above=60000']
  const part = ['set', setting, '{"priority":5}', '--part', ...canary, ...why]
  expect(await on('setting', ...part)).toMatch(/^trial +version 2 by ada, stage 1 of 1: a test$/m)
  expect(await on('setting', 'rollout', setting, '--all', ...why)).toMatch(/^value +\{"priority":5\}$/m)
  expect(await on('setting', 'diff', setting)).toMatch(/^priority +3 +5$/m)
  expect(await on('setting', 'diff', setting, '1', '2')).toMatch(/^priority +3 +5$/m)
  expect(await on('setting', 'rollback', setting, '--to', '1', ...why)).toMatch(/^value +\{"priority":3\}$/m)
  expect(await on('setting', 'set', setting, '--clear', ...why)).toMatch(/^setting +triarch.agent.bank$/m)
  expect(await on('setting', 'history', setting)).toMatch(/^4 +\S+ \S+ +rolled-back +4 +ada +a test/m)
  const stale = await inside(['setting', 'set', setting, '{}', '--expected', '1', ...why])
  expect(stale.exit).toBe(exitCodes.conflict)
  expect((await inside(['setting', 'diff', setting, '77'])).exit).toBe(exitCodes.absent)
  expect((await inside(['setting', 'get', 'nobody.knows'])).exit).toBe(exitCodes.absent)
  expect((await inside(['setting', 'set', setting, ...why])).exit).toBe(exitCodes.usage)
  expect(await on('schedule', 'list')).toBe('no schedule\n')
  expect(await on('stats', '--json')).toContain('"tasks"')
  expect(await on('doctor')).toMatch(/^ok +server +\S+ answers$/m)
  await on('export', 'u-1', '--output', file)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ format: 1, task: { id: 'u-1' } })
  expect(await on('import', file)).toMatch(/^result +there$/m)
})

it('tells by the exit code what a server refused, and what only a store can do', async () => {
  const line = (code: string) => expect.stringMatching(new RegExp(`^triarch: ${code}: [^\\n]+\\n$`))
  const stranger = { ...env, TRIARCH_KEY: 'another' }
  const [absent, refused, needs] = await Promise.all([
    triarch(['task', 'get', 'nobody'], env),
    triarch(['stats'], stranger),
    triarch(['migrate', 'status'], env),
  ])
  expect(absent).toEqual({ exit: exitCodes.absent, out: '', err: line('UNKNOWN_TASK') })
  expect(refused).toEqual({ exit: exitCodes.forbidden, out: '', err: line('REQUEST_REFUSED') })
  expect(refused.err).not.toContain('another')
  const eve = { env: { ...env, TRIARCH_KEY: 'look' } }
  const word = ['setting', 'set', 'triarch.engine', '{}', '--reason', 'x']
  expect((await inside(['setting', 'get', 'triarch.engine'], eve)).exit).toBe(0)
  expect(await inside(word, eve)).toMatchObject({
    exit: exitCodes.forbidden,
    err: expect.stringContaining('this needs the right "settings:write"'),
  })
  expect(needs).toEqual({ exit: exitCodes.usage, out: '', err: line('NEEDS_STORE') })
  expect(await inside(['dev', 'app.ts', '--url', url])).toMatchObject({ exit: 2, err: line('NEEDS_STORE') })
  expect((await inside(['task', 'cancel', 'u-1', '--yes'])).exit).toBe(exitCodes.conflict)
  expect((await inside(['task', 'start', 'nothing'])).exit).toBe(exitCodes.absent)
  const nobody = { ...env, TRIARCH_URL: 'http://127.0.0.1:1' }
  expect((await inside(['stats'], { env: nobody })).exit).toBe(exitCodes.unavailable)
})

it('keeps keys out of arguments, out of what it prints, and out of plain connections', async () => {
  const without = { TRIARCH_CONFIG: config }
  const far = await inside(['stats', '--url', 'http://tasks.example.com'], { env: { ...without, TRIARCH_KEY: 'k' } })
  expect(far).toMatchObject({ exit: exitCodes.usage, err: expect.stringContaining('--insecure') })
  const inUrl = await inside(['stats', '--url', url.replace('//', '//ada:s3cret@')], { env: without })
  expect(inUrl.exit).toBe(exitCodes.usage)
  expect(inUrl.err).not.toContain('s3cret')
  const typed = await inside(['stats', '--url', url, '--ask-key'], { env: without, secret: async () => 's3cret' })
  expect(typed.exit).toBe(0)
  expect((await inside(['stats', '--url', url, '--ask-key'], { env: without })).exit).toBe(exitCodes.usage)
  const file = join(folder, 'key')
  writeFileSync(file, 's3cret\n')
  expect((await inside(['stats', '--url', url], { env: { ...without, TRIARCH_KEY_FILE: file } })).exit).toBe(0)
  const both = { ...env, TRIARCH_STORE: 'shop.db' }
  expect((await inside(['stats'], { env: both })).exit).toBe(exitCodes.usage)
  expect((await inside(['stats', '--url', url, '--store', 'shop.db'])).exit).toBe(exitCodes.usage)
})

it('keeps servers under names, in a file that nobody else can read', async () => {
  const alone = { TRIARCH_CONFIG: config }
  const set = ['profile', 'set', 'production', '--url', url]
  expect(await triarch([...set, '--key-stdin', '--json'], alone, 's3cret\n')).toMatchObject({ exit: 0, err: '' })
  expect(statSync(config).mode & 0o777).toBe(0o600)
  expect((await inside(['profile', 'set', 'desk', '--store', join(folder, 'desk.db')], { env: alone })).exit).toBe(0)
  const list = await inside(['profile', 'list'], { env: alone })
  expect(list.out).toMatch(/^production +yes +kept +http:/m)
  expect(list.out).not.toContain('s3cret')
  expect((await triarch(['stats', '--json'], alone)).exit).toBe(0)
  expect((await inside(['stats', '--profile', 'desk'], { env: alone })).err).toContain('NO_STORE')
  expect((await inside(['profile', 'use', 'desk'], { env: alone })).exit).toBe(0)
  expect((await inside(['stats'], { env: alone })).err).toContain('NO_STORE')
  expect((await inside(['stats', '--profile', 'other'], { env: alone })).exit).toBe(exitCodes.absent)
  chmodSync(config, 0o644)
  expect(await inside(['profile', 'list'], { env: alone })).toMatchObject({
    exit: exitCodes.forbidden,
    err: expect.stringContaining('chmod 600'),
  })
  chmodSync(config, 0o600)
  expect((await inside(['profile', 'remove', 'production'], { env: alone })).exit).toBe(exitCodes.usage)
  expect((await inside(['profile', 'remove', 'production', '--yes'], { env: alone })).exit).toBe(0)
  expect(readFileSync(config, 'utf8')).not.toContain('s3cret')
})

it('asks one thing of many tasks, of as many as were seen and no more', async () => {
  const on = async (...args: string[]) => {
    const { exit, out } = await inside(args)
    expect([args, exit]).toEqual([args, 0])
    return out
  }
  for (const id of ['m-1', 'm-2', 'm-3']) await engine.submit(approval, id, { id, tags: { many: 'yes' } })
  const preview = JSON.parse(await on('operation', 'preview', 'tag.many:yes', '--json')) as object
  expect(preview).toMatchObject({ count: 3 })
  const start = ['operation', 'start', 'cancel', 'tag.many:yes']
  expect((await inside(start)).exit).toBe(exitCodes.usage)
  const asked: string[] = []
  const no = async (question: string) => {
    asked.push(question)
    return 'n'
  }
  expect((await inside(start, { ask: no })).exit).toBe(exitCodes.usage)
  expect(asked).toEqual(['Cancel 3 tasks, which cannot be taken back? [y/N] '])
  const most = [...start, '--confirm', '2', '--yes', '--id', 'op-0', '--wait']
  expect((await inside(most)).exit).not.toBe(0)
  expect((await engine.tasks.get('m-1').status()).status).not.toBe('stopped')
  const done = await triarch([...start, '--yes', '--reason', 'a test', '--id', 'op-1', '--wait', '--json'], env)
  expect(done).toMatchObject({ exit: 0, err: '' })
  expect(JSON.parse(done.out)).toMatchObject({ matched: 3, done: 3, failed: 0, action: 'cancel' })
  expect(await on('operation', 'list')).toMatch(/^op-1 +success .*cancel tag.many:yes \("a test"\)$/m)
  expect(await on('operation', 'get', 'op-1', '--json')).toContain('"done": 3')
  expect((await inside(['operation', 'get', 'm-1'])).exit).toBe(exitCodes.absent)
  expect((await inside(['operation', 'cancel', 'op-1'])).exit).toBe(exitCodes.conflict)
  expect(await on('operation', 'start', 'retry', 'tag.many:no', '--yes', '--json')).toContain('"count": 0')
  expect((await inside(['operation', 'start', 'burn', 'tag.many:yes', '--yes'])).exit).toBe(exitCodes.usage)
})

it('tries the sinks of alerts that the server has, and ends with 1 where one did not hear it', async () => {
  const all = await inside(['alert', 'test', '--reason', 'before the holidays'])
  expect(all.exit).toBe(exitCodes.ok)
  expect(all.out).toMatch(/^log +yes/m)
  expect(all.out).toMatch(/^pager +yes/m)
  isPagerWell = false
  const one = await inside(['alert', 'test', 'pager', '--json'])
  expect(one.exit).toBe(exitCodes.failed)
  expect(JSON.parse(one.out)).toMatchObject([{ sink: 'pager', ok: false, problem: 'no route' }])
  expect((await inside(['alert', 'test', 'other'])).exit).toBe(exitCodes.usage)
  const looks = { ...env, TRIARCH_KEY: 'look' }
  expect((await inside(['alert', 'test'], { env: looks })).exit).toBe(exitCodes.forbidden)
  const { entries } = await engine.audit.list({ subject: 'sink:*' })
  expect(entries).toMatchObject([{ actor: 'ada', action: 'alert.test', reason: 'before the holidays' }])
})

/** What may have much to find, or to read. */
const looking = [
  ...['task list', 'task history u-1', 'task steps u-1', 'task logs u-1', 'task explain u-1', 'task get u-1'],
  ...['schedule list', 'operation list', 'operation preview status:paused', 'workflow list', 'agent list', 'lock list'],
  ...[
    'leader list',
    'breaker list',
    'rate-limit list',
    'setting list',
    'key list',
    'alert list',
    'probe list',
    'audit',
  ],
  ...['node list', 'stats', 'statistics', 'demand', 'health', 'export u-1', 'export --filter id:u-1'],
]

it.concurrent.each(looking)(
  '%s shows people that something goes on, once it takes longer than a second',
  async (line) => {
    const said = { out: '', err: '' }
    const { promise: seen, resolve: see } = Promise.withResolvers<void>()
    // Nothing is answered until somebody on the terminal sees that it is waited for.
    const slow = createHttp((incoming, outgoing) => void seen.then(() => server.node(incoming, outgoing)))
    slow.listen(0, '127.0.0.1')
    await once(slow, 'listening')
    const { port } = slow.address() as AddressInfo
    const ended = await inside(line.split(' '), {
      errWidth: 80,
      env: { ...env, TRIARCH_URL: `http://127.0.0.1:${port}` },
      out(text) {
        said.out += text
      },
      err(text) {
        said.err += text
        see()
      },
    })
    slow.close()
    expect([ended.exit, said.err]).toEqual([exitCodes.ok, expect.stringMatching(/\r\S+ .* s/)])
    // In the end, nothing of it is left.
    expect(said.err.endsWith('\r\u001b[2K')).toBe(true)
    expect(said.out).not.toContain('\r')
  },
)

it('keeps the reason why answers are not valid any more', async () => {
  for (const which of [['desk.stamp'], ['desk.stamp', '--key', '7'], ['--tag', 'x']])
    expect((await inside(['cache', 'invalidate', ...which, '--reason', `no ${which.at(-1)}`])).exit).toBe(0)
  const { entries } = await engine.audit.list({ action: 'cache.invalidate' })
  expect(entries.map(({ subject, actor, reason }) => [subject, actor, reason])).toEqual([
    ['cache:tag x', 'ada', 'no x'],
    ['cache:desk.stamp', 'ada', 'no 7'],
    ['cache:desk.stamp', 'ada', 'no desk.stamp'],
  ])
})

it('keeps the reasons of what is done to schedules', async () => {
  await engine.schedules.get('weekly').register({ workflow: letter, input: 'week', cron: '0 3 * * 1' })
  const week = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-14T00:00:00Z']
  for (const [act, ...given] of [['pause'], ['resume'], ['run'], ['backfill', ...week, '--yes'], ['remove', '--yes']])
    expect((await inside(['schedule', act ?? '', 'weekly', ...given, '--reason', `why ${act}`])).exit).toBe(0)
  const { entries } = await engine.audit.list({ subject: 'schedule:weekly' })
  expect(entries.filter(({ actor }) => actor === 'ada').map(({ reason }) => reason)).toEqual(
    ['pause', 'resume', 'run', 'backfill', 'remove'].map((act) => `why ${act}`).reverse(),
  )
})
