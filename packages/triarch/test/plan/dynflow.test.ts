import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const tests = join(import.meta.dirname, '..')
const page = readFileSync(join(tests, '../../../docs/coming-from-dynflow.md'), 'utf8')
const rows = [...page.matchAll(/^\| (?<feature>.*?) \| .* \| `(?<file>[^`]+\.test\.ts)`: (?<title>.+) \|$/gm)]

describe('each row of the page for those who come from Dynflow', () => {
  it('has a test', () => {
    expect(rows).toHaveLength(page.split('\n').filter((line) => line.startsWith('| ')).length - 2)
  })

  it.each(rows.map(({ groups }) => groups as Record<string, string>))('$feature: shown by $file', ({ file, title }) => {
    const path = join(tests, file as string)
    expect(existsSync(path)).toBe(true)
    expect(readFileSync(path, 'utf8')).toContain(title)
  })
})
