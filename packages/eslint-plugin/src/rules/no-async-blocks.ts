import type { Rule } from 'eslint'
import { codeOf } from '../code/code.ts'
import type { Node } from '../code/syntax.ts'
import { vocabulary } from '../vocabulary.ts'

export const noAsyncBlocks: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Disallow async functions where planning needs the answer at once.', recommended: true },
    schema: [],
    messages: {
      block:
        'The block of `{{what}}` must answer at once (PLAN_MISUSE): await before it, in the `plan` of the workflow.',
      action: 'The `plan` of an action must answer at once (PLAN_MISUSE): give it what it needs in its input.',
    },
  },
  create(context) {
    return {
      'Program:exit'() {
        const code = codeOf(context.sourceCode)
        const found = (value: Node | undefined, messageId: string, what: string): void => {
          if (!value || code.names.functionOf(value)?.async !== true) return
          context.report({ node: value as Rule.Node, messageId, data: { what } })
        }
        for (const node of code.nodes.plan) {
          const method = node.type === 'CallExpression' ? code.method(node.callee) : null
          if (node.type !== 'CallExpression' || method?.kind !== 'plan') continue
          const isBlock = (vocabulary.blocks as readonly string[]).includes(method.name)
          if (isBlock) found(node.arguments.at(-1), 'block', context.sourceCode.getText(node.callee))
        }
        for (const plan of code.actionPlans) found(plan, 'action', vocabulary.plan)
      },
    }
  },
}
