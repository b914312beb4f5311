import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { Triarch, TriarchError } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endOf, exitCodes, Failure } from '../src/exit.ts'
import { run } from '../src/run.ts'
import { tableOf } from '../src/table.ts'
import { processTerminal, type Terminal } from '../src/terminal.ts'
import { main, shop, triarch } from './binary.ts'
import { referencePage } from './reference.ts'
import * as definitions from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-cli-'))
const path = join(folder, 'shop.db')
const env = { TRIARCH_STORE: path }
const { letter, approval, careful, desk, bank } = definitions
let engine: Triarch

/** In this process, where a test needs what a shell does not give: a terminal, an answer, a colour. */
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
  engine = new Triarch({
    store: sqlite(path),
    workflows: [letter, approval, careful],
    agents: [desk, bank],
    notices: false,
  })
  await engine.start()
  const done = await engine.submit(letter, 'hello', { id: 'done', tags: { customer: 'c-7' } })
  await done.result()
  await (await engine.submit(letter, 'bad', { id: 'failed' })).result().catch(() => undefined)
})
afterAll(async () => {
  await engine.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

describe('the command', () => {
  it('shows tables to people and data to programs', async () => {
    const [table, lines, whole] = await Promise.all([
      triarch(['task', 'list', 'status:stopped', 'workflow:letter'], env),
      triarch(['task', 'list', 'workflow:letter', '--jsonl'], env),
      triarch(['task', 'get', 'done', '--json'], env),
    ])
    expect(table).toMatchObject({ exit: 0, err: '' })
    expect(table.out.split('\n')[0]).toMatch(/^TASK +WORKFLOW +STATUS +SUBMITTED/)
    expect(table.out).toMatch(/^failed +letter@1 +error .*not a word to stamp$/m)
    expect(stripVTControlCharacters(table.out)).toBe(table.out)
    const found = lines.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string })
    expect(found.map(({ id }) => id)).toEqual(['failed', 'done'])
    expect(JSON.parse(whole.out)).toMatchObject({ id: 'done', output: 'HELLO', tags: { customer: 'c-7' } })
  })

  it('ends without a word when its reader closes the pipe, and in one line when its output cannot be written', async () => {
    const shell = (line: string) => spawnSync('sh', ['-c', line], { env: { ...process.env, ...env }, encoding: 'utf8' })
    const command = `"${process.execPath}" "${main}"`
    for (const asked of ['statistics', 'task history done', 'task list --jsonl']) {
      expect(shell(`${command} ${asked} 2>&1 >/dev/full`).stdout).toMatch(/^triarch: OUTPUT_FAILED: [^\n]+\n$/)
      const piped = shell(`{ ${command} ${asked}; echo "exit $?" >&2; } | true`)
      expect([asked, piped.stderr]).toEqual([asked, 'exit 0\n'])
    }
  })

  it('starts a task, waits for it, and ends as it ended', async () => {
    const start = ['task', 'start', 'letter', '--app', shop, '--wait', '--json']
    const [good, bad, late] = await Promise.all([
      triarch([...start, '--input', '-', '--id', 'from-shell', '--tag', 'by=shell'], env, '"from a pipe"'),
      triarch([...start, '--input', '"bad"'], env),
      triarch(
        ['task', 'start', 'approval', '--app', shop, '--input', '"x"', '--id', 'waits', '--wait', '--timeout', '1ms'],
        env,
      ),
    ])
    expect(good).toMatchObject({ exit: 0, err: '' })
    expect(JSON.parse(good.out)).toMatchObject({ id: 'from-shell', output: 'FROM A PIPE', tags: { by: 'shell' } })
    expect(bad.exit).toBe(1)
    expect(late).toMatchObject({ exit: 124, err: expect.stringMatching(/^triarch: WAIT_TIMEOUT: .*\n$/) })
    const signalled = await triarch(['task', 'signal', 'waits', 'approved', '{"by":"ada"}', '--wait', '--json'], env)
    expect(signalled.exit).toBe(0)
    expect(JSON.parse(signalled.out)).toMatchObject({ output: { by: 'ada' } })
  })

  it('says in one line what is wrong and what to do, with a code that scripts can tell', async () => {
    const line = (code: string) => expect.stringMatching(new RegExp(`^triarch: ${code}: [^\\n]+\\n$`))
    const [unknown, stopped, misspelt, filter, nowhere, absent] = await Promise.all([
      triarch(['task', 'get', 'nobody'], env),
      triarch(['task', 'cancel', 'done', '--yes'], env),
      triarch(['task', 'lst'], env),
      triarch(['task', 'list', 'status:bogus'], env),
      triarch(['task', 'list']),
      triarch(['stats'], { TRIARCH_STORE: join(folder, 'nothing.db') }),
    ])
    expect(unknown).toEqual({ exit: exitCodes.absent, out: '', err: line('UNKNOWN_TASK') })
    expect(stopped).toEqual({ exit: exitCodes.conflict, out: '', err: line('TASK_STOPPED') })
    expect(misspelt).toEqual({ exit: exitCodes.usage, out: '', err: line('USAGE') })
    expect(filter).toEqual({ exit: exitCodes.usage, out: '', err: line('INVALID_FILTER') })
    expect(nowhere).toEqual({ exit: exitCodes.usage, out: '', err: line('USAGE') })
    expect(absent).toEqual({ exit: exitCodes.absent, out: '', err: line('NO_STORE') })
  })

  it('takes no secret from the command line, and one from a file', async () => {
    const url = 'postgres://shop:secret@127.0.0.1:1/shop'
    const refused = await inside(['stats', '--store', url], { env: {} })
    expect(refused).toMatchObject({ exit: exitCodes.usage, out: '' })
    expect(refused.err).not.toContain('secret')
    const file = join(folder, 'store')
    writeFileSync(file, `${path}\n`)
    expect((await inside(['stats'], { env: { TRIARCH_STORE_FILE: file } })).exit).toBe(0)
  })

  it('destroys nothing unless somebody says yes', async () => {
    await engine.submit(approval, 'x', { id: 'kept' })
    const cancel = ['task', 'cancel', 'kept']
    expect((await inside(cancel)).exit).toBe(exitCodes.usage)
    expect((await inside(cancel, { ask: async () => 'n' })).exit).toBe(exitCodes.usage)
    expect((await engine.tasks.get('kept').status()).status).not.toBe('stopped')
    const yes = await inside([...cancel, '--wait', '--reason', 'a test'], { ask: async () => 'y' })
    expect(yes).toMatchObject({ exit: 0, err: '' })
  })

  it('mends a task that is held', async () => {
    await engine.submit(careful, 'bad', { id: 'held' })
    for await (const { status } of engine.tasks.get('held').watch()) if (status === 'paused') break
    expect((await inside(['task', 'explain', 'held'])).out).toContain('a step failed')
    expect((await inside(['task', 'steps', 'held', '--json'])).out).toContain('not a word to stamp')
    const skipped = await inside([
      'task',
      'skip',
      'held',
      '--step',
      '1',
      '--output',
      '"HELD"',
      ...['--reason', 'done by hand', '--actor', 'ada'],
      '--yes',
      '--wait',
      '--json',
    ])
    expect(skipped.exit).toBe(0)
    expect(JSON.parse(skipped.out)).toMatchObject({ output: 'HELD' })
    expect((await inside(['task', 'watch', 'held', '--jsonl'])).exit).toBe(0)
    expect((await inside(['task', 'watch', 'failed'])).exit).toBe(1)
    expect((await inside(['task', 'history', 'held'])).out).toContain('stepSkipped 1 (by ada: "done by hand")')
  })

  it('shows the log of a task, and follows it', async () => {
    await (await engine.submit(letter, 'logged', { id: 'logged' })).result()
    await engine.tasks.get('logged').logs() // what this process said is in the store
    expect((await inside(['task', 'logs', 'logged'])).out).toMatch(/^\S+Z? .*info +1\/1 +stamping +.*logged/)
    const lines = JSON.parse((await inside(['task', 'logs', 'logged', '--json', '--step', '1'])).out)
    expect(lines).toMatchObject([{ message: 'stamping', fields: { text: 'logged' } }])
    expect((await inside(['task', 'logs', 'logged', '--level', 'warn'])).out).toBe('no lines\n')
    expect(JSON.parse((await inside(['task', 'logs', 'logged', '--follow', '--jsonl'])).out)).toMatchObject(lines[0])
    expect((await inside(['task', 'logs', 'logged', '--level', 'loud'])).exit).toBe(exitCodes.usage)
  })

  it('looks after schedules', async () => {
    const night = { workflow: letter, input: 'night', cron: '0 3 * * *' }
    await schedule('nightly', night)
    const on = (...args: string[]) => inside(['schedule', ...args])
    expect((await on('list')).out).toMatch(/^nightly +letter@1 +0 3 \* \* \* UTC/m)
    expect((await on('pause', 'nightly', '--reason', 'stock-taking', '--json')).exit).toBe(0)
    expect((await on('get', 'nightly')).out).toContain('stock-taking')
    expect((await on('resume', 'nightly')).exit).toBe(0)
    expect(JSON.parse((await on('next', 'nightly', '--count', '3', '--json')).out)).toHaveLength(3)
    const week = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-03T00:00:00Z', '--overlap', 'allow']
    expect(JSON.parse((await on('backfill', 'nightly', ...week, '--yes', '--json')).out)).toHaveLength(2)
    expect((await on('backfill', 'nightly', ...week, '--overlap', 'never', '--yes')).exit).toBe(exitCodes.usage)
    expect(
      JSON.parse((await on('run', 'nightly', '--id', 'at-once', '--overlap', 'allow', '--json')).out),
    ).toMatchObject({
      task: 'at-once',
    })
    expect((await on('run', 'nightly', '--overlap', 'never')).exit).toBe(exitCodes.usage)
    expect((await on('remove', 'nightly', '--yes')).exit).toBe(0)
    expect((await on('get', 'nightly')).exit).toBe(exitCodes.absent)
  })

  it('shows what there is, and holds back an agent by its circuit breaker', async () => {
    expect((await inside(['workflow', 'list'])).out).toMatch(/^letter +1 \(1\)$/m)
    expect((await inside(['cache', 'invalidate', 'desk.stamp', '--key', '{}'])).exit).toBe(0)
    expect((await inside(['cache', 'invalidate', '--tag', 'x'])).out).toMatch(/^done/)
    expect((await inside(['cache', 'invalidate'])).exit).toBe(exitCodes.usage)
    expect((await inside(['leader', 'list'])).out).toBe('nobody ever led\n')
    expect((await inside(['agent', 'list'])).out).toMatch(/^desk +1 +0 +stamp/m)
    expect((await inside(['lock', 'list'])).out).toBe('nobody has a lock\n')
    const breaker = (...args: string[]) => inside(['breaker', ...args])
    await expect.poll(async () => (await breaker('list')).out).toMatch(/^bank +closed/m)
    const open = ['open', 'bank', '--reason', 'maintenance', '--actor', 'ada']
    expect((await breaker(...open)).exit).toBe(exitCodes.usage)
    expect((await breaker(...open, '--yes')).out).toMatch(/^state +open$/m)
    expect((await breaker('reset', 'bank', '--reason', 'done')).out).toMatch(/^state +(?:releasing|closed)$/m)
    expect((await breaker('close', 'nothing', '--reason', 'x')).exit).toBe(exitCodes.absent)
    const rate = (...args: string[]) => inside(['rate-limit', ...args])
    await expect.poll(async () => (await rate('list')).out).toMatch(/^bank +1000 in 1000 ms/m)
    const change = ['change', 'bank', '--limit', '20', '--per', '1s', '--reason', 'few hands']
    expect((await rate(...change)).out).toMatch(/^forced +20 in 1000 ms$/m)
    expect((await rate('lift', 'bank', '--reason', 'all hands')).exit).toBe(exitCodes.usage)
    expect((await rate('lift', 'bank', '--reason', 'all hands', '--yes')).out).toMatch(/^forced +lifted$/m)
    expect((await rate('restore', 'bank', '--reason', 'done')).out).not.toMatch(/lifted/)
    expect((await rate('restore', 'nothing', '--reason', 'x')).exit).toBe(exitCodes.absent)
  })

  it('makes keys, whose secret is shown once, lists, rotates and revokes them', async () => {
    const key = (...args: string[]) => inside(['key', ...args], { env: { ...env, USER: 'ada' } })
    expect((await key('list')).out).toBe('no key\n')
    const made = await key('create', 'billing', '--rights', 'start, read', '--expires', '90d', '--note', 'the service')
    const [secret] = /triarch_billing_[\w-]{43}/.exec(made.out) ?? []
    expect(made).toMatchObject({ exit: 0, out: expect.stringMatching(/^rights +read start$/m) })
    expect(secret).toBeDefined()
    const listed = await key('list')
    expect(listed.out).toMatch(/^billing +active +read start +\d{4}-.* ada +the service$/m)
    const shown = await key('get', 'billing', '--json')
    expect(JSON.parse(shown.out)).toMatchObject({ name: 'billing', made: { actor: 'ada' } })
    expect((await key('create', 'billing', '--rights', 'all')).exit).toBe(exitCodes.conflict)
    expect((await key('create', 'other', '--rights', 'everything')).exit).toBe(exitCodes.usage)
    expect((await key('create', 'other')).exit).toBe(exitCodes.usage)
    const why = ['billing', '--reason', 'each quarter'] as const
    const again = await key('rotate', ...why, '--overlap', '1h', '--json')
    expect(JSON.parse(again.out)).toMatchObject({ secret: expect.stringMatching(/^triarch_billing_/) })
    expect(again.out).not.toContain(secret)
    expect((await key('revoke', ...why)).exit).toBe(exitCodes.usage)
    expect((await key('revoke', ...why, '--yes')).out).toMatch(/^revoked +ada: each quarter$/m)
    expect((await key('rotate', ...why)).exit).toBe(exitCodes.absent)
    for (const { out } of [listed, shown, await key('list', '--jsonl')]) expect(out).not.toContain(secret?.slice(-43))
  })

  it('tells what is wrong, and takes an operator’s word on it', async () => {
    expect((await inside(['alert', 'list'])).out).toBe('nothing is wrong that anybody watches for\n')
    const wrong = join(folder, 'wrong.db')
    const alerts = { every: '50ms', rules: { check: { for: 0 } } } as const
    const health = { checks: { bank: () => false } }
    const watched = new Triarch({ store: sqlite(wrong), notices: false, sweep: '50ms', alerts, health })
    await watched.start()
    const alert = (...args: string[]) => inside(['alert', ...args], { env: { TRIARCH_STORE: wrong } })
    await expect.poll(async () => (await alert('list')).out, { timeout: 15_000 }).toMatch(/^check:bank +firing/m)
    const why = ['check:bank', '--reason', 'I look', '--actor', 'ada']
    expect((await alert('acknowledge', ...why)).out).toMatch(/^owner +ada$/m)
    expect((await alert('silence', ...why)).exit).toBe(exitCodes.usage)
    expect((await alert('silence', ...why, '--until', '2999-01-01')).out).toMatch(/^silent until +2999-/m)
    expect((await alert('end', ...why)).exit).toBe(exitCodes.usage)
    expect((await alert('end', ...why, '--yes')).out).toMatch(/^phase +ended$/m)
    expect((await alert('end', 'check:none', '--reason', 'x', '--yes')).exit).toBe(exitCodes.absent)
    expect((await alert('list', '--ended')).exit).toBe(0)
    // A command on the store has no sinks of its own.
    expect(await alert('test')).toMatchObject({
      exit: exitCodes.failed,
      out: expect.stringMatching(/^there is no sink/),
    })
    expect((await alert('test', 'pager')).exit).toBe(exitCodes.usage)
    await watched.stop({ grace: 0 })
  })

  it('tells how often and how long, by what one asks for, and how far behind that is', async () => {
    const nobody = await inside(['statistics'])
    expect(nobody.out).toMatch(/^nothing was counted\nnothing is counted whole yet/)
    const at = join(folder, 'counted.db')
    const counted = new Triarch({
      ...{ store: sqlite(at), notices: false, sweep: '50ms', statistics: { tag: 'customer' } },
      ...{ workflows: [letter], agents: [desk] },
    })
    await counted.start()
    const task = await counted.submit(letter, 'hello', { tags: { customer: 'c-7' } })
    await task.result()
    const ask = (...args: string[]) => inside(['statistics', ...args], { env: { TRIARCH_STORE: at } })
    await expect.poll(async () => (await ask()).out, { timeout: 15_000 }).toMatch(/^task +letter +success +1 /m)
    const { out } = await ask('--by', 'tag,workflow', '--kind', 'task', '--tag', 'c-7')
    expect(out).toMatch(/^TAG +WORKFLOW +COUNT +MEAN MS +P50 +P95 +P99$/m)
    expect(out).toMatch(/^c-7 +letter +1 /m)
    expect(out).toMatch(/^all is counted that was written before 2\d{3}-.* \d+ ms ago$/m)
    const data = JSON.parse((await ask('--by', 'hour', '--json')).out)
    expect(data).toMatchObject({ rows: [{ hour: expect.stringMatching(/^2\d{3}-.*Z$/) }], behind: expect.any(Number) })
    expect((await ask('--from', '2999-01-01')).out).toMatch(/^nothing was counted\nall is counted/)
    expect(await ask('--by', 'colour')).toMatchObject({ exit: exitCodes.usage, err: expect.stringContaining('colour') })
    expect((await inside(['recount'], { env: { TRIARCH_STORE: at } })).exit).toBe(exitCodes.usage)
    const again = ['recount', '--yes', '--reason', 'a test', '--actor', 'ada']
    const waited = await inside([...again, '--wait', '--timeout', '20s'], { env: { TRIARCH_STORE: at } })
    expect(waited).toMatchObject({ exit: 0, out: 'all is counted again\n' })
    await expect.poll(async () => (await ask()).out, { timeout: 15_000 }).toMatch(/^task +letter +success +1 /m)
    await counted.stop({ grace: 0 })
    // Nobody counts: what is shown of it on a terminal is gone in the end, and data has none of it.
    const given = { env: { TRIARCH_STORE: at }, errWidth: 80 }
    const vain = await inside([...again, '--wait', '--timeout', '1600ms'], given)
    expect(vain).toMatchObject({ exit: exitCodes.timeout, out: '' })
    expect(stripVTControlCharacters(vain.err)).toMatch(/recount \[-{24}\] 0% 0\/100 1 s/)
    expect(vain.err).toContain('\r\u001b[2Ktriarch: WAIT_TIMEOUT: 0 % are counted so far')
    const silent = await inside([...again, '--wait', '--timeout', '1200ms', '--json'], given)
    expect(silent.err).toMatch(/^triarch: WAIT_TIMEOUT/)
    expect((await ask()).out).toMatch(/^nothing was counted\nit is counted anew since 2.*: 0 % so far$/m)
  })

  it('says how the system is, with a code that a script can go by', async () => {
    const { exit, out } = await inside(['health', '--json'])
    const checks = JSON.parse(out) as { name: string; status: string }[]
    expect(checks.find(({ name }) => name === 'store.write')?.status).toBe('ok')
    expect(exit).toBe(checks.some(({ status }) => status === 'critical') ? 1 : 0)
    expect(await inside(['health', 'leader', 'store.read'])).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/CHECK/),
    })
    expect((await inside(['health', 'nothing'])).exit).toBe(2)
    const dead = join(folder, 'dead.db')
    const alone = new Triarch({ store: sqlite(dead), notices: false })
    await alone.open()
    await alone.stop()
    const nobody = await inside(['health', 'leader'], { env: { TRIARCH_STORE: dead } })
    expect(nobody).toMatchObject({ exit: 1, out: expect.stringContaining('no supervisor leads') })
  })

  it('shows what a prober has kept of the endpoints that it watches', async () => {
    expect(await inside(['probe', 'list'])).toMatchObject({ exit: 0, out: expect.stringMatching(/^no endpoint /) })
    const at = new Date('2026-01-01T00:00:00Z')
    const well = { at, ms: 12.4, status: 200, redirects: [], certificateUntil: new Date('2026-03-01T00:00:00Z') }
    const problem = { code: 'status', message: 'the status is 500' } as const
    const ill = { at, ms: 3, status: 500, redirects: [], problem }
    const url = 'https://shop.example.com/'
    await engine.leaders.lead('prober', ({ keepProbes }) =>
      keepProbes([
        { name: 'bank', url, state: 'unknown', since: at, streak: 0, lateAt: at },
        { name: 'shop', url, state: 'down', since: at, streak: 1, lateAt: at, last: ill, history: [well, ill] },
      ]),
    )
    const { out } = await inside(['probe', 'list'])
    expect(out).toMatch(/^ENDPOINT +STATE +SINCE +PROBED +MS +URL +FOUND\nbank +unknown +2026-01-01 00:00:00 +https/)
    expect(out).toMatch(/^shop +down +2026-01-01 00:00:00 +2026-01-01 00:00:00 +3 +https:\S+ +the status is 500$/m)
    const looks = (await inside(['probe', 'history', 'shop'])).out.split('\n').slice(1, -1)
    expect(looks).toEqual([
      expect.stringMatching(/^2026-01-01 00:00:00 +12 +200 +2026-03-01 00:00:00$/),
      expect.stringMatching(/^2026-01-01 00:00:00 +3 +500 +status: the status is 500$/),
    ])
    expect(JSON.parse((await inside(['probe', 'history', 'shop', '--json'])).out)).toHaveLength(2)
    const absent = await inside(['probe', 'history', 'nowhere'])
    expect(absent).toMatchObject({ exit: exitCodes.absent, err: expect.stringMatching(/^triarch: NO_ENDPOINT: /) })
  })

  it('says why a task that it waits for does not move, as soon as that is sure', async () => {
    const said: string[] = []
    const task = await engine.submit(careful, 'bad', { id: 'stays' })
    for await (const { status } of task.watch()) if (status === 'paused') break
    const err = (text: string) => {
      said.push(text)
      if (text.includes('is paused')) void task.cancel()
    }
    const { exit } = await inside(['task', 'resume', 'stays', '--wait'], { err })
    expect(exit).toBe(1)
    expect(said).toEqual(['triarch: task "stays" is paused (step: not a word to stamp): waiting until somebody resumes or ends it\n']) // biome-ignore format: a row
  })

  it('says what is wrong with a module, and where', async () => {
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const start = (module: string) => triarch(['task', 'start', 'letter', '--app', module], env)
    const [absent, throws, wrong, broken] = await Promise.all([
      start(join(folder, 'no-such.ts')),
      start(write('throws.ts', "export const a = 1\n\nthrow new TypeError('no bank')\n")),
      start(write('wrong.mjs', 'export const a = \n)\n')),
      start(write('broken.ts', "import { nothing } from './absent.ts'\nexport { nothing }\n")),
    ])
    expect(absent).toMatchObject({ exit: exitCodes.usage, err: expect.stringMatching(/^triarch: USAGE: there is no file /) }) // biome-ignore format: a row
    expect(throws).toMatchObject({ exit: 1, err: expect.stringMatching(/^triarch: MODULE_FAILED: \S*throws\.ts:3:7: TypeError: no bank\n$/) }) // biome-ignore format: a row
    expect(wrong).toMatchObject({ exit: 1, err: expect.stringMatching(/^triarch: MODULE_FAILED: \S*wrong\.mjs:2: SyntaxError: /) }) // biome-ignore format: a row
    expect(broken).toMatchObject({ exit: 1, err: expect.stringMatching(/absent\.ts/) })
  })

  it('says who it was, who pays attention to what, and how far it is', async () => {
    await engine.submit(approval, 'x', { id: 'by-job' })
    const job = { env: { ...env, TRIARCH_ACTOR: 'nightly job', USER: 'root' } }
    expect((await inside(['task', 'pause', 'by-job'], job)).exit).toBe(0)
    await expect.poll(async () => (await engine.tasks.get('by-job').status()).pause?.actor).toBe('nightly job')
    await engine.schedules.get('actor').register({ workflow: letter, input: 'x', every: '1d' })
    expect((await inside(['schedule', 'pause', 'actor'], job)).exit).toBe(0)
    const { entries } = await engine.audit.list({ limit: 5 })
    expect(entries.find(({ subject }) => subject === 'schedule:actor')).toMatchObject({ actor: 'nightly job' })
    expect((await inside(['task', 'history', 'failed'])).out).toMatch(/not a word to stamp/)
  })

  it('finds what is wrong with a system', async () => {
    const well = await triarch(['doctor', '--json'], env)
    const findings = JSON.parse(well.out) as { check: string; verdict: string }[]
    expect(findings.filter(({ verdict }) => verdict === 'fail')).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['SQLite', 'schema', 'clocks', 'nodes', 'versions']),
    )
    expect(well.exit).toBe(0)
    const other = join(folder, 'other.db')
    const alone = ['--store', other]
    expect((await inside(['migrate', 'up', '--patience', '1m', ...alone])).exit).toBe(0)
    expect((await inside(['migrate', 'check', ...alone])).exit).toBe(0)
    expect((await inside(['migrate', 'status', ...alone])).out).toBe('nothing is pending\n')
    expect((await inside(['task', 'start', 'letter', '--app', shop, '--input', '"x"', ...alone])).exit).toBe(0)
    const ill = await inside(['doctor', ...alone])
    expect(ill.exit).toBe(1)
    expect(ill.out).toMatch(/^fail +versions +1 open task needs letter@1, and no living node has it/m)
    expect((await inside(['node', 'list', ...alone])).out).toBe('no node lives\n')
  })

  it("says whether today's code agrees with a history", async () => {
    const file = join(folder, 'done.json')
    expect((await inside(['export', 'done', '--output', file])).exit).toBe(0)
    const changed = join(folder, 'changed.mjs')
    const url = new URL(import.meta.resolve('triarch')).href
    writeFileSync(
      changed,
      `import { workflow } from ${JSON.stringify(url)}\nexport const letter = workflow('letter', { run: (text, task) => task.sleep('1s') })\n`,
    )
    const [same, other] = await Promise.all([
      triarch(['replay', file, shop, '--json']),
      triarch(['replay', file, changed]),
    ])
    expect(same.exit).toBe(0)
    expect(JSON.parse(same.out)).toMatchObject({ workflow: 'letter', decisions: 2 })
    expect(other).toMatchObject({ exit: 1, out: expect.stringContaining('HISTORY_MISMATCH') })
    expect((await inside(['replay', shop, shop])).exit).toBe(exitCodes.usage)
  })

  it('moves tasks with their histories to another store, and none twice', async () => {
    const [file, store] = [join(folder, 'moved.jsonl'), join(folder, 'moved.db')]
    const open = await engine.submit(approval, 'open', { id: 'open' })
    await expect.poll(async () => (await open.steps()).at(-1)?.status).toBe('success')
    const filter = ['--filter', 'id:done,failed,open', '--secrets', '--output', file]
    expect((await inside(['export', ...filter])).out).toMatch(/^tasks +3$/m)
    expect((await inside(['export', ...filter])).exit).toBe(exitCodes.failed)
    const there = ['--store', store]
    await inside(['migrate', 'up', ...there])
    const moved = await inside(['import', file, '--reason', 'the shop moves', '--jsonl', ...there])
    expect(
      moved.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(['open', 'failed', 'done'].map((id) => ({ id, result: 'imported' })))
    expect((await inside(['task', 'get', 'open', ...there])).out).toMatch(/^status +paused$/m)
    expect((await inside(['task', 'get', 'done', ...there])).out).toContain('HELLO')
    expect((await inside(['audit', '--on', 'task:open', ...there])).out).toContain('the shop moves')
    expect((await inside(['import', file, ...there])).out).toMatch(/^open +there/m)
    const one = await triarch(
      ['import', '-', '--json', ...there],
      {},
      JSON.stringify(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '')),
    )
    expect(one).toMatchObject({ exit: 0, out: expect.stringContaining('"there"') })
    const changed = readFileSync(file, 'utf8').replaceAll('hello', 'hullo')
    writeFileSync(file, changed)
    const refused = await inside(['import', file, ...there])
    expect(refused).toMatchObject({
      exit: exitCodes.failed,
      out: expect.stringMatching(/^done +refused +TASK_EXISTS/m),
    })
    writeFileSync(file, changed.trim().split('\n').at(-1) ?? '')
    expect((await inside(['import', file, ...there])).exit).toBe(exitCodes.conflict)
    expect((await inside(['import', shop, ...there])).exit).toBe(exitCodes.usage)
    expect((await inside(['export'])).exit).toBe(exitCodes.usage)
    await open.cancel({ force: true })
  })

  it('runs a node until it is told to stop', async () => {
    const store = join(folder, 'started.db')
    const child = spawn(process.execPath, [main, 'start', shop, '--store', store], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (/started with/.test(line)) {
        const given = ['--app', shop, '--input', '"x"', '--id', 's-1', '--wait', '--store', store]
        expect((await inside(['task', 'start', 'letter', ...given])).exit).toBe(0)
        child.kill('SIGTERM')
      }
    }
    expect(await ended).toBe(0)
    expect(lines.some((line) => /letter s-1 success$/.test(line))).toBe(true)
  })
})

