// The packages, their entries, and where their declarations are.
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { read as manifestOf, root } from '../packaging/manifest.ts'
import type { Entry } from './surface.ts'

export interface Package {
  name: string
  /** Its folder. */
  home: string
  entries: readonly Entry[]
}

export const packages: readonly Package[] = globSync('packages/*/tsconfig.build.json', { cwd: root })
  .map((config) => join(root, config, '..'))
  .sort()
  .map((home) => {
    const { name, exports } = manifestOf(home)
    const entries = Object.entries(exports)
      .filter(([, path]) => path.endsWith('.ts'))
      .map(([key, path]) => ({
        name: key === '.' ? name : `${name}${key.slice(1)}`,
        path: path.replace(/^\.\/src\/(.+)\.ts$/, '$1.d.ts'),
      }))
    return { name, home, entries }
  })

/** The name of the files about an entry: `triarch/sqlite` is in `triarch-sqlite`. */
export function stemOf({ name }: Entry): string {
  return name.replace(/^@/, '').replaceAll('/', '-')
}

export const folderOf = ({ home }: Package): string => basename(home)
