// npm run api: writes the reports of the public API and the pages of its reference. `-- check`: compares them with the declarations,
// and shows what differs.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../packaging/build.ts'
import { root } from '../packaging/manifest.ts'
import { codesOf } from './code.ts'
import { check, write } from './committed.ts'
import { documented } from './documented.ts'
import { type Package, packages, stemOf } from './entries.ts'
import { exposed, known } from './exposed.ts'
import { pageOf } from './reference.ts'
import { isValue, reportOf } from './report.ts'
import type { Home } from './shop.ts'
import { Declarations, type Surface, surfacesOf } from './surface.ts'

const surfaces = packages.flatMap(read)
const { errors, alerts } = codesOf(surfaces)
const homes = new Map([['z', { entry: 'zod', typeOnly: false }] as const, ...surfaces.toReversed().flatMap(homesOf)])
const excused = new Set<string>()
const problems = surfaces.flatMap((surface) => [
  ...exposed(surface, excused),
  ...documented(surface, errors.union(alerts)),
])
for (const name of Object.keys(known))
  if (!excused.has(name)) problems.push(`api/exposed.ts excuses ${name}, which nothing names`)

const [reports, pages] = ['api/reports', 'docs/reference/api']
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

/** The surfaces of a package, from declarations as they are published. */
function read({ home, entries }: Package): Surface[] {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-api-'))
  try {
    compile(home, folder, '--emitDeclarationOnly')
    return surfacesOf(new Declarations((path) => readFileSync(join(folder, path), 'utf8')), entries)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
