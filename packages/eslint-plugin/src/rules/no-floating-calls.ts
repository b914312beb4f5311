import type { Rule } from 'eslint'
import { type Code, codeOf } from '../code/code.ts'
import { isTaskCall, promises } from '../code/promise.ts'
import { bare, functionAround, isFunction, type Node, parentOf } from '../code/syntax.ts'

export const noFloatingCalls: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Require calls of a task to be awaited.', recommended: true },
    hasSuggestions: true,
    schema: [],
    messages: {
      floating:
        '`{{what}}` is not awaited: its failure is lost, and the task ends with UNAWAITED_STEP if it returns before. Await it, or let it go on purpose with `.catch(() => {})`.',
      voided: '`void` does not let a call of a task go: await it, or say `.catch(() => {})`.',
      visited:
        '`{{what}}` drops the promises of its function: use `for … of` with `await`, or `await Promise.all(….map(…))`.',
      unused: '`{{what}}` is never awaited.',
      condition: 'A promise is always true: await `{{what}}`.',
      await: 'Await it.',
      release: 'Let it go on purpose: its failure is nobody’s business.',
    },
  },
  create(context) {
    const name = (node: Node): string => {
      const callee = bare(node.type === 'CallExpression' ? node.callee : node)
      return isFunction(callee) ? 'async function' : context.sourceCode.getText(callee as Rule.Node)
    }
    const report = (node: Node, messageId: string, insert: readonly Suggestion[], what = name(node)): void =>
      context.report({
        node: node as Rule.Node,
        messageId,
        data: { what },
        suggest: insert.map(({ messageId, fix }) => ({ messageId, fix })),
      })
    return {
      'Program:exit'() {
        const code = codeOf(context.sourceCode)
        for (const node of code.nodes.run) {
          if (node.type === 'ExpressionStatement') floating(node.expression, code, report)
          else if (node.type === 'VariableDeclarator') unused(node, code, report)
          else if (node.type !== 'SwitchCase' && 'test' in node && node.test) condition(node.test, code, report)
        }
      },
    }
  },
}

interface Suggestion {
  messageId: string
  fix: (fixer: Rule.RuleFixer) => Rule.Fix | Rule.Fix[]
}

type Report = (node: Node, messageId: string, suggestions: readonly Suggestion[], what?: string) => void

function floating(expression: Node, code: Code, report: Report): void {
  const statement = bare(expression)
  const isVoid = statement.type === 'UnaryExpression' && statement.operator === 'void'
  const thrown = isVoid ? bare(statement.argument) : statement
  for (const call of promises(thrown, code)) {
    const whole = call === thrown
    const suggestions: Suggestion[] = []
    if (whole && functionAround(call)?.async === true)
      suggestions.push({
        messageId: 'await',
        fix: (fixer) =>
          isVoid
            ? fixer.replaceTextRange(rangeUpTo(statement, call), 'await ')
            : fixer.insertTextBefore(call as Rule.Node, 'await '),
      })
    if (whole && isTaskCall(call, code))
      suggestions.push({
        messageId: 'release',
        fix: (fixer) => [
          ...(isVoid ? [fixer.removeRange(rangeUpTo(statement, call))] : []),
          fixer.insertTextAfter(call as Rule.Node, '.catch(() => {})'),
        ],
      })
    if (isVoid) report(call, 'voided', suggestions)
    else if (isVisit(call, code)) report(call, 'visited', [])
    else report(call, 'floating', suggestions)
  }
}

function rangeUpTo(from: Node, to: Node): [number, number] {
  return [from.range?.[0] ?? 0, to.range?.[0] ?? 0]
}

function isVisit(call: Node, code: Code): boolean {
  if (call.type !== 'CallExpression' || isTaskCall(call, code)) return false
  const callee = bare(call.callee)
  const isPromise =
    callee.type === 'MemberExpression' && callee.object.type === 'Identifier' && callee.object.name === 'Promise'
  return callee.type === 'MemberExpression' && !isPromise
}

function unused(node: Node, code: Code, report: Report): void {
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier' || !node.init) return
  if (parentOf(node)?.type !== 'VariableDeclaration' || promises(node.init, code).length === 0) return
  const [variable] = code.names.declared(node)
  if (variable?.references.some((reference) => reference.isRead())) return
  report(node.id, 'unused', [], node.id.name)
}

function condition(test: Node, code: Code, report: Report): void {
  const found = bare(test)
  if (!isTaskCall(found, code)) return
  const suggestions: Suggestion[] =
    functionAround(found)?.async === true
      ? [{ messageId: 'await', fix: (fixer) => fixer.insertTextBefore(found as Rule.Node, 'await ') }]
      : []
  report(found, 'condition', suggestions)
}
