import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ignoredOptions } from '../ignored.ts'

const root = join(import.meta.dirname, '../../..')
/** The compiler reads all sources, and looks at each mention of each option. */
const TIMEOUT = 600_000

/** Read by a name that is computed, or by another type, to which their objects are handed on whole. */
const handedOn = [
  'ConcurrencyOptions.each',
  'ConcurrencyOptions.shared',
  'CrashOptions.lease',
  'CrashOptions.within',
  'HttpActionOptions.concurrency',
  'RateLimitOptions.key',
  'TransientErrorOptions.cause',
  'TriarchOptions.ageing',
  'TriarchOptions.fairness',
]

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

it('every option of the public API is read by the code, and not only checked', { timeout: TIMEOUT }, () => {
  const reports = join(root, 'tools/api/reports')
  const interfaces = readdirSync(reports).flatMap((report) =>
    [...readFileSync(join(reports, report), 'utf8').matchAll(/^interface (\w*Options)\b/gm)].map(
      ([, name]) => name as string,
    ),
  )
  expect(interfaces.length).toBeGreaterThan(90)
  expect(ignoredOptions(join(root, 'tools/api/sources.json'), root, new Set(interfaces))).toEqual(handedOn)
})

it('an option that is only declared, compared with undefined or checked is found', { timeout: TIMEOUT }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'triarch-')))
  folders.push(folder)
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] } }')
  writeFileSync(
    join(folder, 'shop.ts'),
    `
export interface ShopOptions {
  read: number
  destructured: number
  byKey: number
  renamed: number
  declared: number
  compared?: number
  checked: number
  typed: number
  written: number
}
function checkInteger(_: number): void {}
export function shop(options: ShopOptions): number[] {
  if (options.compared !== undefined) checkInteger(options.compared)
  checkInteger(options.checked)
  const given = typeof options.typed
  const { destructured, renamed: other } = options
  options.written = given.length
  return [options.read, destructured, other, options['byKey']]
}
`,
  )
  expect(ignoredOptions(join(folder, 'tsconfig.json'), folder, new Set(['ShopOptions']))).toEqual([
    'ShopOptions.checked',
    'ShopOptions.compared',
    'ShopOptions.declared',
    'ShopOptions.typed',
    'ShopOptions.written',
  ])
})
