import type { Rule } from 'eslint'
import { type Code, codeOf } from '../code/code.ts'
import { bare, type Node, nameOf, parentOf, type Variable } from '../code/syntax.ts'
import { vocabulary } from '../vocabulary.ts'

export const noReferenceValues: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Disallow computing with what a plan does not know yet.', recommended: true },
    schema: [],
    messages: {
      condition: '`{{what}}` has no value while planning, and is always true: use `ref.when(…)` or `ref.or(…)`.',
      comparison: '`{{what}}` has no value while planning: compare by `ref.equals(…)`.',
      text: '`{{what}}` has no value while planning: use ref.text`…`.',
      sum: '`{{what}}` has no value while planning: compute with it in a step.',
    },
  },
  create(context) {
    return {
      'Program:exit'() {
        const code = codeOf(context.sourceCode)
        for (const node of code.nodes.plan) {
          for (const [part, messageId] of used(node)) {
            if (!isReference(part, code)) continue
            const what = context.sourceCode.getText(part as Rule.Node)
            context.report({ node: part as Rule.Node, messageId, data: { what } })
          }
        }
      },
    }
  },
}

/** The parts of an expression or a statement whose values decide, or are computed with. */
function used(node: Node): [Node, string][] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement':
    case 'DoWhileStatement':
      return [[node.test, 'condition']]
    case 'LogicalExpression':
      return [[node.left, 'condition']]
    case 'UnaryExpression':
      return node.operator === '!' ? [[node.argument, 'condition']] : []
    case 'SwitchStatement':
      return [[node.discriminant, 'comparison']]
    case 'TemplateLiteral':
      // A tag takes them as they are.
      return parentOf(node)?.type === 'TaggedTemplateExpression'
        ? []
        : node.expressions.map((part): [Node, string] => [part, 'text'])
    case 'BinaryExpression': {
      const messageId = /^[!=]=|^[<>]/.test(node.operator) ? 'comparison' : 'sum'
      return [node.left as Node, node.right].map((part): [Node, string] => [part, messageId])
    }
    default:
      return []
  }
}

/** Whether it is what a planned step will give, or a part of it. */
function isReference(node: Node, code: Code, seen: ReadonlySet<Variable> = new Set()): boolean {
  const found = bare(node)
  if (found.type === 'MemberExpression') {
    if (nameOf(found) === vocabulary.output && isPlanned(found.object, code)) return true
    return isReference(found.object, code, seen)
  }
  const variable = code.names.variable(found)
  if (!variable || seen.has(variable)) return false
  const [definition] = variable.defs
  if (definition?.type !== 'Variable' || !definition.node.init) return false
  const { id, init } = definition.node
  if (id.type === 'Identifier') return isReference(init, code, new Set([...seen, variable]))
  // `const { output } = plan.step(…)`, and `const { address } = step.output`.
  if (id.type !== 'ObjectPattern') return false
  const part = id.properties.find((part) => part.type === 'Property' && part.value === definition.name)
  if (part?.type !== 'Property') return false
  return (
    (nameOf(part) === vocabulary.output && isPlanned(init, code)) ||
    isReference(init, code, new Set([...seen, variable]))
  )
}

function isPlanned(node: Node, code: Code): boolean {
  const found = code.names.resolve(node)
  const method = found.type === 'CallExpression' ? code.method(found.callee) : null
  return method?.kind === 'plan' && (vocabulary.planned as readonly string[]).includes(method.name)
}
