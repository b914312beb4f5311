import type { Rule } from 'eslint'
import { type Code, codeOf } from '../code/code.ts'
import { bare, type Node, nameOf } from '../code/syntax.ts'

/** Methods that change what they are called on, by what it was made as. */
const changing: Record<string, readonly string[]> = {
  Array: ['copyWithin', 'fill', 'pop', 'push', 'reverse', 'shift', 'sort', 'splice', 'unshift'],
  Map: ['clear', 'delete', 'set'],
  Set: ['add', 'clear', 'delete'],
  WeakMap: ['delete', 'set'],
  WeakSet: ['add', 'delete'],
}

export const noModuleState: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Disallow writing to variables from outside in workflow code.', recommended: true },
    schema: [],
    messages: {
      written:
        '`{{name}}` is from outside the workflow: it is written again whenever the task is replayed, and other processes never see it. Use a variable inside, or write in a step.',
    },
  },
  create(context) {
    return {
      'Program:exit'() {
        const code = codeOf(context.sourceCode)
        for (const node of code.nodes.run) {
          for (const target of targets(node, code)) {
            const name = target.type === 'Identifier' ? target.name : ''
            if (isOutside(target, code))
              context.report({ node: node as Rule.Node, messageId: 'written', data: { name } })
          }
        }
      },
    }
  },
}

/** Identifiers of what the node changes. */
function targets(node: Node, code: Code): Node[] {
  if (node.type === 'AssignmentExpression') return written(node.left)
  if (node.type === 'UpdateExpression') return written(node.argument)
  if (node.type === 'UnaryExpression' && node.operator === 'delete') return written(node.argument)
  if (node.type !== 'CallExpression') return []
  const callee = bare(node.callee)
  if (callee.type !== 'MemberExpression') return []
  const target = bare(callee.object)
  const kind = madeAs(code.names.resolve(target))
  return kind !== null && changing[kind]?.includes(nameOf(callee) ?? '') ? [target] : []
}

function madeAs(value: Node): string | null {
  if (value.type === 'ArrayExpression') return 'Array'
  return value.type === 'NewExpression' && value.callee.type === 'Identifier' ? value.callee.name : null
}

/** Where an assignment's left side begins. */
function written(left: Node): Node[] {
  const target = bare(left)
  switch (target.type) {
    case 'Identifier':
      return [target]
    case 'MemberExpression':
      return written(target.object)
    case 'AssignmentPattern':
      return written(target.left)
    case 'RestElement':
      return written(target.argument)
    case 'ArrayPattern':
      return target.elements.flatMap((element) => (element ? written(element) : []))
    case 'ObjectPattern':
      return target.properties.flatMap((part) => written(part.type === 'Property' ? part.value : part))
    default:
      return []
  }
}

function isOutside(target: Node, code: Code): boolean {
  const variable = code.names.variable(target)
  return variable === null || (variable !== undefined && !code.isInside(variable))
}
