import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { root } from '../manifest.ts'
import { run, tools } from './tool.ts'

const app = inject('app')
/** Where a bundle runs: no package can be found from here. */
const elsewhere = mkdtempSync(join(tmpdir(), 'triarch-bundle-'))
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }))

type Bundler = (input: string, output: string, format: 'esm' | 'cjs', external: string[]) => Promise<unknown>

const bundlers: Record<string, Bundler> = {
  esbuild: (input, output, format, external) => {
    const options = ['--bundle', '--platform=node', `--format=${format}`, '--minify', '--log-level=error']
    const outside = external.map((name) => `--external:${name}`)
    return run(app, join(tools, 'esbuild/bin/esbuild'), input, ...options, ...outside, `--outfile=${output}`)
  },
  Rollup: (input, output, format, external) => {
    const plugins = ['node-resolve={preferBuiltins:true,exportConditions:["node"]}', 'commonjs', 'json']
    const options = ['--format', format, '--silent', '--inlineDynamicImports', '--external', external.join(',')]
    const rollup = join(tools, 'rollup/dist/bin/rollup')
    return run(
      tools,
      process.execPath,
      rollup,
      input,
      '--file',
      output,
      ...options,
      ...plugins.flatMap((it) => ['-p', it]),
    )
  },
  Rolldown: async (input, output, format, external) => {
    const bundle = await rolldown({ input, platform: 'node', external })
    await bundle.write({ file: output, format, codeSplitting: false })
    await bundle.close()
  },
  webpack: async (input, output, format, external) => {
    const { default: webpack } = (await import(join(tools, 'webpack/lib/index.js'))) as { default: Webpack }
    const module = format === 'esm'
    const compiler = webpack({
      ...{ mode: 'production', target: 'node24', entry: input, experiments: { outputModule: module } },
      externals: Object.fromEntries(external.map((name) => [name, `${module ? 'module' : 'commonjs'} ${name}`])),
      output: { path: dirname(output), filename: basename(output), ...(module && { library: { type: 'module' } }) },
    })
    await new Promise<void>((resolve, reject) =>
      compiler.run((error, stats) => {
        // A warning is an error here: whoever follows it has nothing to do about what is in the package.
        const told = stats?.toString({ all: false, errors: true, warnings: true }) ?? ''
        if (error !== null || told !== '') reject(error ?? new Error(told))
        else resolve()
      }),
    )
  },
}

/** As much of webpack as is used here: it is installed where programs are, not where types are looked for. */
type Webpack = (options: object) => {
  run: (done: (error: Error | null, stats?: { toString: (what: object) => string }) => void) => void
}

/** What `pg` can use and does without. */
const optional = ['pg-native', 'cloudflare:sockets']

describe.each(Object.keys(bundlers))('one file made by %s', (name) => {
  async function bundled(program: string, format: 'esm' | 'cjs', external: string[] = []): Promise<string> {
    const input = join(app, `${name}.${program}`)
    copyFileSync(join(root, 'tools/packaging/programs', program), input)
    const output = join(
      elsewhere,
      `${name}-${external.length}`,
      program.replace('mjs', format === 'cjs' ? 'cjs' : 'mjs'),
    )
    mkdirSync(join(output, '..'), { recursive: true })
    await bundlers[name]?.(input, output, format, [...optional, ...external])
    expect(readFileSync(output, 'utf8')).not.toMatch(/from ?["'](?:triarch|@triarch|croner)/)
    return output
  }
  const node = (file: string, ...args: string[]) => run(join(file, '..'), process.execPath, file, ...args)

  it.each(['esm', 'cjs'] as const)(
    'runs tasks on SQLite, its threads included, and refuses an old Node: %s',
    async (format) => {
      const file = await bundled('sqlite.mjs', format)
      expect(await node(file, `${format}.db`)).toBe('100 42')
      // Node shows the line that threw, and all of a bundle is one line, of which a busy pipe loses the end: only the message is asked for.
      const program = `await import('${file}').catch(({ message }) => console.log(message))`
      const said = run(elsewhere, join(tools, 'node-20/bin/node'), '--input-type=module', '-e', program)
      // A module that webpack makes links what it imports of Node before anything runs.
      if (name !== 'webpack') expect(await said).toMatch(/^triarch [\d.]+ needs Node .*; this is Node 20/)
      else expect(await said).toMatch(/zstd\w+Sync|needs Node/)
    },
  )

  it('runs tasks on PostgreSQL, beside pg', async () => {
    const file = await bundled('postgres.mjs', 'esm', ['pg'])
    symlinkSync(join(app, 'node_modules'), join(file, '../node_modules'))
    expect(await node(file, inject('url'), `${name.toLowerCase()}_beside`)).toBe('100 42')
  })

  it('runs tasks on PostgreSQL with pg in it, and says that no thread renews the lease', async () => {
    const file = await bundled('postgres.mjs', 'cjs')
    const said = await node(file, inject('url'), `${name.toLowerCase()}_within`)
    // webpack writes down where a module was: on the machine that built the bundle pg is found there.
    if (name === 'webpack') expect(said).toBe('100 42')
    else expect(said).toBe('100 42 LEASE_UNGUARDED')
  })
})

it('the client is bundled for browsers, without the engine and without anything of Node', async () => {
  const input = join(app, 'browser.client.mjs')
  copyFileSync(join(root, 'tools/packaging/programs/client.mjs'), input)
  const output = join(elsewhere, 'browser.js')
  const options = ['--bundle', '--platform=browser', '--format=esm', '--minify', '--log-level=error']
  await run(app, join(tools, 'esbuild/bin/esbuild'), input, ...options, `--outfile=${output}`)
  expect(readFileSync(output, 'utf8')).not.toMatch(/["']node:|\brequire\(/)
  expect(readFileSync(output).length).toBeLessThan(63_000)
})
