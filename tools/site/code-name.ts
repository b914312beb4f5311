import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseOf } from './heading.ts'
import { type Page, type Problem, root } from './page.ts'

/** Folders that a path on these pages may begin in, besides the root of the repository. */
const HOMES = ['', 'packages/triarch/src', 'packages/triarch']
/** Where the names of code are looked for. */
const SOURCES = ['packages/*/{src,python}/**/*.{ts,tsx,sql,py}', '{tools,scripts}/**/*.{ts,mjs}']

/** The pages that tell how the code works. They name its files, classes and functions, which may be renamed. */
export function isInternal({ path }: Page): boolean {
  return path === 'ARCHITECTURE.md' || path.startsWith('docs/internals/')
}

/** What these pages set as code that is the name of no file, and of nothing in the sources. */
export function unknownCode(pages: Page[]): Problem[] {
  if (pages.length === 0) return []
  const paths = globSync(SOURCES, { cwd: root }).filter((path) => !/node_modules|[\\/]test[\\/]/.test(path))
  const words = new Set(paths.flatMap((path) => readFileSync(join(root, path), 'utf8').match(/[\w$]+/g) ?? []))
  const fileNames = new Set(paths.map((path) => path.replaceAll('\\', '/').split('/').at(-1)))
  return pages.flatMap((page) =>
    proseOf(page.markdown).flatMap((text, index) =>
      [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
        const problem = (message: string) => [{ page: page.path, line: index + 1, message }]
        if (code.includes('*')) return []
        if (/^[\w@.-]+(?:\/[\w@.-]+)+\/?$|^[\w.-]+\/$/.test(code)) {
          return HOMES.some((home) => existsSync(join(root, home, code))) ? [] : problem(`there is no ${code}`)
        }
        if (/^[\w-]+\.(?:ts|tsx|sql|mjs)$/.test(code)) {
          return fileNames.has(code) ? [] : problem(`no file is called ${code}`)
        }
        if (!/^[A-Za-z_]\w*(?:[.#]+\w+)*(?:\(.*\))?$/.test(code)) return []
        const missing = code
          .replace(/\(.*\)$/, '')
          .split(/[.#]+/)
          .find((word) => !words.has(word) && !words.has(`triarch_${word}`))
        return missing === undefined ? [] : problem(`nothing in the sources is called ${missing}`)
      }),
    ),
  )
}
