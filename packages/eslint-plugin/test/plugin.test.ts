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

describe('docs/eslint.md', () => {
  const text = readFileSync(join(root, 'docs/eslint.md'), 'utf8')
  const sections = text.split(/^## /m).slice(1)

  it('tells of each rule, and of no other', () => {
    expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(Object.keys(rules))
  })

  const names = ['announce', 'createHost', 'db', 'items', 'migrate', 'notify', 'remind', 'report', 'reserve']
  const head = `import { ref, workflow } from 'triarch'; import { ${names}, versions, withRetry } from './things.ts';`
  const body = (code: string, rule: string) => {
    if (code.includes('workflow(')) return code
    const kind = /async-blocks|reference/.test(rule) ? 'plan(input, plan)' : 'run(order, task)'
    return `workflow('sample', { async ${kind} { const { url } = order; ${code}\n} })`
  }
  // Each part of a sample, for the same name may be said in several.
  const samples = sections.flatMap((section) => {
    const rule = section.split('\n', 1)[0] ?? ''
    const code = /^```ts\n(.*?)^```/ms.exec(section)?.[1] ?? ''
    return code.split(/\n(?=\n|const (?:customer|rates|region|id) = )/).map((part) => ({ rule, part }))
  })

  it.each(samples)('says of $rule what is true: $part', ({ rule, part }) => {
    const lines = part.split('\n').flatMap((line, index) => (line.includes('// reported') ? [index + 1] : []))
    const found = new Linter().verify(`${head}${body(part, rule)}`, [
      plugin.configs.recommended,
      { languageOptions: { parser }, rules: { 'triarch/no-io': 'off', [`triarch/${rule}`]: 'error' } },
    ])
    expect(found.filter(({ ruleId, fatal }) => fatal || ruleId === `triarch/${rule}`).map(({ line }) => line)).toEqual(
      lines,
    )
  })
})

describe('the plugin', () => {
  it('leads from each rule to its section', () => {
    for (const [name, { meta }] of Object.entries(rules)) {
      expect(meta?.docs?.url).toMatch(new RegExp(`^https://[^ ]+/docs/eslint\\.md#${name}$`))
    }
  })

  it('says which it is', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
    expect(plugin.meta).toMatchObject({ name: 'eslint-plugin-triarch', version } satisfies ESLint.ObjectMetaProperties)
  })
})
