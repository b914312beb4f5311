// A folder with packages as npm would install them from their tarballs.
import { cpSync, globSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { build } from './build.ts'
import { published, read, root } from './manifest.ts'

/** Builds the packages in these folders of `packages` below `folder`/node_modules, and gives what each unpacks to (bytes). */
export async function unpack(folder: string, names: readonly string[]): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  const modules = join(folder, 'node_modules')
  for (const name of names) {
    const home = join(root, 'packages', name)
    const manifest = read(home)
    const to = join(modules, manifest.name)
    await build(home, join(to, 'dist'))
    const text = JSON.stringify(published(manifest, relative(root, home).split(sep).join('/')))
    writeFileSync(join(to, 'package.json'), text)
    for (const page of ['README.md', '../../CHANGELOG.md', '../../LICENSE'])
      cpSync(join(home, page), join(to, page.replaceAll('../', '')))
    const files = globSync('**/*', { cwd: to }).map((path) => statSync(join(to, path)))
    sizes[manifest.name] = files.reduce((sum, it) => sum + (it.isFile() ? it.size : 0), 0)
    for (const other of Object.keys(manifest.dependencies ?? {}))
      link(join(root, 'node_modules', other), join(modules, other))
  }
  return sizes
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'dir')
}
