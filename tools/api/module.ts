// One module of declarations, as the compiler wrote it: what it declares, imports and exports.
import { posix } from 'node:path'
import { parseSync } from 'rolldown/utils'

/** A node of the syntax tree, as far as this program looks at it. */
export interface Tree {
  type: string
  start: number
  end: number
  [child: string]: unknown
}

/** A name of another module: its path among the declarations, or what a package is imported as. */
export interface Elsewhere {
  from: string
  /** Null: all of it, as a namespace. */
  name: string | null
}

export interface Module {
  path: string
  source: string
  comments: readonly { start: number; end: number; value: string }[]
  /** What is declared by a name: one node, or each overload of a function. With what stands around it, such as `export`. */
  declared: Map<string, Tree[]>
  imports: Map<string, Elsewhere>
  exports: Map<string, { name: string; from?: string; typeOnly: boolean }>
  /** Modules of which everything is exported. */
  stars: { from: string; typeOnly: boolean }[]
}

export function parse(path: string, source: string): Module {
  const { program, comments, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  const module: Module = { path, source, comments, declared: new Map(), imports: new Map(), exports: new Map(), stars: [] } // biome-ignore format: one line
  for (const statement of (program as unknown as { body: Tree[] }).body) take(module, statement)
  return module
}

function take(module: Module, statement: Tree): void {
  const typeOnly = statement.exportKind === 'type'
  switch (statement.type) {
    case 'ImportDeclaration': {
      const from = located(module.path, statement.source as Tree)
      for (const one of statement.specifiers as Tree[]) {
        const name = one.type === 'ImportSpecifier' ? nameOf(one.imported as Tree) : null
        module.imports.set(nameOf(one.local as Tree), { from, name: one.type === 'ImportDefaultSpecifier' ? 'default' : name }) // biome-ignore format: one line
      }
      return
    }
    case 'ExportAllDeclaration': {
      if (statement.exported) throw new Error(`${module.path}: a namespace is exported, which is not reported yet`)
      module.stars.push({ from: located(module.path, statement.source as Tree), typeOnly })
      return
    }
    case 'ExportNamedDeclaration': {
      if (statement.declaration) {
        for (const name of declare(module, statement.declaration as Tree, statement))
          module.exports.set(name, { name, typeOnly: false })
        return
      }
      const from = statement.source ? { from: located(module.path, statement.source as Tree) } : {}
      for (const one of statement.specifiers as Tree[])
        module.exports.set(nameOf(one.exported as Tree), {
          name: nameOf(one.local as Tree),
          typeOnly: typeOnly || one.exportKind === 'type',
          ...from,
        })
      return
    }
    case 'ExportDefaultDeclaration': {
      module.exports.set('default', { name: nameOf(statement.declaration as Tree), typeOnly: false })
      return
    }
    default:
      declare(module, statement, statement)
  }
}

function declare(module: Module, declaration: Tree, whole: Tree): string[] {
  const ids =
    declaration.type === 'VariableDeclaration'
      ? (declaration.declarations as Tree[]).map((one) => one.id as Tree)
      : [declaration.id as Tree]
  const names = ids.map(nameOf)
  for (const name of names) module.declared.set(name, [...(module.declared.get(name) ?? []), whole])
  return names
}

function nameOf(node: Tree): string {
  if (typeof node?.name === 'string') return node.name
  if (typeof node?.value === 'string') return node.value
  throw new Error(`a ${node?.type} where a name was expected`)
}

/** The path of the declarations that an import leads to; a package by its name. */
function located(path: string, source: Tree): string {
  const to = source.value as string
  return to.startsWith('.') ? posix.join(posix.dirname(path), to).replace(/\.[jt]s$/, '.d.ts') : to
}

/** Every node below this one, in the order of the source. */
export function* within(node: Tree): Generator<Tree> {
  yield node
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (child !== null && typeof child === 'object' && typeof (child as Tree).type === 'string') yield* within(child as Tree) // biome-ignore format: one line
}

/** Names that a declaration takes from around it, in types and as values; what it declares for itself is not among them. */
export function namedBy(node: Tree): Set<string> {
  const names = new Set<string>()
  const own = new Set<string>()
  for (const one of within(node)) {
    if (one.type === 'TSTypeParameter') own.add(nameOf(one.name as Tree))
    const named =
      one.type === 'TSTypeReference'
        ? one.typeName
        : one.type === 'TSTypeQuery'
          ? one.exprName
          : one.type === 'TSInterfaceHeritage' || one.type === 'TSClassImplements'
            ? one.expression
            : one.type === 'ClassDeclaration'
              ? one.superClass
              : null
    if (one.type === 'TSImportType') throw new Error('an import stands inside of a type, which is not reported yet')
    let left = named as Tree | null
    while (left && left.type !== 'Identifier') left = (left.left ?? left.object ?? null) as Tree | null
    if (left) names.add(nameOf(left))
  }
  return names.difference(own)
}
