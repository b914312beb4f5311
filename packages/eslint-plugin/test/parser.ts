// TypeScript for ESLint: the syntax tree of oxc, which rolldown has in it and which is that of typescript-eslint, with the
// scopes of typescript-eslint. Its own parser needs an older TypeScript than this repository has.
import { analyze } from '@typescript-eslint/scope-manager'
import { visitorKeys } from '@typescript-eslint/visitor-keys'
import type { ESLint, Linter } from 'eslint'
import { parseSync } from 'rolldown/utils'

interface Part {
  type: string
  start: number
  end: number
  range?: [number, number]
  loc?: { start: Position; end: Position }
}

interface Position {
  line: number
  column: number
}

/** A parser for `languageOptions`. */
export const parser: Linter.Parser = {
  meta: { name: 'triarch/oxc', version: '1' } satisfies ESLint.ObjectMetaProperties,
  parseForESLint(code: string) {
    const { program, comments, errors } = parseSync('file.ts', code, { astType: 'ts' })
    const [error] = errors
    if (error) throw new SyntaxError(error.message)
    const starts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)]
    place(program, starts)
    for (const comment of comments) locate(comment as unknown as Part, starts)
    const ast = Object.assign(program, { comments, tokens: [] })
    const scopeManager = analyze(ast as never, { sourceType: 'module', childVisitorKeys: visitorKeys })
    return { ast, scopeManager, visitorKeys } as unknown as Linter.ESLintParseResult
  },
}

/** Gives every node of the tree its place. */
function place(value: unknown, starts: readonly number[]): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && 'start' in value) locate(value as Part, starts)
  for (const part of Object.values(value)) place(part, starts)
}

function locate(part: Part, starts: readonly number[]): void {
  part.range = [part.start, part.end]
  part.loc = { start: position(part.start, starts), end: position(part.end, starts) }
}

function position(offset: number, starts: readonly number[]): Position {
  const line = starts.findLastIndex((start) => start <= offset)
  return { line: line + 1, column: offset - (starts[line] ?? 0) }
}
