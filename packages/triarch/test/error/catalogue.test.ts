import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCatalogue, isErrorCode } from '../../src/error/catalogue.ts'

const packages = join(import.meta.dirname, '../../..')
const page = join(import.meta.dirname, '../../../../docs/reference/errors.md')
const codes = Object.keys(errorCatalogue).sort()

/** The rows of the page's tables of codes: code → `meaning. What to do`. */
function documented(): Map<string, string> {
  const rows = readFileSync(page, 'utf8').matchAll(/^\| <a id="[a-z_]+"><\/a>`([A-Z_]+)` \| (.*)\. \| (.*) \|$/gm)
  return new Map([...rows].map(([, code = '', meaning = '', advice = '']) => [code, `${meaning}: ${advice}`]))
}

describe('the error catalogue', () => {
  it('and its docs page hold the same codes', () => {
    expect([...documented().keys()].sort()).toEqual(codes)
  })

  it('and its docs page say the same of each code', () => {
    for (const [code, text] of documented()) {
      expect(text.toLowerCase(), code).toBe(errorCatalogue[code as keyof typeof errorCatalogue].toLowerCase())
    }
  })

  it('gives each code an anchor on its docs page, as problem details link to it', () => {
    const anchors = [...readFileSync(page, 'utf8').matchAll(/^\| <a id="([a-z_]+)"><\/a>`([A-Z_]+)` \|/gm)]
    expect(anchors.map(([, anchor]) => anchor)).toEqual(anchors.map(([, , code]) => code?.toLowerCase()))
    expect(anchors).toHaveLength(codes.length)
  })

  it('holds no code that nothing raises', () => {
    const files = globSync('*/src/**/*.ts', { cwd: packages })
    const used = new Set<string>()
    for (const file of files.filter((name) => !name.endsWith(join('error', 'catalogue.ts')))) {
      for (const [, code = ''] of readFileSync(join(packages, file), 'utf8').matchAll(/['"]([A-Z][A-Z_]+)['"]/g))
        used.add(code)
    }
    expect(codes.filter((code) => !used.has(code))).toEqual([])
  })

  it('says for each code what it means and what to do', () => {
    for (const [code, text] of Object.entries(errorCatalogue)) expect(text, code).toMatch(/^[A-Z].*: .*\.$/)
  })

  it('knows its codes from other words', () => {
    expect(isErrorCode('INVARIANT')).toBe(true)
    expect(['toString', '__proto__', 'ENOENT', 1, null].some(isErrorCode)).toBe(false)
  })
})
