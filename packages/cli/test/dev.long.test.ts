import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, afterEach, expect, it } from 'vitest'
import { main, shop, triarch as triarchOf } from './binary.ts'
import type { letter } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-dev-'))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGTERM')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The command, and what it has printed so far. */
function running(args: readonly string[], env: Record<string, string> = {}): { child: ChildProcess; lines: string[] } {
  const lines: string[] = []
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  children.push(child)
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output as NodeJS.ReadableStream }).on('line', (line) => lines.push(line))
  return { child, lines }
}

const count = (lines: readonly string[], what: RegExp) => lines.filter((line) => what.test(line)).length

it('dev starts the module anew when it changes, and a task goes on with the new code', async () => {
  const triarch = new URL(import.meta.resolve('triarch')).href
  const module = join(folder, 'app.mjs')
  let written = 0
  const write = (word: string) => {
    const run = `async (_, task) => \`${word} \${await task.waitForSignal('go')}\` // ${++written}`
    writeFileSync(
      module,
      `import { workflow } from '${triarch}'\nexport const wait = workflow('wait', { run: ${run}\n})\n`,
    )
  }
  write('old')
  const { child, lines } = running(['dev', module, '--store', join(folder, 'dev.db')])
  await expect.poll(() => count(lines, /started with wait/)).toBe(1)
  await expect.poll(() => count(lines, /and the console http/)).toBe(1)
  const urls = () => lines.flatMap((line) => /the console (http:\S+)/.exec(line)?.[1] ?? [])
  const page = await fetch(urls()[0] ?? '')
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Triarch</title>')])

  await using client = new Triarch({ store: sqlite(join(folder, 'dev.db')), notices: false })
  const { wait } = (await import(module)) as { wait: typeof letter }
  const task = await client.submit(wait, '', { id: 'w-1' })
  await expect.poll(() => count(lines, /wait w-1 started/)).toBe(1)
  write('new')
  await expect.poll(() => count(lines, /Restarting/)).toBe(1)
  await expect.poll(() => count(lines, /started with wait/)).toBe(2)
  await expect.poll(() => urls().length).toBeGreaterThan(1)
  expect(new Set(urls()).size).toBe(1)
  await client.tasks.get('w-1').signal('go', 'on')
  expect(await task.result()).toBe('new on')
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})

it('dev notices each save of any file of the module, also by a rename and after one that was broken', async () => {
  const home = join(folder, 'saved')
  mkdirSync(home)
  const triarch = new URL(import.meta.resolve('triarch')).href
  const [module, part] = [join(home, 'app.mjs'), join(home, 'part.mjs')]
  /** As vim, JetBrains and sed -i do. */
  const save = (path: string, text: string) => {
    writeFileSync(`${path}~`, text)
    renameSync(`${path}~`, path)
  }
  const named = (name: string) => `export const name = '${name}'\n`
  save(part, named('n0'))
  save(module, `import { workflow } from '${triarch}'\nimport { name } from './part.mjs'\nexport const one = workflow(name, { run: async () => 1 })\n`) // biome-ignore format: one file
  const { child, lines } = running(['dev', module, '--store', join(home, 'dev.db')])
  await expect.poll(() => count(lines, /started with n0/)).toBe(1)
  for (const name of ['n1', 'n2', 'n3']) {
    save(part, named(name))
    await expect.poll(() => count(lines, new RegExp(`started with ${name}`))).toBe(1)
  }
  save(part, 'export const name =')
  await expect.poll(() => count(lines, /started again when a file changes/)).toBe(1)
  expect(count(lines, /MODULE_FAILED: .*SyntaxError/)).toBe(1)
  save(part, named('n4'))
  await expect.poll(() => count(lines, /started with n4/)).toBe(1)
  expect(count(lines, /Restarting: .*part\.mjs has changed/)).toBe(5)
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
  const missing = await triarchOf(['dev', join(home, 'nope.mjs')])
  expect(missing).toMatchObject({ exit: 2, err: expect.stringContaining('there is no file') })
})

