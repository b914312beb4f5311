// The members of a declaration that users meet.
import type { Module, Tree } from './module.ts'
import type { Declaration } from './surface.ts'
import { saidOf } from './text.ts'

export interface Member {
  name: string
  module: Module
  /** Each overload of a method. */
  nodes: Tree[]
  said: string | null
}

const signatures = new Set(['TSPropertySignature', 'TSMethodSignature', 'PropertyDefinition', 'MethodDefinition'])

/** What a class or an interface has of its own, and an object type: in the order of the source, without constructors. */
export function membersOf({ module, nodes }: Declaration): Member[] {
  const members = new Map<string, Member>()
  for (const node of nodes.flatMap(bodiesOf).flat()) {
    if (!signatures.has(node.type)) continue
    const key = node.key as Tree
    if (key.type === 'PrivateIdentifier' || node.kind === 'constructor' || node.accessibility === 'private') continue
    const name = module.source.slice(key.start, key.end)
    const shown = node.computed === true ? `[${name}]` : name
    const member = members.get(shown) ?? { name: shown, module, nodes: [], said: null }
    member.nodes.push(node)
    member.said ??= saidOf(module, node)
    members.set(shown, member)
  }
  return [...members.values()]
}

function bodiesOf(node: Tree): Tree[][] {
  const declared = (node.type === 'ExportNamedDeclaration' ? node.declaration : node) as Tree
  const body = declared.body as Tree | undefined
  if (body) return [body.body as Tree[]]
  if (declared.type !== 'TSTypeAliasDeclaration') return []
  const type = declared.typeAnnotation as Tree
  const parts = type.type === 'TSIntersectionType' ? (type.types as Tree[]) : [type]
  // What a single member is, the type itself says.
  const literals = parts.filter((part) => part.type === 'TSTypeLiteral').map((part) => part.members as Tree[])
  return literals.filter((members) => members.length > 1)
}

/** What is said of a declaration, by whichever of its overloads. */
export function saidOfAll({ module, nodes }: Declaration): string | null {
  return nodes.map((node) => saidOf(module, node)).find((said) => said !== null) ?? null
}
