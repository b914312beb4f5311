import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInternal, unknownCode } from '../code-name.ts'
import { pagesOf, read, root } from '../page.ts'

describe('the chapters on internals', () => {
  const chapters = pagesOf(root)
    .filter((path) => path.startsWith('docs/internals/'))
    .map(read)

  it('name files, classes and functions that there are', () => {
    expect(unknownCode([...chapters, read('ARCHITECTURE.md')])).toEqual([])
  })

  it('have 1,500 words at most, and say what was considered and rejected', () => {
    const others = chapters.filter(({ path }) => !path.endsWith('/index.md'))
    expect(others).toHaveLength(12)
    const words = ({ markdown }: { markdown: string }) => markdown.split(/\s+/).length
    expect(others.filter((page) => words(page) > 1_500).map(({ path }) => path)).toEqual([])
    const last = ({ markdown }: { markdown: string }) => markdown.split(/^## /m).at(-1)?.split('\n')[0]
    expect(others.filter((page) => last(page) !== 'Considered and rejected').map(({ path }) => path)).toEqual([])
  })

  it('have a map of the tables of both stores, and calls of the port', () => {
    const { markdown } = read('docs/internals/stores.md')
    const rows = (heading: string) => {
      const [, part = ''] = markdown.split(`## ${heading}\n`)
      const lines = (part.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
      const cells = lines.map((line) => line.split(' | ')[0] ?? '')
      return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
    }
    const schemas = globSync(
      ['packages/*/src/migrations/**/*.sql', 'packages/triarch/src/store/sqlite/migrations/**/*.ts'],
      { cwd: root },
    )
    const made = schemas.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/CREATE TABLE triarch[._](\w+)/g)].map(
        ([, name = '']) => name,
      ),
    )
    expect([...new Set(rows('Tables'))].sort()).toEqual([...new Set(made)].sort())
    const port = readFileSync(join(root, 'packages/triarch/src/store/calls.ts'), 'utf8')
    const calls = [...port.matchAll(/^ {2}(\w+): \{ bounded/gm)].map(([, name = '']) => name)
    expect(rows('The port').filter((name) => !calls.includes(name))).toEqual([])
  })

  it('are told of names that are gone', () => {
    const markdown = [
      '`kernel/apply.ts` and `kernel/gone.ts`',
      '`GroupCommit` of `store/group.ts`, `GoneForGood.commit(batch)`, `TaskRunner.#commit`',
      '`apply.ts`, `gone-for-good.ts`, `SELECT 1`, `*.suite.ts`, `packages/gone/`',
    ].join('\n')
    const page = { path: 'docs/internals/page.md', markdown }
    expect(isInternal(page)).toBe(true)
    expect(unknownCode([page]).map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '1: there is no kernel/gone.ts',
      '2: nothing in the sources is called GoneForGood',
      '3: no file is called gone-for-good.ts',
      '3: there is no packages/gone/',
    ])
  })
})
