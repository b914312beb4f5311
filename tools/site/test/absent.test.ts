import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { absent } from '../absent.ts'
import { read, root } from '../page.ts'

interface Statement {
  page: string
  text: string
}

/** The items of the lists of what is not there, and the rows of tables that say `none`. */
function statementsOf(page: string): Statement[] {
  const { markdown } = read(page)
  const lists = markdown.split(/^## /m).filter((part) => /^What (?:you would miss|is not there)\n/.test(part))
  const items = lists.flatMap((part) => part.split(/^- /m).slice(1))
  const rows = markdown.split('\n').flatMap((line) => /^\| (.+) \| none\b/.exec(line)?.[1] ?? [])
  return [...items, ...rows].map((text) => ({
    page,
    text: text
      .replace(/\*\*|`/g, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }))
}

const pages = [
  'docs/patterns.md',
  ...globSync('docs/coming-from/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/')),
]
const statements = pages.flatMap(statementsOf)

describe('what pages say not to be there', () => {
  it('is in the list of what is absent, item by item and row by row', () => {
    expect(pages.filter((page) => !statements.some((statement) => statement.page === page))).toEqual([])
    expect(statements.filter(({ text }) => !absent.some(({ said }) => said.test(text)))).toEqual([])
  })

  it('is all that the list has', () => {
    expect(
      absent.filter(({ said }) => !statements.some(({ text }) => said.test(text))).map(({ what }) => what),
    ).toEqual([])
  })

  it('has no name in the public API, among the commands or the packages', () => {
    const reports = globSync('tools/api/reports/*.md', { cwd: root }).map((path) => read(path).markdown)
    const folders = globSync('packages/*/', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
    const surface = [...reports, read('docs/reference/cli.md').markdown, ...folders].join('\n')
    expect(reports.length).toBeGreaterThan(10)
    const found = absent.flatMap(({ what, sign }) => {
      const name = sign?.exec(surface)?.[0]
      return name === undefined ? [] : [`${what}: ${name.slice(-80)}`]
    })
    expect(found).toEqual([])
  })
})