it('start takes what else an engine is given from what the module exports as options', async () => {
  const triarch = new URL(import.meta.resolve('triarch')).href
  const write = (name: string, options: string) => {
    const module = join(folder, name)
    const flow = `export const quick = workflow('quick', { run: async () => 'done' })`
    writeFileSync(module, `import { workflow } from '${triarch}'\n${flow}\nexport const options = ${options}\n`)
    return module
  }
  const store = ['--store', join(folder, 'options.db')]
  const module = write(
    'options.mjs',
    `{ logLevel: 'info', logger: Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (...said) => console.log('LOG', JSON.stringify(said))])),
       telemetry: { 'task:stopped': ({ task }) => console.log('TOLD', task) }, labels: { zone: 'a' } }`,
  )
  const { child, lines } = running(['start', module, ...store])
  await expect.poll(() => count(lines, /started with quick/)).toBe(1)
  await using client = new Triarch({ store: sqlite(join(folder, 'options.db')), notices: false })
  const { quick } = (await import(module)) as { quick: typeof letter }
  await client.submit(quick, '', { id: 'q-1' })
  await expect.poll(() => [count(lines, /TOLD q-1/), count(lines, /quick q-1 success/), count(lines, /LOG .*q-1/) > 0]).toEqual([1, 1, true]) // biome-ignore format: one row
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
  for (const [options, exit, code] of [
    [`{ store: 1 }`, 2, 'options may not have store'],
    [`{ lesae: '3s' }`, 2, 'UNKNOWN_OPTION'],
  ] as const)
    expect(await triarchOf(['start', write(`${code.length}.mjs`, options), ...store])).toMatchObject({ exit, err: expect.stringContaining(code) }) // biome-ignore format: one row
})

it('start takes the next port where somebody has the one it wants, if it may', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const args = ['start', shop, '--store', join(folder, 'port.db'), '--port', `${port}`]
  const { lines } = running([...args, '--next-port'])
  await expect.poll(() => count(lines, /serves http/)).toBe(1)
  const [url = ''] = lines.flatMap((line) => /serves (http:\S+)/.exec(line)?.[1] ?? [])
  expect(Number(new URL(url).port)).toBeGreaterThan(port)
  expect(await triarchOf(args)).toMatchObject({ exit: 1, err: expect.stringContaining('EADDRINUSE') })
  holder.close()
})

