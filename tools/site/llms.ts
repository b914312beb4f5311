import { proseOf, titleOf, visible } from './heading.ts'
import type { Page } from './page.ts'
import type { Group } from './sidebar.ts'

/** llms.txt (llmstxt.org): every page with its first sentence, in the order of the sidebar. Links lead to the pages as Markdown. */
export function llmsIndex(pages: Page[], groups: Group[]): string {
  const home = pages.find(({ path }) => path === 'docs/index.md')
  const parts = groups.map(({ text, items }) => {
    const lines = items.map(({ text: title, link }) => {
      const path = fileOf(link)
      const page = pages.find((page) => page.path === `docs/${path}`)
      return `- [${title}](${path}): ${summaryOf(page?.markdown ?? '')}`
    })
    return `## ${text}\n\n${lines.join('\n')}\n`
  })
  return `# Triarch\n\n> ${summaryOf(home?.markdown ?? '')}\n\n${parts.join('\n')}`
}

/** llms-full.txt: all pages, one after the other. */
export function llmsFull(pages: Page[], groups: Group[]): string {
  const order = groups.flatMap(({ items }) => items.map(({ link }) => `docs/${fileOf(link)}`))
  return order.map((path) => visible(pages.find((page) => page.path === path)?.markdown ?? '')).join('\n---\n\n')
}

/** What a page is about, in its own words: its first sentences, until they say something. */
export function summaryOf(markdown: string): string {
  const paragraphs = visible(proseOf(markdown).join('\n')).split(/\n\s*\n/)
  const text = paragraphs.map((part) => part.trim()).find((part) => /^(?![*-] )[^#|<]/u.test(part))
  const plain = (text ?? titleOf(markdown)).replace(/\s+/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const sentences = plain.match(/.+?[.!?:](?= |$)|.+$/g) ?? [plain]
  let summary = ''
  for (const sentence of sentences) if (summary.length < 80) summary += sentence
  return summary.replace(/:$/, '.')
}

function fileOf(link: string): string {
  return `${link.slice(1).replace(/(^|\/)$/, '$1index')}.md`
}
