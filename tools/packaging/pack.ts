// What npm runs before and after it packs a package, wherever `npm pack` was said: the folder becomes what is published, and
// then what it was. Nothing else can do that: npm packs the manifest that lies in the folder.
//   node tools/packaging/prepare.mjs before|after   in the folder of a package
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { build } from './build.ts'
import { absolute, published, read, root } from './manifest.ts'

/** Files as they were, while others lie in their places. scripts/setup.mjs puts back what a packing that died has left. */
const KEPT = '.unpacked'
const replaced = ['package.json', 'README.md']
/** Those of the repository are those of each package. */
const added = ['LICENSE', 'CHANGELOG.md']

async function before(home: string): Promise<void> {
  after(home)
  await build(home)
  const folder = relative(root, home).split(sep).join('/')
  const manifest = read(home)
  const readme = absolute(readFileSync(join(home, 'README.md'), 'utf8'), folder, manifest.version)
  const changelog = absolute(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), '.', manifest.version)
  mkdirSync(join(home, KEPT))
  for (const name of replaced) copyFileSync(join(home, name), join(home, KEPT, name))
  copyFileSync(join(root, 'LICENSE'), join(home, 'LICENSE'))
  writeFileSync(join(home, 'CHANGELOG.md'), changelog)
  writeFileSync(join(home, 'README.md'), readme)
  writeFileSync(join(home, 'package.json'), `${JSON.stringify(published(manifest, folder), null, 2)}\n`)
}

function after(home: string): void {
  for (const name of replaced) {
    const kept = join(home, KEPT, name)
    if (existsSync(kept)) renameSync(kept, join(home, name))
  }
  rmSync(join(home, KEPT), { recursive: true, force: true })
  for (const name of added) rmSync(join(home, name), { force: true })
}

const [when] = process.argv.slice(2)
if (when === 'before') await before(process.cwd())
else if (when === 'after') after(process.cwd())
else throw new Error('before or after?')