it('start serves tasks to those with a key, its health and metrics to others', async () => {
  const options = [
    '--store',
    join(folder, 'served.db'),
    '--port',
    '0',
    '--metrics',
    '0',
    '--host',
    '127.0.0.1',
    '--keys',
  ]
  const key = 'k3y-of-20-characters'
  const { lines } = running(['start', shop, ...options], { TRIARCH_SERVER_KEY: key })
  await expect.poll(() => count(lines, /serves http/)).toBe(2)
  const [tasks = '', metrics = ''] = lines.flatMap((line) => /serves (http:\S+)/.exec(line)?.[1] ?? [])
  expect((await fetch(tasks)).status).toBe(401)
  const document = await fetch(tasks, { headers: { authorization: `Bearer ${key}` } })
  expect(await document.json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
  const { origin } = new URL(tasks)
  for (const path of ['/health/live', '/health/ready']) expect((await fetch(origin + path)).status).toBe(200)
  expect(await (await fetch(metrics)).text()).toContain('triarch_node_living')
  const given = ['task', 'start', 'letter', '--input', '"x"', '--wait', '--url', origin]
  expect(await triarchOf(given, { TRIARCH_KEY: key })).toMatchObject({ exit: 0, err: '' })
  const made = await triarchOf([
    'key',
    'create',
    'k',
    '--rights',
    'read',
    '--json',
    '--store',
    join(folder, 'served.db'),
  ])
  const { secret } = JSON.parse(made.out) as { secret: string }
  expect((await fetch(`${origin}/api/v1/stats`, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
  const open = await triarchOf(['start', shop, '--store', 'x.db', '--port', '0', '--host', '0.0.0.0'])
  expect(open).toMatchObject({ exit: 2, err: expect.stringContaining('TRIARCH_SERVER_KEY') })
  const start = ['start', shop, '--store', 'x.db', '--port', '0']
  for (const weak of ['', 'fifteen-letters'])
    expect(await triarchOf(start, { TRIARCH_SERVER_KEY: weak })).toMatchObject({
      exit: 2,
      err: expect.stringContaining('fewer than 16 characters'),
    })
  const file = join(folder, 'server-key')
  writeFileSync(file, key)
  chmodSync(file, 0o664)
  for (const [args, env] of [
    [start, { TRIARCH_SERVER_KEY_FILE: file }],
    [['stats', '--url', origin], { TRIARCH_KEY_FILE: file }],
  ] as const)
    expect(await triarchOf([...args], env)).toMatchObject({
      exit: 2,
      err: expect.stringContaining('others may change'),
    })
})

it('start serves, watches and does besides what the module says, as a program of its own would', async () => {
  const triarch = new URL(import.meta.resolve('triarch')).href
  const shop = createHttp((_, response) => void response.end('open')).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const { port } = shop.address() as AddressInfo
  const write = (name: string, exported: string) => {
    const module = join(folder, name)
    writeFileSync(
      module,
      `import { workflow } from '${triarch}'
       export const hello = workflow('hello', { run: async () => 'hello' })
       ${exported}`,
    )
    return module
  }
  const module = write(
    'duties.mjs',
    `export const server = {
       basePath: '/tasks', origins: ['https://console.example.com'], limits: { bytes: 1_000 },
       authenticate: ({ headers }) => headers.get('x-user') === 'ada' ? { id: 'ada', rights: ['read', 'start'] } : null,
     }
     export const prober = { endpoints: {
       shop: { url: 'http://127.0.0.1:${port}/', contains: 'open', every: 1_000, successes: 1 },
     } }
     export async function started(triarch) {
       await triarch.schedules.get('nightly').register({ workflow: hello, input: null, every: '1d' })
       triarch.leaders.lead('exporter', ({ token }) => console.log('LEADS', token))
     }`,
  )
  const store = ['--store', join(folder, 'duties.db')]
  // Others may come by its own authenticate: no key is asked for.
  const { child, lines } = running(['start', module, ...store, '--port', '0', '--host', '0.0.0.0'])
  await expect.poll(() => [count(lines, /serves http/), count(lines, /LEADS 1/)]).toEqual([1, 1])
  const [served = ''] = lines.flatMap((line) => /serves (http:\S+)/.exec(line)?.[1] ?? [])
  const at = served.replace('0.0.0.0', '127.0.0.1')
  expect(new URL(at).pathname).toBe('/tasks/api/v1/openapi.json')
  const headers = { 'x-user': 'ada', origin: 'https://console.example.com', 'content-type': 'application/json' }
  const tasks = at.replace('openapi.json', 'tasks')
  const submit = (input: string) =>
    fetch(tasks, { method: 'POST', headers, body: JSON.stringify({ workflow: 'hello', input }) })
  const made = await submit('x')
  expect([made.status, made.headers.get('access-control-allow-origin')]).toEqual([201, headers.origin])
  expect((await submit('x'.repeat(1_000))).status).toBe(413)
  expect((await fetch(tasks)).status).toBe(401)
  const probes = async () => JSON.parse((await triarchOf(['probe', 'list', '--json', ...store])).out) as unknown
  await expect.poll(probes, { interval: 500 }).toMatchObject([{ name: 'shop', state: 'up' }])
  expect(JSON.parse((await triarchOf(['schedule', 'list', '--json', ...store])).out)).toMatchObject([
    { name: 'nightly' },
  ])
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
  shop.close()
  for (const [exported, exit, said] of [
    [`export const server = { portt: 1 }`, 2, 'UNKNOWN_OPTION'],
    [`export const prober = { endpoints: {} }`, 2, 'INVALID_OPTION'],
    [`export const prober = 1`, 2, 'prober must be an object'],
    [`export const started = () => { throw new Error('no bank') }`, 1, 'no bank'],
  ] as const)
    expect(await triarchOf(['start', write('wrong.mjs', exported), ...store, '--port', '0'])).toMatchObject({ exit, err: expect.stringContaining(said) }) // biome-ignore format: one row
})
