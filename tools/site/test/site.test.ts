import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outside, warnings } from '../build.ts'
import { headingsOf } from '../heading.ts'
import { dead, onSite, repository } from '../link.ts'
import { llmsFull, llmsIndex, summaryOf } from '../llms.ts'
import { pagesOf, read, root, sitePages } from '../page.ts'
import { sidebar } from '../sidebar.ts'

const pages = sitePages()
const groups = sidebar(pages)

describe('the site', () => {
  it('leads to each of its pages once', () => {
    const links = groups.flatMap(({ items }) => items.map(({ link }) => link))
    const names = pages.map(({ path }) => `/${path.slice('docs/'.length, -'.md'.length).replace(/(^|\/)index$/, '$1')}`)
    expect(links.toSorted()).toEqual(names.toSorted())
    expect(groups.flatMap(({ items }) => items.filter(({ text }) => text === ''))).toEqual([])
    expect(links[0]).toBe('/')
  })

  it('asks no other server, and its browser would not', () => {
    const guard = '<meta http-equiv="Content-Security-Policy" content="">'
    const page = (markdown: string) => outside([{ path: 'a.html', markdown }]).length
    expect(page(`${guard}<script src="/a.js"></script><a href="https://other.org">fine</a>`)).toBe(0)
    expect(page('')).toBe(1)
    expect(page(`${guard}<script async src="https://other.org/a.js"></script>`)).toBe(1)
    expect(page(`${guard}<link rel="preconnect" href="//other.org">`)).toBe(1)
    expect(
      outside([{ path: 'a.css', markdown: '@import "https://fonts.org/a"; a { background: url(//b) }' }]),
    ).toHaveLength(2)
  })

  it('is not built with a warning', () => {
    expect(warnings("(!) Some chunks are larger\n✓ built\nThe language 'x' is not loaded, falling back")).toHaveLength(
      2,
    )
  })

  it('is in llms.txt, page for page', () => {
    const index = llmsIndex(pages, groups)
    for (const { path } of pages) expect(index).toContain(`](${path.slice('docs/'.length)}): `)
    const full = llmsFull(pages, groups)
    expect(full).not.toContain('<!-- ts')
    expect(full.split('\n---\n').length).toBeGreaterThanOrEqual(pages.length)
    const page =
      '# A\n\n<!-- ts\nx. y\n-->\n```ts\nz\n```\n\nTells of [b](c.md), which\nis more. It ends. One that is long enough, and more than that, to stand alone for a page. No more.\n'
    expect(summaryOf(page)).toBe(
      'Tells of b, which is more. It ends. One that is long enough, and more than that, to stand alone for a page.',
    )
  })
})

describe('links', () => {
  it('of all pages lead to a file, and to a heading that is there', () => {
    const others = [
      'ARCHITECTURE.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      ...globSync('docs/decisions/*.md', { cwd: root }),
    ]
    expect(dead([...pagesOf(root), ...others].map(read))).toEqual([])
  })

  it('to records of decisions lead to one that is there, from code as well, and their list has them all', () => {
    const places = [
      '*.md',
      '{docs,packages,examples,ops}/**/*.{md,ts,tsx,sql}',
      '{api,bench,chaos,mutate,recordings,scripts,simulation,site}/**/*.ts',
    ]
    const paths = globSync(places, { cwd: root }).filter((path) => !path.includes('node_modules'))
    const mentions = paths.flatMap(
      (path) => readFileSync(join(root, path), 'utf8').match(/decisions\/\d{4}[\w-]*/g) ?? [],
    )
    expect(mentions.length).toBeGreaterThan(20)
    const records = globSync('[0-9]*.md', { cwd: join(root, 'docs/decisions') }).map((name) =>
      name.slice(0, -'.md'.length),
    )
    const known = new Set(records.map((name) => `decisions/${name}`))
    expect([...new Set(mentions)].filter((mention) => !known.has(mention))).toEqual([])
    const list = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
    expect(records.filter((name) => !list.includes(`(${name}.md)`))).toEqual([])
  })

  it('that lead nowhere are told', () => {
    const markdown = '[a](gone.md)\n[b](../README.md#no-such)\n`[c](no.md)`\n[d](#here) [e](../tools)\n\n## Here\n'
    expect(dead([{ path: 'docs/page.md', markdown }])).toEqual([
      { page: 'docs/page.md', line: 1, message: 'there is no docs/gone.md' },
      { page: 'docs/page.md', line: 2, message: 'README.md has no heading or anchor #no-such' },
    ])
  })

  it('to headings are the same at GitHub and on the site', () => {
    const titles = [
      '# `task.run()` and *more*',
      '## A',
      '```',
      '# no',
      '```',
      '## A',
      '### What? [Why](x.md), when & how',
    ]
    expect(headingsOf(titles.join('\n')).map(({ slug }) => slug)).toEqual([
      ...['taskrun-and-more', 'a', 'a-1', 'what-why-when--how'],
    ])
  })

  it('to what is no page of the site lead to the repository', () => {
    expect(onSite('docs/postgres.md', 'runtimes.md#bundlers')).toBe('runtimes.md#bundlers')
    expect(onSite('docs/reference/errors.md', '#a')).toBe('#a')
    expect(onSite('docs/postgres.md', 'decisions/0006-postgres-calls.md')).toBe(
      `${repository}/blob/main/docs/decisions/0006-postgres-calls.md`,
    )
    expect(onSite('docs/guide.md', '../examples/provisioning')).toBe(`${repository}/tree/main/examples/provisioning`)
  })
})
