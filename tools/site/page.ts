import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Page {
  /** From the root of the repository, with `/`. */
  path: string
  markdown: string
}

/** What is wrong, and where on a page. */
export interface Problem {
  page: string
  line: number
  message: string
}

/** The pages that teach: READMEs and docs. Decisions say what was, and their code may be gone. */
export function pagesOf(folder: string): string[] {
  const places = ['README.md', 'packages/*/README.md', 'docs/**/*.md']
  const paths = globSync(places, { cwd: folder }).map((path) => path.replaceAll('\\', '/'))
  return paths.filter((path) => !/^docs\/decisions\/|\/node_modules\//.test(path)).sort()
}

export function read(path: string): Page {
  return { path, markdown: readFileSync(join(root, path), 'utf8') }
}

/** The pages of the site. */
export function sitePages(): Page[] {
  return pagesOf(root)
    .filter((path) => path.startsWith('docs/'))
    .map(read)
}
