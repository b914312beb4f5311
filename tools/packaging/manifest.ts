// The manifest of a package as it is published. In the workspace its exports are the TypeScript sources, and what all packages
// have in common is said once, here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Manifest {
  name: string
  version: string
  private?: boolean
  exports: Record<string, string>
  bin?: Record<string, string>
  scripts?: Record<string, string>
  engines?: { node: string }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  [field: string]: unknown
}

export type Target = string | { types: string; default: string }

export type Published = Omit<Manifest, 'exports' | 'private' | 'scripts'> & { exports: Record<string, Target> }

export const root: string = join(import.meta.dirname, '../..')

/**
 * The first of each line of Node that brings what the SQLite store needs: SQLite 3.51.3, its `OLDEST_SQLITE`. It is what `engines`
 * says, and what a process is held to when it imports a package.
 */
export const oldest: readonly (readonly [major: number, minor: number, patch: number])[] = [
  [24, 15, 0],
  [25, 8, 1],
]

export const engines: string = oldest
  .map((version, i) => `${i === oldest.length - 1 ? '>=' : '^'}${version.join('.')}`)
  .join(' || ')

/**
 * The module that looks at the Node it is in, before anything of the package runs. A package that names `engines` of its own has
 * none, and runs wherever it does.
 */
export const GUARD = 'runtime.js'

/** Entries that need nothing of Node: they run in browsers and in older Nodes, and nothing looks at where they are. */
export const portable: readonly string[] = ['triarch/contract']

const repository = 'https://github.com/triarch-dev/triarch'

/** Where the sources of a package at a version can be read; `folder`: where the package is in the repository. */
export function sources(folder: string, version: string): string {
  return `${repository.replace('github.com', 'raw.githubusercontent.com')}/v${version}/${folder}/src/`
}

/** What all packages say of themselves, unless one says otherwise. */
const common = {
  homepage: `${repository}#readme`,
  bugs: `${repository}/issues`,
  author: 'The Triarch authors',
  license: 'Apache-2.0',
  publishConfig: { access: 'public', provenance: true },
}

export function read(home: string): Manifest {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
}

export function isGuarded(manifest: Pick<Manifest, 'engines'>): boolean {
  return manifest.engines === undefined
}

/** `folder`: where the package is in the repository. */
export function published(whole: Manifest, folder: string): Published {
  const { private: _, scripts: __, devDependencies: ___, exports, bin, ...manifest } = whole
  const { name, version, description, keywords, ...rest } = manifest
  const entries = Object.entries(exports).map(([name, path]) => [name, built(path)])
  return {
    ...{ name, version, description, keywords },
    ...common,
    ...(isGuarded(manifest) && { engines: { node: engines }, sideEffects: [`./dist/${GUARD}`] }),
    ...rest,
    repository: { type: 'git', url: `git+${repository}.git`, directory: folder },
    exports: Object.fromEntries(entries),
    ...(bin && { bin: commands(bin) }),
    ...peers(manifest),
    files: ['dist', 'CHANGELOG.md'],
  }
}

/** The programs of a package, as they are built. */
function commands(bin: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(bin).map(([name, path]) => [name, path.replace(/^\.\/src\/(.+)\.ts$/, 'dist/$1.js')]),
  )
}

/** Packages of ours are released together, at one version: a peer of ours is the one of the same release, or a patch of it. */
function peers({ version, peerDependencies }: Pick<Manifest, 'version' | 'peerDependencies'>): Partial<Manifest> {
  if (!peerDependencies) return {}
  const entries = Object.entries(peerDependencies).map(([name, range]) => [name, range === '*' ? `^${version}` : range])
  return { peerDependencies: Object.fromEntries(entries) }
}

/** The name of a built file, without its extension, from the path of its source; undefined: the path is of no source. */
export function stemOf(path: string): string | undefined {
  return /^\.\/src\/(.+)\.ts$/.exec(path)?.[1]
}

export function built(path: string): Target {
  const stem = stemOf(path)
  return stem === undefined ? path : { types: `./dist/${stem}.d.ts`, default: `./dist/${stem}.js` }
}

/** The text of a page for who reads it far from the repository: its links, relative to `folder`, lead to the version's. */
export function absolute(page: string, folder: string, version: string): string {
  const base = new URL(`${repository}/blob/v${version}/${folder}/`)
  return page.replace(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, path: string) => `](${new URL(path, base).href})`)
}
