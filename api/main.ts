// npm run api: writes the reports of the public API. `-- check`: compares them with the declarations, and shows what differs.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../packaging/build.ts'
import { root } from '../packaging/manifest.ts'
import { check, write } from './committed.ts'
import { type Package, packages, stemOf } from './entries.ts'
import { exposed, known } from './exposed.ts'
import { reportOf } from './report.ts'
import { Declarations, type Surface, surfacesOf } from './surface.ts'

const problems: string[] = []
const files = new Map<string, string>()
const excused = new Set<string>()
for (const one of packages) {
  for (const surface of read(one)) {
    problems.push(...exposed(surface, excused))
    files.set(`api/reports/${stemOf(surface.entry)}.md`, reportOf(surface))
  }
}
for (const name of Object.keys(known))
  if (!excused.has(name)) problems.push(`api/exposed.ts excuses ${name}, which nothing names`)
const folders = ['api/reports']
if (process.argv[2] === 'check') problems.push(...check(root, folders, files))
else write(root, folders, files)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
console.log(
  `${problems.length === 0 ? '✓' : '✗'} the API of ${packages.flatMap(({ entries }) => entries).length} entries`,
)

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
