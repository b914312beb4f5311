// Builds each package into packages/<name>/dist: a folder complete in itself, ready for
// `npm pack packages/<name>/dist` or `npm publish packages/<name>/dist`. The package's own package.json, whose exports
// point at the TypeScript sources, stays untouched and private, so that it cannot be published by mistake.
// What the sources read from files beside them is put into modules here, so that bundlers have nothing to find.
// node scripts/build.ts [folder]: builds into folder/<name> instead.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'

type Manifest = { private?: boolean; exports: Record<string, string> } & Record<string, unknown>

const root = join(import.meta.dirname, '..')
const [folder] = process.argv.slice(2)

for (const config of globSync('packages/*/tsconfig.build.json', { cwd: root })) {
  await build(join(root, config, '..'), join(root, config))
}

async function build(home: string, config: string): Promise<void> {
  const dist = folder === undefined ? join(home, 'dist') : join(folder, basename(home))
  rmSync(dist, { recursive: true, force: true })
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config, '--outDir', dist], {
    stdio: 'inherit',
  })
  await inline(home, dist)
  cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  const readme = [join(home, 'README.md'), join(root, 'README.md')].find((path) => existsSync(path))
  if (readme) cpSync(readme, join(dist, 'README.md'))
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
  console.log(`built ${dist}`)
}

/** The modules that stand for files. */
async function inline(home: string, dist: string): Promise<void> {
  const sql = globSync('migrations/*/*.sql', { cwd: join(home, 'src') }).sort()
  if (sql.length > 0) {
    const texts = Object.fromEntries(
      sql.map((path) => [path.replace(/^migrations./, ''), readFileSync(join(home, 'src', path), 'utf8')]),
    )
    const code = `const texts = ${JSON.stringify(texts, null, 1)}\nexport function textOf(file) {\n  return texts[file]\n}\n`
    writeFileSync(join(dist, 'migrations/text.js'), code)
  }
  const thread = join(dist, 'store/sqlite/thread.js')
  if (!existsSync(thread)) return
  const bundle = await rolldown({ input: thread, platform: 'node' })
  const { output } = await bundle.generate({ format: 'cjs' })
  await bundle.close()
  writeFileSync(
    join(dist, 'store/sqlite/bundled.js'),
    `export const bundledThread = ${JSON.stringify(output[0].code)}\n`,
  )
}

function published({ private: _, exports, ...rest }: Manifest): Record<string, unknown> {
  const entries = Object.entries(exports).map(([name, path]) => [name, built(path)])
  return { ...rest, exports: Object.fromEntries(entries) }
}

function built(path: string): string | { types: string; default: string } {
  const stem = /^\.\/src\/(.+)\.ts$/.exec(path)?.[1]
  return stem === undefined ? path : { types: `./${stem}.d.ts`, default: `./${stem}.js` }
}
