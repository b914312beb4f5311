// The syntax tree, whichever parser made it: ESTree, and of TypeScript's nodes those that stand around an expression.
import type { Scope, SourceCode } from 'eslint'
import type * as ESTree from 'estree'

export type Node = ESTree.Node
export type FunctionNode = ESTree.FunctionDeclaration | ESTree.FunctionExpression | ESTree.ArrowFunctionExpression
export type Variable = Scope.Variable

/** What says nothing but the type, or the place, of the expression in it. */
const wrappers = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'ChainExpression',
  'ParenthesizedExpression',
])

/** The expression itself. */
export function bare(node: Node): Node {
  let found = node
  while (wrappers.has(found.type)) found = (found as unknown as { expression: Node }).expression
  return found
}

export function parentOf(node: Node): Node | null {
  return (node as { parent?: Node | null }).parent ?? null
}

/** The node that stands where the expression does, with all that is around it. */
export function dressed(node: Node): Node {
  let found = node
  for (let parent = parentOf(found); parent && wrappers.has(parent.type); parent = parentOf(found)) found = parent
  return found
}

export function isFunction(node: Node | null | undefined): node is FunctionNode {
  return (
    node?.type === 'FunctionDeclaration' ||
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression'
  )
}

/** The innermost function around a node; null: none, or the node's own when it is one. */
export function functionAround(node: Node): FunctionNode | null {
  let found = parentOf(node)
  while (found && !isFunction(found)) found = parentOf(found)
  return found
}

/** The parts of a node that are code: types are not. */
export function partsOf(node: Node, { visitorKeys }: SourceCode): Node[] {
  if (wrappers.has(node.type)) return [(node as unknown as { expression: Node }).expression]
  if (node.type.startsWith('TS') && node.type !== ('TSParameterProperty' as Node['type'])) return []
  const fields = node as unknown as Record<string, Node | (Node | null)[] | null | undefined>
  return (visitorKeys[node.type] ?? []).flatMap((key) => fields[key] ?? []).filter((part) => part !== null)
}

/** The node and all that is in it, in the order of the code. `skip`: is not looked into. */
export function* within(node: Node, source: SourceCode, skip?: (node: Node) => boolean): Generator<Node> {
  const left = [node]
  for (let next = left.pop(); next; next = left.pop()) {
    yield next
    if (!skip?.(next)) left.push(...partsOf(next, source).reverse())
  }
}

/** What a property or a member is called; null: that is computed. */
export function nameOf(node: ESTree.MemberExpression | ESTree.Property | ESTree.AssignmentProperty): string | null {
  const key: Node = node.type === 'MemberExpression' ? node.property : node.key
  if (key.type === 'Literal') return typeof key.value === 'string' ? key.value : null
  return key.type === 'Identifier' && !node.computed ? key.name : null
}

/** The value of a property of an object that is written out. */
export function propertyOf(object: ESTree.ObjectExpression, name: string): Node | null {
  const found = object.properties.find((part) => part.type === 'Property' && nameOf(part) === name)
  return found?.type === 'Property' ? found.value : null
}
