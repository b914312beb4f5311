// What one process or thread of the tests has compiled, the others load. A test that starts a process, or a thread for each store,
// pays for what happens there, and not for reading the engine anew.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'node_modules/.cache/triarch-compiled')
/** Node's own variable: where it keeps modules compiled and without types. All that is started inherits it. */
const VARIABLE = 'NODE_COMPILE_CACHE'
/** Tests write modules into folders of their own, which nobody loads again: from so many on it starts anew. */
const MOST_MODULES = 5_000
/** What most processes load. Those that are killed keep nothing of it for the next. */
const entries = [
  'triarch/src/index',
  'triarch/src/store/sqlite/index',
  'triarch/src/testing/index',
  'postgres/src/index',
]

/** From now on, what this process starts keeps what it compiles in `node_modules`, unless it is told otherwise. */
export function keepCompiled(): void {
  if (process.env[VARIABLE] !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE !== undefined) return
  process.env[VARIABLE] = folder
  if (modules() > MOST_MODULES) rmSync(folder, { recursive: true, force: true })
  if (existsSync(folder)) return
  const imports = entries.map((entry) => `import '${pathToFileURL(join(root, 'packages', `${entry}.ts`))}'`)
  spawnSync(process.execPath, ['--input-type=module', '--eval', imports.join('\n')])
}

function modules(): number {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0
}
