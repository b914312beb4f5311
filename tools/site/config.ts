import { slugOf } from './heading.ts'
import { onSite, repository } from './link.ts'
import { sitePages } from './page.ts'
import { sidebar } from './sidebar.ts'

/** As much of a token of markdown-it as is used here. */
interface Token {
  type: string
  children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

interface Parser {
  core: {
    ruler: { push(name: string, rule: (state: { tokens: Token[]; env: { relativePath?: string } }) => void): void }
  }
}

/** Nothing is asked of another server: the browser is told to refuse it. */
const guard = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
].join('; ')

/** Links to files that are no pages of the site lead to the repository. */
function outward(md: Parser): void {
  md.core.ruler.push('outward', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const target = token.type === 'link_open' ? token.attrGet('href') : null
      if (target !== null) token.attrSet('href', onSite(`docs/${env.relativePath}`, target))
    }
  })
}

/** The configuration of VitePress, less the types: it is a tool of this folder only. */
export const config = {
  title: 'Triarch',
  description: 'Durable tasks for TypeScript: each one finishes, or is undone as a whole, whatever crashes on the way.',
  lang: 'en',
  // Records of decisions are for who changes Triarch: they are read where the code is.
  srcExclude: ['decisions/**'],
  cacheDir: '../node_modules/.cache/vitepress',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: guard }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  markdown: { anchor: { slugify: slugOf }, config: outward },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(sitePages()),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
  },
  // The index of the search is one file, and grows with the pages.
  vite: { build: { chunkSizeWarningLimit: 4000 } },
}
