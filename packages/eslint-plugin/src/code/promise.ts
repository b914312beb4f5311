// What an expression in workflow code promises, as far as can be seen.
import { vocabulary } from '../vocabulary.ts'
import type { Code } from './code.ts'
import { bare, type FunctionNode, isFunction, type Node, nameOf, within } from './syntax.ts'

const combinators = new Set(['all', 'allSettled', 'any', 'race'])
const visiting = new Set(['forEach', 'map', 'flatMap', 'filter', 'some', 'every', 'find', 'reduce'])

/** Whether it calls a method of a task that gives a promise. */
export function isTaskCall(node: Node, code: Code): boolean {
  if (node.type !== 'CallExpression') return false
  const method = code.method(node.callee)
  return method?.kind === 'run' && (vocabulary.promised as readonly string[]).includes(method.name)
}

/** What `Promise.all` and its like are given; null: it is none of them. */
export function combined(node: Node, code: Code): Node[] | null {
  if (node.type !== 'CallExpression') return null
  const callee = bare(node.callee)
  if (callee.type !== 'MemberExpression') return null
  const object = bare(callee.object)
  const isPromise = object.type === 'Identifier' && object.name === 'Promise' && code.names.variable(object) === null
  if (!isPromise || !combinators.has(nameOf(callee) ?? '')) return null
  const [given] = node.arguments
  const list = given ? code.names.resolve(given) : null
  if (list?.type !== 'ArrayExpression') return list ? [list] : []
  return list.elements.flatMap((element) => element ?? [])
}

/** What a promise is chained to by `then`, `catch` or `finally`, and whether its failure is handled there; null: nothing is. */
export function chained(node: Node): { promise: Node; handled: boolean } | null {
  if (node.type !== 'CallExpression') return null
  const callee = bare(node.callee)
  if (callee.type !== 'MemberExpression') return null
  const name = nameOf(callee)
  if (name !== 'then' && name !== 'catch' && name !== 'finally') return null
  const handled = name === 'catch' ? node.arguments.length > 0 : name === 'then' && node.arguments.length > 1
  return { promise: bare(callee.object), handled }
}

/** What a function gives, where it is one expression. */
export function answerOf(code: FunctionNode): Node | null {
  return code.body.type === 'BlockStatement' ? null : bare(code.body)
}

/** The calls of tasks in it whose promises it gives, and that nobody has taken care of: none where it is no such promise. */
export function promises(node: Node, code: Code, seen: ReadonlySet<Node> = new Set()): Node[] {
  const found = bare(node)
  const ofAll = (parts: readonly (Node | null)[]) => parts.flatMap((part) => (part ? promises(part, code, seen) : []))
  switch (found.type) {
    case 'ConditionalExpression':
      return ofAll([found.consequent, found.alternate])
    case 'LogicalExpression':
      return ofAll([found.left, found.right])
    case 'SequenceExpression':
      return ofAll(found.expressions)
    case 'ArrayExpression':
      return ofAll(found.elements)
    case 'CallExpression':
      break
    default:
      return []
  }
  if (isTaskCall(found, code)) return [found]
  const chain = chained(found)
  if (chain) return chain.handled ? [] : promises(chain.promise, code, seen)
  const parts = combined(found, code)
  if (parts) return ofAll(parts).length > 0 ? [found] : []
  const callee = bare(found.callee)
  const visits = callee.type === 'MemberExpression' && visiting.has(nameOf(callee) ?? '')
  const called = code.names.functionOf(visits ? (found.arguments[0] ?? callee) : callee)
  return called && !seen.has(called) && callsTask(called, code, new Set([...seen, called])) ? [found] : []
}

/** Whether what the function gives is a promise of its task's calls. */
function callsTask(called: FunctionNode, code: Code, seen: ReadonlySet<Node>): boolean {
  const answer = answerOf(called)
  if (!called.async) return answer !== null && promises(answer, code, seen).length > 0
  const own = within(called.body, code.source, (part) => part !== called.body && isFunction(part))
  return own.some((part) => isTaskCall(part, code))
}