async function schedule(name: string, options: object): Promise<void> {
  await engine.schedules.get(name).register(options as never)
}

describe('what is shown', () => {
  const at = { ...processTerminal(), width: 30, colour: true }

  it('fits the terminal, in colour where there is one', () => {
    const table = tableOf(
      [
        ['NAME', (row: string) => row],
        ['TEXT', (row: string) => row.repeat(9)],
      ],
      ['abcd'],
      at,
    )
    expect(table).toContain('\u001b[1m')
    for (const line of stripVTControlCharacters(table).split('\n')) expect(line.length).toBeLessThanOrEqual(30)
    expect(table).toContain('…')
  })

  it('steers no terminal, whatever a task carries', () => {
    const evil = 'a\u001b]0;title\u0007\u001b[2Jb\nc\u202e'
    expect(
      tableOf([['X', (row: string) => row]], [evil], { ...at, colour: false, width: null }).split('\n'),
    ).toHaveLength(2)
    const shown = tableOf([['X', (row: string) => row]], [evil], { ...at, colour: false })
    for (const character of ['\u001b', '\u0007', '\u202e']) expect(shown).not.toContain(character)
  })

  it('has an exit code for each kind of error', () => {
    const of = (error: unknown) => endOf(error).exit
    expect(of(new TriarchError('STORE_UNAVAILABLE', 'away'))).toBe(exitCodes.unavailable)
    expect(of(new TriarchError('WAIT_TIMEOUT', 'late'))).toBe(exitCodes.timeout)
    expect(of(new TriarchError('INVARIANT', 'ours'))).toBe(exitCodes.failed)
    const denied = Object.assign(new Error('no'), { code: '28P01' })
    expect(of(new TriarchError('STORE_FAILED', 'no', { cause: denied }))).toBe(exitCodes.forbidden)
    expect(of(Object.assign(new Error('no'), { code: 'EACCES' }))).toBe(exitCodes.forbidden)
    expect(of(new Failure(exitCodes.absent, 'NO_STORE', 'x'))).toBe(exitCodes.absent)
    expect(of('thrown')).toBe(exitCodes.failed)
  })

  it('is documented as the program has it', async () => {
    await expect(referencePage()).toMatchFileSnapshot('../../../docs/reference/cli.md')
  })
})
