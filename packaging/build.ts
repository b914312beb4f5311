// Builds packages/<name>/dist: modules, declarations and the maps of both, whose sources are in packages/<name>/src.
// What the sources read from files beside them is put into modules here, so that bundlers have nothing to find.
// node packaging/build.ts [NAME...]: all packages, when none is named.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { built, engines, GUARD, isGuarded, oldest, portable, read, root } from './manifest.ts'

/** Folders of the packages that are built and published. */
export const homes: readonly string[] = globSync('packages/*/tsconfig.build.json', { cwd: root })
  .map((config) => join(root, config, '..'))
  .sort()

export async function build(home: string): Promise<void> {
  const dist = join(home, 'dist')
  rmSync(dist, { recursive: true, force: true })
  // What is more than modules has a build of its own.
  const own = join(home, 'build.ts')
  if (existsSync(own)) execFileSync(process.execPath, [own], { stdio: 'inherit' })
  compile(home, dist)
  guardNode(home, dist)
  leaveImports(dist)
  inlineSql(home, dist)
  guardSqlite(dist)
  await inlineThread(dist)
}

/** What the compiler makes of a package, in this folder. With declarations as they are published. */
export function compile(home: string, folder: string, ...options: string[]): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const project = ['-p', join(home, 'tsconfig.build.json'), '--outDir', folder, ...options]
  execFileSync(process.execPath, [tsc, ...project], { stdio: 'inherit' })
  for (const path of globSync('**/*.d.ts', { cwd: folder })) {
    const file = join(folder, path)
    writeFileSync(file, declared(readFileSync(file, 'utf8')))
  }
}

/**
 * Declarations as they are published. The compiler leaves `.ts` in the imports of declarations, where not every tool that reads
 * them expects it. What is `@internal` is not in them; a constructor that is, of a class that users meet but never make, is
 * private. Lines stay where the maps have them.
 */
export function declared(code: string): string {
  return code
    .replace(/((?:from |import\()(['"])\.[^'"]*)\.ts\2/g, '$1.js$2')
    .replace(/\/\*\* @internal[^*]*\*\/(\s*)constructor\([^;]*\);/g, '$1private constructor();')
    .replace(/^( *)\/\*\* @internal[^*]*\*\/\n\1[^;{]*(?:\{[^}]*\n\1\})?;$/gm, (text) => text.replace(/[^\n]/g, ''))
}

/** Whatever is imported of the package, the first to run is what refuses a Node that lacks what the rest needs. */
function guardNode(home: string, dist: string): void {
  const manifest = read(home)
  if (!isGuarded(manifest)) return
  const { name, version, exports } = manifest
  writeFileSync(
    join(dist, GUARD),
    `const { bun, deno, node } = process.versions
const oldest = ${JSON.stringify(oldest)}
const own = node.split('.').map(Number)
const needed = oldest.find(([major]) => major === own[0]) ?? oldest.at(-1)
const differs = needed.findIndex((part, i) => part !== own[i])
if (!bun && !deno && differs >= 0 && own[differs] < needed[differs]) {
  throw new Error(\`${name} ${version} needs Node ${engines}; this is Node \${node}\`)
}
`,
  )
  for (const [key, path] of Object.entries(exports)) {
    const target = built(path)
    if (typeof target === 'string' || portable.includes(name + key.slice(1))) continue
    const entry = join(home, target.default)
    const guard = relative(dirname(entry), join(dist, GUARD)).split(sep).join('/')
    writeFileSync(entry, `import '${guard.startsWith('.') ? guard : `./${guard}`}'; ${readFileSync(entry, 'utf8')}`)
  }
}

/**
 * The module of an action in a thread is a URL, which the compiler wraps into a call for the case that it is a relative path: the word to
 * bundlers, to leave the import alone, must stand right before it.
 */
function leaveImports(dist: string): void {
  const file = join(dist, 'agent/threads.js')
  if (!existsSync(file)) return
  const wrapped = /import\(__rewriteRelativeImportExtension\((\/\* webpackIgnore.*?\*\/ module)\)\)/
  const code = readFileSync(file, 'utf8')
  if (!wrapped.test(code)) throw new Error(`${file} no longer imports modules of actions as it did`)
  writeFileSync(file, code.replace(wrapped, 'import($1)'))
}

function inlineSql(home: string, dist: string): void {
  const paths = globSync('migrations/*/*.sql', { cwd: join(home, 'src') }).sort()
  if (paths.length === 0) return
  const texts = Object.fromEntries(
    paths.map((path) => [path.replace(/^migrations./, ''), readFileSync(join(home, 'src', path), 'utf8')]),
  )
  replace(
    join(dist, 'migrations/text.js'),
    `const texts = ${JSON.stringify(texts, null, 1)}\nexport function textOf(file) {\n  return texts[file]\n}\n`,
  )
}

/**
 * A runtime without `node:sqlite` refuses to link what imports it, and says no more than that there is no such module. What is
 * published asks for it instead, and says what it needs when a file is opened; other stores need nothing of it. In the
 * workspace, where the lock file gives the right Node, the sources import it as usual.
 */
function guardSqlite(dist: string): void {
  const file = join(dist, 'store/sqlite/database.js')
  if (!existsSync(file)) return
  const guarded = readFileSync(file, 'utf8').replace(
    "import { DatabaseSync } from 'node:sqlite';",
    "import { DatabaseSync } from './builtin.js';",
  )
  if (!guarded.includes('./builtin.js')) throw new Error(`${file} no longer imports node:sqlite as it did`)
  writeFileSync(file, guarded)
  const message = `the SQLite store needs node:sqlite, as of Node ${engines}; this is \${runtime()}`
  writeFileSync(
    join(dist, 'store/sqlite/builtin.js'),
    `import { TriarchError } from '../../error/error.js'
class Missing {
  constructor() {
    throw new TriarchError('STORE_SQLITE_TOO_OLD', \`${message}\`)
  }
}
function runtime() {
  const { bun, deno, node } = process.versions
  return bun ? \`Bun \${bun}\` : deno ? \`Deno \${deno}\` : \`Node \${node}\`
}
export const DatabaseSync = process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? Missing
`,
  )
}

async function inlineThread(dist: string): Promise<void> {
  const thread = join(dist, 'store/sqlite/thread.js')
  if (!existsSync(thread)) return
  const bundle = await rolldown({ input: thread, platform: 'node' })
  const { output } = await bundle.generate({ format: 'cjs', comments: false })
  await bundle.close()
  replace(join(dist, 'store/sqlite/bundled.js'), `export const writerThread = ${JSON.stringify(output[0].code)}\n`)
}

/** Another module in the place of one that was compiled, whose map says nothing of it. */
function replace(file: string, code: string): void {
  if (!existsSync(file)) throw new Error(`nothing was compiled into ${file}, which was to be replaced`)
  writeFileSync(file, code)
  rmSync(`${file}.map`)
}

if (import.meta.main) {
  const names = process.argv.slice(2)
  for (const home of homes) {
    if (names.length > 0 && !names.includes(basename(home))) continue
    await build(home)
    console.log(`built ${join(home, 'dist')}`)
  }
}
