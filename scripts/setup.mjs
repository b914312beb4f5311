// Installs the dependencies when they are missing or older than the lock file; otherwise does nothing.
// It runs before Node 24 is there (the dev dependency `node` brings it), so it must work on Node 18.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync, utimesSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const lock = `${root}package-lock.json`
const modules = `${root}node_modules`
const installed = `${modules}/.package-lock.json` // npm writes it last
const runtime = `${modules}/node/bin/node` // put there by the install script of `node`

function npm(...args) {
  console.log(`setup: npm ${args.join(' ')}`)
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' }
  const { status } = spawnSync('npm', [...args, '--no-audit', '--loglevel=error'], options)
  if (status !== 0) process.exit(status ?? 1)
}

function fresh() {
  if (!existsSync(installed)) return false
  return !existsSync(lock) || statSync(installed).mtimeMs >= statSync(lock).mtimeMs
}

if (!fresh()) {
  // `npm ci` deletes node_modules first: right for a new checkout, needlessly rough on one in use.
  npm(existsSync(lock) && !existsSync(modules) ? 'ci' : 'install')
  utimesSync(installed, new Date(), new Date())
}
if (!existsSync(runtime)) {
  npm('rebuild', 'node', '--ignore-scripts=false') // install scripts were blocked
  if (!existsSync(runtime)) {
    console.error('setup: the `node` dev dependency did not install its binary; Triarch needs Node 24 or later.')
    process.exit(1)
  }
}
