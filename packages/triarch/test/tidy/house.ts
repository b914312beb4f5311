import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const foreign = new Set(['node_modules', 'dist', 'coverage', '.git'])

/** Paths of all files under `root` that are ours, with `/` between folders whatever the machine. */
export function filesOf(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !foreign.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? filesOf(root, path) : [path]
    })
}

export function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
