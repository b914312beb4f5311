import type { Rule } from 'eslint'
import { type Code, codeOf } from '../code/code.ts'
import { answerOf, chained, combined } from '../code/promise.ts'
import { bare, isFunction, type Node, nameOf, parentOf } from '../code/syntax.ts'
import { vocabulary } from '../vocabulary.ts'
import { banOf } from './ban.ts'
import { effects } from './no-io.ts'
import { timers } from './no-timers.ts'

export const noForeignAwait: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Disallow awaiting what is no call of the task in workflow code.', recommended: true },
    hasSuggestions: true,
    schema: [],
    messages: {
      foreign:
        '`{{what}}` is no call of the task: what it does is in no history, and the task is paused if it is waited for (WORKFLOW_MISUSE). Put it into a step, `task.{{run}}(…)`.',
      step: 'Put it into a step.',
    },
  },
  create(context) {
    const { sourceCode } = context
    return {
      'Program:exit'() {
        const code = codeOf(sourceCode)
        const reported = new Set<Node>()
        for (const node of code.nodes.run) {
          for (const found of awaited(node).flatMap((promise) => foreign(promise, code))) {
            if (reported.has(found)) continue
            reported.add(found)
            const text = sourceCode.getText(calleeOf(found) as Rule.Node).replace(/\s+/g, ' ')
            const what = text.length > 40 ? `${text.slice(0, 40)}…` : text
            context.report({
              node: found as Rule.Node,
              messageId: 'foreign',
              data: { what, run: vocabulary.run },
              suggest: inStep(found, code).map((fix) => ({ messageId: 'step', fix })),
            })
          }
        }
      },
    }
  },
}

/** What is awaited here. */
function awaited(node: Node): Node[] {
  if (node.type === 'AwaitExpression') return [node.argument]
  return node.type === 'ForOfStatement' && node.await ? [node.right] : []
}

/** The parts of an awaited expression that have certainly nothing to do with the task. */
function foreign(node: Node, code: Code): Node[] {
  const found = code.names.resolve(node)
  const inside = found === bare(node) || isLocal(node, code)
  switch (found.type) {
    case 'ConditionalExpression':
      return [...foreign(found.consequent, code), ...foreign(found.alternate, code)]
    case 'LogicalExpression':
      return [...foreign(found.left, code), ...foreign(found.right, code)]
    case 'ImportExpression':
      return [found]
    case 'Identifier':
    case 'MemberExpression':
      return isForeign(found, code) ? [found] : []
    case 'NewExpression':
      return inside && isPromise(found.callee, code) && !code.usesTask(found) && !isTold(found, code) ? [found] : []
    case 'CallExpression':
      return inside ? foreignCall(found, code) : [bare(node)]
    default:
      return []
  }
}

function isLocal(node: Node, code: Code): boolean {
  const variable = code.names.variable(bare(node))
  return variable !== null && variable !== undefined && code.isInside(variable)
}

function foreignCall(call: Node & { type: 'CallExpression' }, code: Code): Node[] {
  if (code.method(call.callee)) return []
  const chain = chained(call)
  if (chain) return foreign(chain.promise, code)
  const parts = combined(call, code)
  if (parts) return parts.flatMap((part) => ofEach(part, code))
  if (code.names.functionOf(call.callee)) return []
  const callee = bare(call.callee)
  if (callee.type === 'MemberExpression' && isPromise(callee.object, code)) return []
  return isForeign(callee, code) && !code.usesTask(call) ? [call] : []
}

/** Of `Promise.all` and its like: each promise, be it written out or made by `map`. */
function ofEach(part: Node, code: Code): Node[] {
  const found = bare(part)
  if (found.type !== 'CallExpression' || code.method(found.callee)) return foreign(part, code)
  const callee = bare(found.callee)
  const [visitor] = found.arguments
  if (callee.type !== 'MemberExpression' || nameOf(callee) !== 'map' || !visitor) return foreign(part, code)
  const made = code.names.functionOf(visitor)
  const answer = made && answerOf(made)
  return answer ? foreign(answer, code) : []
}

/** Whether it begins with an import, a global, or a variable from outside, and no other rule tells of it. */
function isForeign(node: Node, code: Code): boolean {
  let root = bare(node)
  while (root.type === 'MemberExpression' || root.type === 'CallExpression') {
    root = bare(root.type === 'MemberExpression' ? root.object : root.callee)
  }
  if (isTold(root, code)) return false
  const variable = code.names.variable(root)
  if (variable === undefined || isFunction(code.names.resolve(root))) return false
  return variable === null ? root.type === 'Identifier' && root.name !== 'undefined' : !code.isInside(variable)
}

/** Whether no-timers or no-io tells of it. */
function isTold(node: Node, code: Code): boolean {
  const all = [...timers, ...effects]
  const tells = (identifier: Node): boolean => {
    const path = code.names.path(identifier)
    return path !== null && banOf(path, all) !== null
  }
  if (node.type !== 'NewExpression') return tells(node)
  return code.nodes.run.some((part) => part.type === 'Identifier' && isWithin(part, node) && tells(part))
}

function isWithin(node: Node, around: Node): boolean {
  let found: Node | null = node
  while (found && found !== around) found = parentOf(found)
  return found === around
}

function isPromise(node: Node, code: Code): boolean {
  const found = bare(node)
  return found.type === 'Identifier' && found.name === 'Promise' && code.names.variable(found) === null
}

function calleeOf(node: Node): Node {
  return node.type === 'CallExpression' ? node.callee : node
}

/** The call in a step that is named after what it calls. */
function inStep(node: Node, code: Code): ((fixer: Rule.RuleFixer) => Rule.Fix[])[] {
  const task = code.taskAt(node)
  if (task === null || node.type !== 'CallExpression') return []
  const callee = bare(node.callee)
  const name = callee.type === 'MemberExpression' ? nameOf(callee) : callee.type === 'Identifier' ? callee.name : null
  // An inner `await` would be in a function of its own.
  if (name === null || code.nodes.run.some((part) => part.type === 'AwaitExpression' && isWithin(part, node))) return []
  return [
    (fixer) => [
      fixer.insertTextBefore(node as Rule.Node, `${task}.${vocabulary.run}('${name}', () => `),
      fixer.insertTextAfter(node as Rule.Node, ')'),
    ],
  ]
}
