// Builds packages/<name>/dist: each entry of a package as a bundle of all its modules, what several entries use in chunks that
// they share (a class is the same one, whichever entry it comes by), and the declarations of what can be imported.
// What the sources read from files beside them is put into the bundles, so that bundlers of applications find no file missing.
// node tools/packaging/build.ts [NAME...]: all packages, when none is named.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, normalize, relative, sep } from 'node:path'
import {
  type OutputAsset,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  type RolldownOptions,
  rolldown,
} from 'rolldown'
import {
  built,
  engines,
  GUARD,
  isGuarded,
  type Manifest,
  oldest,
  portable,
  read,
  root,
  sources,
  stemOf,
} from './manifest.ts'

/** Folders of the packages that are built and published. */
export const homes: readonly string[] = globSync('packages/*/tsconfig.build.json', { cwd: root })
  .map((config) => join(root, config, '..'))
  .sort()

export async function build(home: string, dist: string = join(home, 'dist')): Promise<void> {
  rmSync(dist, { recursive: true, force: true })
  // What is more than modules has a build of its own.
  const own = join(home, 'build.ts')
  if (existsSync(own)) execFileSync(process.execPath, [own], { stdio: 'inherit' })
  const manifest = read(home)
  publishDeclarations(home, dist, manifest)
  if (isGuarded(manifest)) writeFileSync(join(dist, GUARD), guard(manifest))
  await bundle(home, dist, manifest)
}

// ---- declarations ------------------------------------------------------------------------------------------------------

/** Writes the declarations of all modules of a package, as they are published, into this folder. */
export function declare(home: string, folder: string): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const project = ['-p', join(home, 'tsconfig.build.json'), '--outDir', folder]
  execFileSync(process.execPath, [tsc, ...project], { stdio: 'inherit' })
  for (const path of globSync('**/*.d.ts', { cwd: folder })) {
    const file = join(folder, path)
    writeFileSync(file, declared(readFileSync(file, 'utf8')))
  }
}

/**
 * Declarations as they are published. The compiler leaves `.ts` in the imports of declarations, where not every tool that reads
 * them expects it. What is `@internal` is not in them; a constructor that is, of a class that users meet but never make, is
 * private.
 */
