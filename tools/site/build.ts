import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { visible } from './heading.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { type Page, type Problem, root, sitePages } from './page.ts'
import { sidebar } from './sidebar.ts'

/** Where the built site is. */
export const site = join(root, 'docs/.vitepress/dist')

const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js')

/** Builds the site. Whatever the builder warns of is a problem. */
export async function build(args: string[]): Promise<Problem[]> {
  const child = spawn(process.execPath, [vitepress, 'build', 'docs', ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const told = `${out}\n${errors}`
  if (status !== 0) return [{ page: 'docs', line: 1, message: `the build ended with ${status}\n${told}` }]
  const pages = sitePages()
  const groups = sidebar(pages)
  write('llms.txt', llmsIndex(pages, groups))
  write('llms-full.txt', llmsFull(pages, groups))
  for (const { path, markdown } of pages) write(path.slice('docs/'.length), visible(markdown))
  return [...warnings(told), ...missing(pages), ...outside(filesOf('**/*.{html,css}'))]
}

export function preview(args: string[]): void {
  spawn(process.execPath, [vitepress, 'dev', 'docs', ...args], { cwd: root, stdio: 'inherit' })
}

/** Lines of the builder's that warn of something. */
export function warnings(told: string): Problem[] {
  const lines = told.split('\n').filter((line) => /warn|\(!\)|deprecat|error|not found|fall(?:ing)? back/i.test(line))
  return lines.map((message) => ({ page: 'docs', line: 1, message }))
}

function missing(pages: Page[]): Problem[] {
  const built = globSync('**/*.html', { cwd: site }).map((path) => path.replaceAll('\\', '/'))
  return pages
    .filter(({ path }) => !built.includes(path.replace(/^docs\/(.*)\.md$/, '$1.html')))
    .map(({ path }) => ({ page: path, line: 1, message: 'it is not on the site' }))
}

function filesOf(pattern: string): Page[] {
  return globSync(pattern, { cwd: site }).map((path) => ({ path, markdown: readFileSync(join(site, path), 'utf8') }))
}

/** What of the built site would make a browser ask another server. That people can follow links there is fine. */
export function outside(files: Page[]): Problem[] {
  const asking =
    /<(?:script|img|iframe|source|video|audio|embed|object|use)\b[^>]*?\b(?:src|srcset|href|data)="?(?:https?:)?\/\/[^">]*|<link\b(?![^>]*rel="?canonical)[^>]*?href="?(?:https?:)?\/\/[^">]*|(?:url\(|@import )["']?(?:https?:)?\/\/[^)"']*/g
  const guard = 'http-equiv="Content-Security-Policy"'
  return files.flatMap(({ path, markdown }) => [
    ...(markdown.match(asking) ?? []).map((message) => ({
      page: path,
      line: 1,
      message: `it asks outside: ${message}`,
    })),
    // Scripts cannot be read like this: the browser itself is told to refuse.
    ...(path.endsWith('.html') && !markdown.includes(guard) ? [{ page: path, line: 1, message: `no ${guard}` }] : []),
  ])
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(site, path)), { recursive: true })
  writeFileSync(join(site, path), content)
}
