// npm run api: writes the reports of the public API and the pages of its reference. `-- check`: compares them with the declarations,
// and shows what differs.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declare } from '../packaging/build.ts'
import { root } from '../packaging/manifest.ts'
import { Folder } from '../site/folder.ts'
import { codesOf } from './code.ts'
import { check, write } from './committed.ts'
import { documented } from './documented.ts'
import { type Package, packages, stemOf } from './entries.ts'
import { exposed, known } from './exposed.ts'
import { pageOf } from './reference.ts'
import { isValue, reportOf } from './report.ts'
import type { Home } from './shop.ts'
import { Declarations, type Surface, surfacesOf } from './surface.ts'

const problems: string[] = []
const surfaces = packages.flatMap(read)
const { errors, alerts } = codesOf(surfaces)
const homes = new Map([['z', { entry: 'zod', typeOnly: false }] as const, ...surfaces.toReversed().flatMap(homesOf)])
const excused = new Set<string>()
problems.push(
  ...surfaces.flatMap((surface) => [...exposed(surface, excused), ...documented(surface, errors.union(alerts))]),
)
for (const name of Object.keys(known))
  if (!excused.has(name)) problems.push(`tools/api/exposed.ts excuses ${name}, which nothing names`)

const [reports, pages] = ['tools/api/reports', 'docs/reference/api']
const files = new Map(
  surfaces.flatMap((surface) => [
    [`${reports}/${stemOf(surface.entry)}.md`, reportOf(surface)],
    [`${pages}/${stemOf(surface.entry)}.md`, pageOf(surface, { homes, codes: errors })],
  ]),
)
if (process.argv[2] === 'check') problems.push(...check(root, [reports, pages], files))
else write(root, [reports, pages], files)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
console.log(`${problems.length === 0 ? '✓' : '✗'} the API of ${surfaces.length} entries`)

function homesOf({ entry, exports }: Surface): [string, Home][] {
  return exports.map(({ name, typeOnly, declaration }) => {
    return [name, { entry: entry.name, typeOnly: typeOnly || !isValue(declaration) }]
  })
}

/** The surfaces of a package, from declarations as they are published; whoever has no `skipLibCheck` compiles these. */
function read({ name, home, entries }: Package): Surface[] {
  using folder = new Folder()
  const dist = join(folder.path, 'dist')
  declare(home, dist)
  problems.push(...incomplete(folder.path, entries).map((line) => `${name}: ${line}`))
  return surfacesOf(new Declarations((path) => readFileSync(join(dist, path), 'utf8')), entries)
}

/** What the compiler says of the declarations themselves. */
function incomplete(folder: string, entries: Package['entries']): string[] {
  const files = entries.map(({ path }) => join('dist', path))
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'esnext.disposable'], types: ['node'] },
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
    // Of packages in the workspace, the sources are found.
    allowImportingTsExtensions: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false']
  const { stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.startsWith('dist/'))
}
