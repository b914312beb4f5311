// What each rule sees, and what it leaves alone: with ESLint 9 and 10, and with the parsers of both languages.
import { Linter, RuleTester } from 'eslint'
import { Linter as Linter9 } from 'eslint-9'
import { describe, expect, it } from 'vitest'
import plugin, { rules } from '../src/index.ts'
import { bans } from './cases/ban.ts'
import type { Invalid, Valid } from './cases/case.ts'
import { whatIsWorkflowCode } from './cases/code.ts'
import { plans } from './cases/plan.ts'
import { floatingCalls, foreignAwait } from './cases/promise.ts'
import { moduleState } from './cases/state.ts'
import { parser } from './parser.ts'

const tables = [whatIsWorkflowCode, ...bans, moduleState, floatingCalls, foreignAwait, ...plans]
const linter = new Linter()
const languageOptions: Linter.LanguageOptions = { parser, ecmaVersion: 'latest', sourceType: 'module' }

function lint(by: Linter, options: Linter.LanguageOptions, rule: string, { code, options: of = [] }: Valid) {
  const plugins = { triarch: plugin }
  return by.verify(code, { plugins, languageOptions: options, rules: { [`triarch/${rule}`]: ['error', ...of] } })
}

/** A case as ESLint has it. Where it does not say what is suggested, any suggestion will do. */
function complaint(rule: string, { says, suggests = [], fixed, ...given }: Invalid): RuleTester.InvalidTestCase {
  const messages = lint(linter, languageOptions, rule, given)
  const errors = says.map((part, index) => {
    const made = messages[index]?.suggestions ?? []
    const suggestions = suggests[index]?.map((output, n) => ({ output, desc: made[n]?.desc ?? '' })) ?? made.length
    return { message: new RegExp(part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')), suggestions }
  })
  return { ...given, options: [...(given.options ?? [])], errors, output: fixed ?? null }
}

RuleTester.describe = describe
RuleTester.it = it
const tester = new RuleTester({ languageOptions })
for (const { rule, valid, invalid } of tables) {
  const checked = rules[rule]
  if (!checked) throw new Error(`there is no rule ${rule}`)
  tester.run(rule, checked, {
    valid: valid.map((one) => ({ ...one, options: [...(one.options ?? [])] })),
    invalid: invalid.map((one) => complaint(rule, one)),
  })
}

describe('every rule', () => {
  const told = (messages: Linter.LintMessage[]) =>
    messages.map(({ fatal, line, column, message }) => (fatal ? null : `${line}:${column} ${message}`))
  const cases = tables.flatMap(({ rule, valid, invalid }) => [...valid, ...invalid].map((one) => ({ rule, one })))
  const usual = cases.map(({ rule, one }) => told(lint(linter, languageOptions, rule, one)))
  const older = new Linter9() as unknown as Linter

  it.each([
    ["ESLint's own parser", linter, {}],
    ['ESLint 9', older, { parser }],
    ['ESLint 9 and its own parser', older, {}],
  ])('says the same with %s', (_, by, own) => {
    const options = { ecmaVersion: 'latest', sourceType: 'module', ...own } as const
    const here = cases.map(({ rule, one }) => told(lint(by, options, rule, one)))
    // TypeScript is what only one of the parsers reads.
    const read = here.filter((messages) => !messages.includes(null))
    expect(read).toEqual(usual.filter((__, index) => !here[index]?.includes(null)))
    expect(read.length).toBeGreaterThan(cases.length * 0.9)
  })
})
