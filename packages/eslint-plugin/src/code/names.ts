// What the names of a file stand for.
import type { SourceCode } from 'eslint'
import { bare, dressed, type FunctionNode, isFunction, type Node, nameOf, parentOf, type Variable } from './syntax.ts'

/** An import: `name` is what the module calls it, '' the module itself or its default. */
export interface Imported {
  module: string
  name: string
}

/** Where an expression such as `fs.promises.readFile` begins, and the names that follow. */
export interface Path {
  /** Without `node:`; null: it begins with a global. */
  module: string | null
  names: readonly string[]
  /** The expression up to each of the names; of a module, the first is that of the name it was imported by. */
  nodes: readonly Node[]
}

const globalObjects = new Set(['globalThis', 'window', 'self', 'global'])

/** Modules that give what is a global as well. */
const mirrors: Record<string, string> = { process: 'process', perf_hooks: '', timers: '' }

export class Names {
  readonly #source: SourceCode
  readonly #variables = new Map<Node, Variable | null>()
  readonly #types = new Map<string, Imported>()

  constructor(source: SourceCode) {
    this.#source = source
    for (const scope of source.scopeManager.scopes)
      for (const reference of scope.references) {
        // A type says nothing about what runs.
        const { isTypeReference, isValueReference } = reference as {
          isTypeReference?: boolean
          isValueReference?: boolean
        }
        if (isTypeReference && !isValueReference) continue
        this.#variables.set(reference.identifier as Node, reference.resolved)
      }
    for (const statement of source.ast.body) {
      if (statement.type !== 'ImportDeclaration') continue
      for (const { type, local, ...rest } of statement.specifiers) {
        const { imported } = rest as { imported?: { name?: string; value?: unknown } }
        const name = type === 'ImportSpecifier' ? (imported?.name ?? String(imported?.value)) : ''
        this.#types.set(local.name, { module: String(statement.source.value), name: name === 'default' ? '' : name })
      }
    }
  }

  /** The variable that an identifier reads or writes; null: a global; undefined: it is no reference. */
  variable(node: Node): Variable | null | undefined {
    const found = this.#variables.get(node)
    return found?.defs.length === 0 ? null : found
  }

  /** The variables that a declaration, or a function's parameters, bring. */
  declared(node: Node): readonly Variable[] {
    return this.#source.getDeclaredVariables(node)
  }

  imported(variable: Variable): Imported | null {
    return variable.defs[0]?.type === 'ImportBinding' ? (this.#types.get(variable.name) ?? null) : null
  }

  /** What a type's name was imported as. */
  importedType(local: string): Imported | null {
    return this.#types.get(local) ?? null
  }

  /** What a variable was given when it was declared; null: nobody knows. */
  valueOf(variable: Variable): Node | null {
    const [definition] = variable.defs
    if (variable.defs.length !== 1 || !definition) return null
    if (definition.type === 'FunctionName') return definition.node
    if (definition.type !== 'Variable' || definition.node.id.type !== 'Identifier') return null
    const written = variable.references.some((reference) => reference.isWrite() && !reference.init)
    return written || !definition.node.init ? null : bare(definition.node.init)
  }

  /** The function of this file that an expression is, or names. */
  functionOf(node: Node): FunctionNode | null {
    const found = this.resolve(node)
    return isFunction(found) ? found : null
  }

  /** The expression that another stands for, if this file says so; else itself. */
  resolve(node: Node): Node {
    const found = bare(node)
    const variable = this.variable(found)
    return (variable && this.valueOf(variable)) || found
  }

  /** The path that begins with this identifier; null: it is no reference, or begins with a variable of this file. */
  path(identifier: Node): Path | null {
    const variable = this.variable(identifier)
    if (identifier.type !== 'Identifier' || variable === undefined) return null
    const names: string[] = []
    const nodes: Node[] = []
    let module: string | null = null
    if (variable === null) {
      names.push(identifier.name)
      nodes.push(identifier)
    } else {
      const imported = this.imported(variable)
      if (!imported) return null
      module = imported.module.replace(/^node:/, '')
      if (imported.name !== '') {
        names.push(imported.name)
        nodes.push(identifier)
      }
    }
    let top = dressed(identifier)
    for (;;) {
      const parent = parentOf(top)
      if (parent?.type !== 'MemberExpression' || parent.object !== top) break
      const name = nameOf(parent)
      if (name === null) break
      names.push(name)
      nodes.push(parent)
      top = dressed(parent)
    }
    if (module === null && names.length > 1 && globalObjects.has(names[0] ?? ''))
      return { module, names: names.slice(1), nodes: nodes.slice(1) }
    const mirror = module === null ? undefined : mirrors[module]
    if (mirror === undefined) return { module, names, nodes: nodes.length > 0 ? nodes : [identifier] }
    if (mirror === '') return { module: null, names, nodes }
    return { module: null, names: [mirror, ...names], nodes: [identifier, ...nodes] }
  }
}