export function declared(code: string): string {
  return code
    .replace(/((?:from |import\()(['"])\.[^'"]*)\.ts\2/g, '$1.js$2')
    .replace(/\/\*\* @internal[^*]*\*\/(\s*)constructor\([^;]*\);/g, '$1private constructor();')
    .replace(/^( *)\/\*\* @internal[^*]*\*\/\n\1[^;{]*(?:\{[^}]*\n\1\})?;$/gm, (text) => text.replace(/[^\n]/g, ''))
}

/** Writes the declarations that a program can reach by an entry; no other has a use. */
function publishDeclarations(home: string, dist: string, { exports }: Manifest): void {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-declarations-'))
  try {
    declare(home, folder)
    const targets = Object.values(exports).map(built)
    const left = targets.flatMap((it) => (typeof it === 'string' ? [] : [relative('dist', normalize(it.types))]))
    const seen = new Set(left)
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      const code = readFileSync(join(folder, path), 'utf8')
      write(join(dist, path), code)
      for (const [, to = ''] of code.matchAll(/(?:from |import\(|import )['"](\.[^'"]*)\.js['"]/g)) {
        const other = `${join(dirname(path), to)}.d.ts`
        // A comment may show an import of a file that exists nowhere.
        if (!seen.has(other) && existsSync(join(folder, other))) left.push(other)
        seen.add(other)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// ---- bundles -----------------------------------------------------------------------------------------------------------

async function bundle(home: string, dist: string, manifest: Manifest): Promise<void> {
  const { exports, bin, dependencies, peerDependencies } = manifest
  const entries = [...Object.entries(exports), ...Object.entries(bin ?? {})]
  const stems = entries.flatMap(([, path]) => stemOf(path) ?? [])
  const outside = Object.keys({ ...dependencies, ...peerDependencies })
  const { output } = await bundled(
    {
      input: Object.fromEntries(stems.map((stem) => [stem, join(home, 'src', `${stem}.ts`)])),
      // A package imports itself by its name only to read its manifest.
      external: (id) => [...outside, manifest.name].some((name) => id === name || id.startsWith(`${name}/`)),
      plugins: [inlined(home)],
    },
    {
      format: 'esm',
      sourcemap: true,
      // Comments by which code tells bundlers something stay; the others are in the sources.
      comments: { legal: false, annotation: true, jsdoc: false },
      entryFileNames: '[name].js',
      // Beside the entries, not below: a module that looks for something beside its package finds it from here too.
      chunkFileNames: '[name]-[hash].js',
    },
  )
  const free = isGuarded(manifest) ? portableFiles(output, manifest) : null
  for (const file of output) {
    const path = join(dist, file.fileName)
    if (file.type === 'asset') write(path, published(`${file.source}`, home, manifest))
    // On the first line, so that the map holds. Chunks have it too, because bundlers may leave out an entry that only names what is in one.
    else if (free?.has(file.fileName) === false && !file.code.startsWith('#!'))
      write(path, `import '${up(file.fileName)}${GUARD}'; ${file.code}`)
    else write(path, file.code)
  }
}

/** Names of the files that entries use which run anywhere. */
function portableFiles(output: readonly (OutputChunk | OutputAsset)[], { name, exports }: Manifest): Set<string> {
  const entries = Object.entries(exports).filter(([key]) => portable.includes(name + key.slice(1)))
  const left = entries.map(([, path]) => `${stemOf(path)}.js`)
  const found = new Set<string>()
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const chunk = output.find(({ fileName }) => fileName === file)
    if (chunk?.type === 'chunk') left.push(...chunk.imports, ...chunk.dynamicImports)
  }
  return found
}

async function bundled(
  options: RolldownOptions,
  output: OutputOptions,
): ReturnType<Awaited<ReturnType<typeof rolldown>>['generate']> {
  const made = await rolldown({ platform: 'node', checks: { pluginTimings: false }, ...options })
  try {
    return await made.generate(output)
  } finally {
    await made.close()
  }
}

/** From the folder of a file to the folder of all. */
function up(file: string): string {
  return '../'.repeat(file.split('/').length - 1) || './'
}

/** A map names the sources where the repository has them, at this version, and does not repeat them. */
function published(map: string, home: string, { version }: Manifest): string {
  const { sourcesContent: _, ...kept } = JSON.parse(map) as { sources: string[]; sourcesContent?: string[] }
  const base = sources(relative(root, home).split(sep).join('/'), version)
  const paths = kept.sources.map((path) => path.replace(/^.*?\bsrc\//, ''))
  return JSON.stringify({ ...kept, sources: paths.map((path) => `${base}${path}`) })
}

/** What a package reads from files beside its modules, and what it asks of the runtime, as modules of the bundle. */
function inlined(home: string): Plugin {
  const source = (path: string) => join(home, 'src', path)
  return {
    name: 'inlined',
    resolveId: (id, importer) =>
      id === 'node:sqlite' && importer === source('store/sqlite/database.ts') ? SQLITE : null,
    async load(id) {
      if (id === SQLITE) return sqlite(source('error/error.ts'))
      if (id === source('migrations/text.ts')) return migrationTexts(home)
      if (id === source('store/sqlite/bundled.ts')) return writerThread(home)
      return null
    },
  }
}

const SQLITE = '\0sqlite'

/**
 * A runtime without `node:sqlite` refuses to link what imports it, and says no more than that there is no such module. What is
 * published asks for it instead, and says what it needs when a file is opened; other stores need nothing of it. In the
 * workspace, where the lock file gives the right Node, the sources import it as usual.
 */
function sqlite(error: string): string {
  return `import { TriarchError } from ${JSON.stringify(error)}
class Missing {
  constructor() {
    throw new TriarchError('STORE_SQLITE_TOO_OLD', \`the SQLite store needs node:sqlite, as of Node ${engines}; this is \${runtime()}\`)
  }
}
function runtime() {
  const { bun, deno, node } = process.versions
  return bun ? \`Bun \${bun}\` : deno ? \`Deno \${deno}\` : \`Node \${node}\`
}
export const DatabaseSync = process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? Missing
`
}

function migrationTexts(home: string): string {
  const paths = globSync('migrations/*/*.sql', { cwd: join(home, 'src') }).sort()
  const texts = Object.fromEntries(
    paths.map((path) => [path.replace(/^migrations./, ''), readFileSync(join(home, 'src', path), 'utf8')]),
  )
  return `const texts = ${JSON.stringify(texts, null, 1)}\nexport function textOf(file) {\n  return texts[file]\n}\n`
}

/** The writer's thread as a text from which a worker is started. */
async function writerThread(home: string): Promise<string> {
  const input = join(home, 'src/store/sqlite/thread.ts')
  const { output } = await bundled({ input, plugins: [inlined(home)] }, { format: 'cjs', comments: false })
  return `export const writerThread = ${JSON.stringify(output[0].code)}\n`
}

/** Whatever is imported of the package, the first to run is what refuses a Node that lacks what the rest needs. */
function guard({ name, version }: Manifest): string {
  return `const { bun, deno, node } = process.versions
const oldest = ${JSON.stringify(oldest)}
const own = node.split('.').map(Number)
const needed = oldest.find(([major]) => major === own[0]) ?? oldest.at(-1)
const differs = needed.findIndex((part, i) => part !== own[i])
if (!bun && !deno && differs >= 0 && own[differs] < needed[differs]) {
  throw new Error(\`${name} ${version} needs Node ${engines}; this is Node \${node}\`)
}
`
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

if (import.meta.main) {
  const names = process.argv.slice(2)
  for (const home of homes) {
    if (names.length > 0 && !names.includes(basename(home))) continue
    await build(home)
    console.log(`built ${join(home, 'dist')}`)
  }
}
