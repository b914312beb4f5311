import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Template } from './template/template.ts'
import { templates } from './templates.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Node runs the sources as they are: what it could not run is an error. */
const compilerOptions = {
  ...{ target: 'esnext', lib: ['esnext'], module: 'nodenext', types: ['node'], noEmit: true, strict: true },
  ...{ erasableSyntaxOnly: true, allowImportingTsExtensions: true, verbatimModuleSyntax: true, skipLibCheck: true },
}

/**
 * What is made, and where.
 * @example const options: CreateOptions = { folder: 'my-shop', template: 'web' }
 */
export interface CreateOptions {
  /** Where: empty, or not there. Its name is the project's. */
  folder: string
  /** The name of the template. */
  template: string
}

/**
 * Writes the files of a template; gives their paths in the folder. Throws a TypeError where the folder's name is none of a package, or there is no such
 * template, and an Error where something is in the folder.
 * @example create({ folder: 'my-shop', template: 'file' })
 */
export function create({ folder, template }: CreateOptions): string[] {
  if (!Object.hasOwn(templates, template))
    throw new TypeError(`there is no template "${template}": give ${Object.keys(templates).join(', ')}`)
  const { files, scripts, dependencies }: Template = templates[template as keyof typeof templates]
  const home = resolve(folder)
  const name = basename(home)
  if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name))
    throw new TypeError(`"${name}" is no name of a package: use small letters, digits, "-", "." and "_"`)
  if (existsSync(home) && readdirSync(home).length > 0) throw new Error(`${folder} is not empty: nothing was written`)
  const manifest = {
    ...{ name, private: true, type: 'module', engines: { node: '>=24.15' } },
    scripts: { ...scripts, check: 'tsc' },
    dependencies: Object.fromEntries(dependencies.map((one) => [one, `^${version}`])),
    devDependencies: { '@types/node': '^24.0.0', typescript: '>=5.9' },
  }
  const all = {
    ...files,
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'tsconfig.json': `${JSON.stringify({ compilerOptions }, null, 2)}\n`,
    '.gitignore': 'node_modules/\n*.db\n*.db-shm\n*.db-wal\n',
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text, { flag: 'wx' })
  }
  return Object.keys(all)
}
