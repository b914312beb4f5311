// Runs tools/packaging/pack.ts in the folder of a package, under the Node that the lock file gives, and installs it first where nothing is
// installed: npm packs under whatever Node the machine has, so this must work on Node 18.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const runtime = path('node_modules/node/bin/node')
if (!existsSync(runtime)) run(process.execPath, path('scripts/setup.mjs'))
run(runtime, path('tools/packaging/pack.ts'), ...process.argv.slice(2))
