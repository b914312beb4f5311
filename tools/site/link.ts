import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { headingsOf, proseOf } from './heading.ts'
import { type Page, type Problem, read, root } from './page.ts'

export const repository = 'https://github.com/triarch-dev/triarch'

export interface Link {
  target: string
  line: number
}

export function linksOf(markdown: string): Link[] {
  return proseOf(markdown).flatMap((text, index) =>
    [...text.replace(/(`+)[^`].*?\1/g, '').matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target = '']) => ({
      target,
      line: index + 1,
    })),
  )
}

/** Links that lead to no file of the repository, or to no heading or anchor of a page. */
export function dead(pages: Page[]): Problem[] {
  const slugs = new Map<string, string[]>()
  const slugsOf = (path: string, markdown: string): string[] => {
    const known = slugs.get(path) ?? [...headingsOf(markdown).map(({ slug }) => slug), ...anchorsOf(markdown)]
    slugs.set(path, known)
    return known
  }
  return pages.flatMap((page) =>
    linksOf(page.markdown).flatMap(({ target, line }) => {
      if (/^[a-z]+:/.test(target)) return []
      const { path, anchor } = resolved(page.path, target)
      const problem = (message: string) => [{ page: page.path, line, message }]
      if (path !== page.path && !existsSync(join(root, path))) return problem(`there is no ${path}`)
      if (anchor === null || !path.endsWith('.md')) return []
      const markdown = path === page.path ? page.markdown : read(path).markdown
      return slugsOf(path, markdown).includes(anchor) ? [] : problem(`${path} has no heading or anchor #${anchor}`)
    }),
  )
}

/** What a link on a page leads to, from the root of the repository. */
export function resolved(page: string, target: string): { path: string; anchor: string | null } {
  const [path = '', anchor = null] = target.split('#')
  return { path: path === '' ? page : posix.join(posix.dirname(page), path).replace(/\/$/, ''), anchor }
}

/** A link as the site needs it: what is no page of the site is at GitHub. */
export function onSite(page: string, target: string): string {
  if (/^[a-z]+:|^#/.test(target)) return target
  const { path, anchor } = resolved(page, target)
  if (path.startsWith('docs/') && !path.startsWith('docs/decisions') && path.endsWith('.md')) return target
  const folder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()
  return `${repository}/${folder ? 'tree' : 'blob'}/main/${path}${anchor === null ? '' : `#${anchor}`}`
}

/** What a page names by itself: rows of a table have no headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id)
}
