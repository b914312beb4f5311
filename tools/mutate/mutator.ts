import { parseSync } from 'rolldown/utils'
import type { Mutant } from './mutant.ts'

/** A node of an ESTree, as far as this program looks at it. */
interface Tree {
  type: string
  start: number
  end: number
  [child: string]: unknown
}

type Change = { what: string; start: number; end: number; text: string }

/** `a < b` becomes `a <= b` and so on: the comparison shifted by one, and for equality its negation. */
const shifted: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}

/** Every mutant of a file: conditions negated, comparisons shifted, connectives swapped, statements dropped. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found: Mutant[] = []
  const seen = new Map<string, number>()
  walk(program as unknown as Tree, '', (node, place) => {
    for (const { what, start, end, text } of changes(node, source)) {
      const stem = `${file} ${place || 'module'}: ${what} ${excerpt(source.slice(start, end))}`
      const count = (seen.get(stem) ?? 0) + 1
      seen.set(stem, count)
      const line = source.slice(0, start).split('\n').length
      found.push({ key: count === 1 ? stem : `${stem} #${count}`, file, line, start, end, text })
    }
  })
  return found
}

function changes(node: Tree, source: string): Change[] {
  const textOf = ({ start, end }: Tree) => source.slice(start, end)
  switch (node.type) {
    case 'IfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
    case 'ConditionalExpression': {
      const test = node.test as Tree | null
      // Of an equality the negation is its shift.
      const equality = test?.type === 'BinaryExpression' && /^[=!]==$/.test(test.operator as string)
      return test && !equality ? [{ what: 'negate', start: test.start, end: test.end, text: `!(${textOf(test)})` }] : []
    }
    case 'LogicalExpression': {
      const operator = node.operator as string
      if (operator === '??') return []
      const [left, right] = [node.left as Tree, node.right as Tree]
      const other = operator === '&&' ? '||' : '&&'
      return [{ what: `${operator} to ${other}`, ...span(node), text: `(${textOf(left)}) ${other} (${textOf(right)})` }]
    }
    case 'BinaryExpression': {
      const other = shifted[node.operator as string]
      if (other === undefined) return []
      const [left, right] = [node.left as Tree, node.right as Tree]
      return [
        { what: `${node.operator} to ${other}`, ...span(node), text: `${textOf(left)} ${other} ${textOf(right)}` },
      ]
    }
    case 'CallExpression': {
      const name = textOf(node.callee as Tree)
      const other = name === 'Math.min' ? 'Math.max' : name === 'Math.max' ? 'Math.min' : null
      return other ? [{ what: `${name} to ${other}`, ...span(node.callee as Tree), text: other }] : []
    }
    case 'UpdateExpression': {
      const other = node.operator === '++' ? '--' : '++'
      const argument = textOf(node.argument as Tree)
      const text = node.prefix === true ? `${other}${argument}` : `${argument}${other}`
      return [{ what: `${node.operator} to ${other}`, ...span(node), text }]
    }
    case 'ExpressionStatement':
    case 'ContinueStatement':
    case 'BreakStatement':
    case 'ThrowStatement':
      return [{ what: 'drop', ...span(node), text: ';' }]
    case 'ReturnStatement': {
      // What it gives may be what matters, or that nothing after it runs.
      const argument = node.argument as Tree | null
      const calls = argument?.type === 'CallExpression' || argument?.type === 'AwaitExpression'
      return argument === null || calls ? [{ what: 'drop', ...span(node), text: ';' }] : []
    }
    default:
      return []
  }
}

function span({ start, end }: Tree): { start: number; end: number } {
  return { start, end }
}

/** Types do nothing at run time. */
function isType(type: string): boolean {
  return type.startsWith('TS') && !['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'].includes(type)
}

function walk(node: Tree, place: string, visit: (node: Tree, place: string) => void): void {
  if (isType(node.type)) return
  const within = nameOf(node) ?? place
  visit(node, within)
  for (const [name, child] of Object.entries(node)) {
    if (name === 'typeAnnotation' || name === 'returnType' || name === 'typeParameters') continue
    for (const one of Array.isArray(child) ? child : [child]) if (isTree(one)) walk(one, within, visit)
  }
}

/** The name of a function, method or class, where it has one. */
function nameOf({ type, id, key, method }: Tree): string | null {
  const isMethod = type === 'MethodDefinition' || (type === 'Property' && method === true)
  const named = type === 'FunctionDeclaration' || type === 'ClassDeclaration' ? id : isMethod ? key : null
  const { name } = (named ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : null
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && typeof (value as Tree).type === 'string'
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= 90 ? line : `${line.slice(0, 60)}…${line.slice(-25)}`
}
