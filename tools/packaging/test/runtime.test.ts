import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { oldest, root } from '../manifest.ts'
import { run, started, tools } from './tool.ts'

const app = inject('app')
const node = (name: string) => [join(tools, name, 'bin/node')]
const runtimes: Record<string, string[]> = {
  'the oldest Node 24': node('node-24.15'),
  'Node 24': [process.execPath],
  'Node 26': node('node-26'),
  Bun: [join(tools, '.bin/bun')],
  Deno: [join(tools, '.bin/deno'), 'run', '--allow-all'],
}
for (const name of ['sqlite.mjs', 'postgres.mjs', 'server.mjs', 'served.mjs', 'client.mjs'])
  copyFileSync(join(root, 'tools/packaging/programs', name), join(app, name))

const versionOf = async (runtime: string) =>
  (await run(app, runtime, '-p', 'process.versions.node')).split('.').map(Number)

it.each(Object.keys(runtimes))('tasks run on SQLite under %s, with commits in a thread', async (name) => {
  const [program = '', ...args] = runtimes[name] ?? []
  expect(await run(app, program, ...args, 'sqlite.mjs', `${name}.db`)).toBe('100 42')
})

it.each(Object.keys(runtimes))('tasks run on PostgreSQL under %s', async (name) => {
  const [program = '', ...args] = runtimes[name] ?? []
  const schema = name.toLowerCase().replace(/\W+/g, '_')
  expect(await run(app, program, ...args, 'postgres.mjs', inject('url'), schema)).toBe('100 42')
})

it('the command is installed, and works on a store of its own making', async () => {
  const command = join(app, 'node_modules/.bin/triarch')
  const given = ['--store', 'command.db']
  await run(app, process.execPath, command, 'migrate', 'up', ...given)
  expect(await run(app, process.execPath, command, 'stats', '--jsonl', ...given)).toBe(
    '{"tasks":0,"ready":0,"work":0,"inbox":0}',
  )
})

it.each(Object.keys(runtimes))('tasks are submitted over HTTP under %s', async (name) => {
  const [program = '', ...args] = runtimes[name] ?? []
  expect(await run(app, program, ...args, 'server.mjs', `${name} served.db`)).toBe('201 42')
})

// The server is of the installed packages too: those of the workspace are not what they are while another test packs them.
it.each([...Object.keys(runtimes), 'Node 20'])('tasks of a server are asked for under %s', async (name) => {
  await using server = await started(app, process.execPath, 'served.mjs')
  const [program = '', ...args] = runtimes[name] ?? node('node-20')
  expect(await run(app, program, ...args, 'client.mjs', server.line)).toBe('42 true')
})

it('the oldest Node that a package accepts is the oldest that its manifest names', async () => {
  const [program = ''] = runtimes['the oldest Node 24'] ?? []
  expect(await versionOf(program)).toEqual(oldest[0])
})

it.each(['node-20', 'node-24.14'])('%s is told at once which Node it takes', async (name) => {
  const [program = ''] = node(name)
  const refusal =
    /Error: (?:triarch|@triarch\/postgres) [\d.]+ needs Node \^24\.15\.0 \|\| >=25\.8\.1; this is Node 2[04]\.\d+\.\d+/
  await expect(run(app, program, 'sqlite.mjs', 'old.db')).rejects.toThrow(refusal)
  await expect(run(app, program, '--input-type=module', '-e', "import 'triarch/store'")).rejects.toThrow(refusal)
  await expect(run(app, program, '--input-type=module', '-e', "import '@triarch/postgres'")).rejects.toThrow(refusal)
})

it('a Node without SQLite says so when a file is opened, and has the other stores', async () => {
  const without = [process.execPath, '--no-experimental-sqlite'] as const
  const refusal = /the SQLite store needs node:sqlite, as of Node \^24.*this is Node 24.*STORE_SQLITE_TOO_OLD/s
  await expect(run(app, ...without, 'sqlite.mjs', 'none.db')).rejects.toThrow(refusal)
  expect(await run(app, ...without, 'postgres.mjs', inject('url'), 'without_sqlite')).toBe('100 42')
})

it('CommonJS requires the packages as any others', async () => {
  const program =
    "console.log(typeof require('triarch').Triarch, typeof require('@triarch/postgres').postgres, typeof require('@triarch/server').createServer)"
  expect(await run(app, process.execPath, '-e', program)).toBe('function function function')
})

it("ESLint's plugin runs under every Node that ESLint takes", async () => {
  const program = `
    import { Linter } from 'eslint'
    import triarch from 'eslint-plugin-triarch'
    const code = "import { workflow } from 'triarch'; workflow('a', { run: () => Math.random() })"
    console.log(new Linter().verify(code, triarch.configs.recommended)[0].ruleId)
  `
  for (const runtime of [...node('node-20'), process.execPath]) {
    expect(await run(app, runtime, '--input-type=module', '-e', program)).toBe('triarch/no-random')
  }
})
