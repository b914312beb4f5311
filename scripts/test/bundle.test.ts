import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'triarch-bundle-'))

beforeAll(() => run(process.execPath, [join(root, 'scripts/build.ts'), folder], { cwd: root }), 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Bundles the program into one file, as it would be published, and runs it where nothing else can be found. */
async function bundled(name: string, program: string): Promise<string> {
  const input = join(folder, `${name}.src.mjs`)
  writeFileSync(input, program)
  const alias = {
    'triarch/sqlite': join(folder, 'triarch/store/sqlite/index.js'),
    'triarch/store': join(folder, 'triarch/store/index.js'),
    triarch: join(folder, 'triarch/index.js'),
    '@triarch/postgres': join(folder, 'postgres/index.js'),
    pg: join(root, 'node_modules/pg/lib/index.js'),
    croner: join(root, 'node_modules/croner/dist/croner.js'),
  }
  const bundle = await rolldown({
    input,
    platform: 'node',
    resolve: { alias },
    external: ['pg-native', 'cloudflare:sockets'],
  })
  const file = join(folder, `${name}.mjs`)
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  const { stdout } = await run(process.execPath, [file, join(folder, `${name}.db`)], { cwd: folder })
  return stdout.trim()
}

it.each(['worker', 'auto'])('a bundle of one file runs tasks on SQLite, its threads included: %s', async (writer) => {
  const program = `
    import { agent, Triarch, workflow } from 'triarch'
    import { sqlite } from 'triarch/sqlite'
    const svc = agent('svc')
    const act = svc.action('act', { run: (n) => n + 1 })
    const flow = workflow('flow', { run: (n, task) => task.run(act, n) })
    const threads = []
    process.on('worker', (thread) => threads.push(thread))
    const failed = (error) => { console.error(error); process.exitCode = 1 }
    await using triarch = new Triarch({ store: sqlite(process.argv[2], { writer: '${writer}' }), workflows: [flow], agents: [svc], onError: failed })
    await triarch.start()
    const tasks = await Promise.all(Array.from({ length: 200 }, (_, n) => triarch.submit(flow, n)))
    const results = await Promise.all(tasks.map((task) => task.result()))
    console.log(results.length, results[41], threads.length > 0)
  `
  expect(await bundled(writer, program)).toBe('200 42 true')
})

it('a bundle has the whole schema of the PostgreSQL store in it', async () => {
  const program = `
    import { postgres } from '@triarch/postgres'
    import { migrations } from ${JSON.stringify(join(folder, 'postgres/migrations/index.js'))}
    console.log(typeof postgres, migrations.length > 5, migrations.every(({ sql }) => sql.length > 100 && !sql.includes('undefined')))
  `
  expect(await bundled('postgres', program)).toBe('function true true')
})
