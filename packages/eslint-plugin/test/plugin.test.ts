// The plugin as its users meet it.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ESLint, Linter } from 'eslint'
import { defineConfig } from 'eslint/config'
import { describe, expect, it } from 'vitest'
import plugin, { rules } from '../src/index.ts'
import { parser } from './parser.ts'

const root = join(import.meta.dirname, '../../..')
// What does not fit ESLint's types fails in `npm run check`.
const config = defineConfig([plugin.configs.recommended, { languageOptions: { parser } }])
const lint = (code: string) => new Linter().verify(code, config).map(({ ruleId, message }) => ruleId ?? message)

describe('the recommended config', () => {
  it('has all rules, as errors', () => {
    const names = Object.keys(rules).map((name) => [`triarch/${name}`, 'error'])
    expect(plugin.configs.recommended.rules).toEqual(Object.fromEntries(names))
  })

  const files = globSync('examples/*/*.ts', { cwd: root })
  it.each(files)('finds nothing wrong in %s', (path) => {
    expect(lint(readFileSync(join(root, path), 'utf8'))).toEqual([])
  })

  it.each([
    ['orders/shop.ts', 'async run(order: Order, task) {'],
    ['quickstart/main.ts', 'amount: number }, task) {'],
    ['provisioning/infrastructure.ts', 'async run(addresses: string[], task) {'],
  ])('sees the workflow in %s', (path, head) => {
    const code = readFileSync(join(root, 'examples', path), 'utf8')
    expect(code).toContain(head)
    expect(lint(code.replace(head, `${head}\n    Math.random()\n`))).toEqual(['triarch/no-random'])
  })

  it('can be asked for by the name of the plugin', () => {
    const config = defineConfig([{ plugins: { triarch: plugin }, extends: ['triarch/recommended'] }])
    const code = "import { workflow } from 'triarch'\nworkflow('sample', { run: () => Math.random() })"
    expect(new Linter().verify(code, config).map(({ ruleId }) => ruleId)).toEqual(['triarch/no-random'])
  })
})

describe('the plugin', () => {
  it('says which it is', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
    expect(plugin.meta).toMatchObject({ name: 'eslint-plugin-triarch', version } satisfies ESLint.ObjectMetaProperties)
  })

  it('tells of each rule in docs/eslint.md, and of no other', () => {
    const text = readFileSync(join(root, 'docs/eslint.md'), 'utf8')
    expect([...text.matchAll(/^## (no-[a-z-]+)$/gm)].map(([, name]) => name)).toEqual(Object.keys(rules))
  })
})
