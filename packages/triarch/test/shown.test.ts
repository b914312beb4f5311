import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const claim = /^(?:\| .* \| |- Shown by )`(?<file>[\w/.-]+\.(?:test|suite)\.ts)`: (?<title>.+?)(?: \|)?$/

interface Page {
  lines: string[]
  claims: { file: string; title: string }[]
}

function page(name: string): Page {
  const lines = readFileSync(join(root, 'docs', name), 'utf8').split('\n')
  const claims = lines.flatMap((line) => (claim.exec(line)?.groups as Page['claims'][number] | undefined) ?? [])
  return { lines, claims }
}

const dynflow = page('coming-from/dynflow.md')
const patterns = page('patterns.md')

it('each row of the page for those who come from Dynflow names a test', () => {
  const rows = dynflow.lines.filter((line) => line.startsWith('| '))
  expect(dynflow.claims).toHaveLength(rows.length - 2)
})

describe('the page of patterns', () => {
  it('names a test for each part of the pattern, and for each other pattern', () => {
    const [first, ...others] = patterns.lines.join('\n').split(/^## /m).slice(1)
    const parts = (first ?? '').split('\n').filter((line) => line.startsWith('| '))
    expect(parts.filter((line) => claim.test(line))).toHaveLength(parts.length - 2)
    const sections = others.flatMap((group) => group.split(/^### /m).slice(1))
    expect(sections.length).toBeGreaterThan(20)
    expect(sections.filter((section) => !section.split('\n').some((line) => claim.test(line)))).toEqual([])
  })

  it('names files that there are', () => {
    const files = patterns.lines.join('\n').match(/packages\/[\w/.-]+/g) ?? []
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})

describe.each(Object.entries({ dynflow, patterns }))('a test that the page %s names', (_, { claims }) => {
  it.each(claims)('is there: $file: $title', ({ file, title }) => {
    expect(readFileSync(join(root, 'packages/triarch/test', file), 'utf8')).toContain(title)
  })
})
