// Installs the dependencies when they are missing or older than the lock file; otherwise does nothing.
// It runs before Node 24 is there (the dev dependency `node` brings it), so it must work on Node 18.
// node scripts/setup.mjs [FOLDER...]: those of folders with a lock file of their own as well.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const runtime = `${root}node_modules/node/bin/node` // put there by the install script of `node`

function npm(folder, ...args) {
  console.log(`setup: npm ${args.join(' ')}${folder === root ? '' : ` in ${folder}`}`)
  // Said here, for npm reads the settings beside the manifest of the workspace only there.
  const settings = ['--no-audit', '--no-fund', '--omit-lockfile-registry-resolved', '--loglevel=error']
  // An npm around this one, told to look at one package, tells those below it as well.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_workspaces?$/i.test(name)),
  )
  const options = { cwd: folder, env, stdio: 'inherit', shell: process.platform === 'win32' }
  const { status } = spawnSync('npm', [...args, ...settings], options)
  if (status !== 0) process.exit(status ?? 1)
}

function install(folder) {
  const lock = `${folder}package-lock.json`
  const modules = `${folder}node_modules`
  const installed = `${modules}/.package-lock.json` // npm writes it last
  if (existsSync(installed) && (!existsSync(lock) || statSync(installed).mtimeMs >= statSync(lock).mtimeMs)) return
  // `npm ci` deletes node_modules first: right for a new checkout, needlessly rough on one in use.
  npm(folder, existsSync(lock) && !existsSync(modules) ? 'ci' : 'install')
  utimesSync(installed, new Date(), new Date())
}

// What `npm pack` lends a package while it packs it, and had no time to take back: tools/packaging/pack.ts.
for (const name of readdirSync(`${root}packages`)) {
  const home = `${root}packages/${name}`
  for (const file of existsSync(`${home}/.unpacked`) ? readdirSync(`${home}/.unpacked`) : []) {
    renameSync(`${home}/.unpacked/${file}`, `${home}/${file}`)
  }
}
install(root)
if (!existsSync(runtime)) {
  npm(root, 'rebuild', 'node', '--ignore-scripts=false') // install scripts were blocked
  if (!existsSync(runtime)) {
    console.error('setup: the `node` dev dependency did not install its binary; Triarch needs Node 24 or later.')
    process.exit(1)
  }
}
for (const folder of process.argv.slice(2)) install(`${root}${folder}/`)
// What is served of the console: a second, when it is not built or older than what it is made of.
const { status } = spawnSync(runtime, [`${root}packages/console/build.ts`], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
