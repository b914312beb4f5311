// Where contexts are: in variables, in objects, in parameters by their types.
import type * as ESTree from 'estree'
import { vocabulary } from '../vocabulary.ts'
import type { Names } from './names.ts'
import { bare, type Node, nameOf, parentOf, type Variable } from './syntax.ts'

/** `run`: runs anew from the history; `plan`: runs once, and makes a plan. */
export type Kind = 'run' | 'plan'

/** A method of a context, as it is called. */
export interface Method {
  kind: Kind
  name: string
}

/** A context, or an object that has some, by the names of its properties. */
export type Holding = Kind | Map<string, Holding>

/** Something that TypeScript gives a type: a parameter, or a member of an object type. */
export interface Typed {
  key?: { name?: string }
  typeAnnotation?: { typeAnnotation?: { typeName?: Typename; members?: Typed[] } }
}

interface Typename {
  type: string
  name?: string
  left?: { name?: string }
  right?: { name?: string }
}

/** Which variables of a file hold what. */
export class Holdings {
  readonly #names: Names
  /** Variables that hold a context, or an object that has one. */
  readonly #held = new Map<Variable, Holding>()
  /** Variables that hold a method of one. */
  readonly #methods = new Map<Variable, Method>()

  constructor(names: Names) {
    this.#names = names
  }

  /** How many variables it knows. */
  get size(): number {
    return this.#held.size + this.#methods.size
  }

  has(variable: Variable): boolean {
    return this.#held.has(variable) || this.#methods.has(variable)
  }

  /** Whether a variable is a task, and no object that has one. */
  isTask(variable: Variable): boolean {
    return this.#held.get(variable) === 'run'
  }

  /** The method of a context that is called; null: something else is. */
  method(callee: Node): Method | null {
    const found = bare(callee)
    if (found.type === 'Identifier') return this.#methods.get(this.#names.variable(found) as Variable) ?? null
    if (found.type !== 'MemberExpression') return null
    const kind = this.of(found.object)
    const name = nameOf(found)
    return kind && !(kind instanceof Map) && name !== null ? { kind, name } : null
  }

  /** What an expression holds; undefined: no context. */
  of(node: Node): Holding | undefined {
    const found = bare(node)
    if (found.type === 'ObjectExpression') {
      const parts = found.properties.flatMap((part): [string, Holding][] => {
        const name = part.type === 'Property' ? nameOf(part) : null
        const holding = part.type === 'Property' ? this.of(part.value) : undefined
        return name !== null && holding ? [[name, holding]] : []
      })
      return parts.length > 0 ? new Map(parts) : undefined
    }
    if (found.type === 'MemberExpression') {
      const object = this.of(found.object)
      return object instanceof Map ? object.get(nameOf(found) ?? '') : undefined
    }
    const variable = this.#names.variable(found)
    return variable ? this.#held.get(variable) : undefined
  }

  /** What a parameter, or a part of one, holds by its type. */
  typed({ typeAnnotation }: Typed): Holding | undefined {
    const type = typeAnnotation?.typeAnnotation
    if (type?.members) {
      const parts = type.members.flatMap((member): [string, Holding][] => {
        const holding = this.typed(member)
        return member.key?.name !== undefined && holding ? [[member.key.name, holding]] : []
      })
      return parts.length > 0 ? new Map(parts) : undefined
    }
    const name = type?.typeName
    const local = name?.type === 'TSQualifiedName' ? name.left?.name : name?.name
    const imported = local === undefined ? null : this.#names.importedType(local)
    if (!imported) return undefined
    const is = imported.name === '' ? (name?.right?.name ?? '') : imported.name
    if ((vocabulary.taskTypes as readonly string[]).includes(is)) return 'run'
    return (vocabulary.planTypes as readonly string[]).includes(is) ? 'plan' : undefined
  }

  /** What a pattern is given is a context, or has one. */
  bind(pattern: Node | undefined, holding: Holding): void {
    if (pattern?.type === 'AssignmentPattern') return this.bind(pattern.left, holding)
    if (pattern?.type === 'Identifier') {
      const variable = this.#declaredBy(pattern)
      if (variable) this.#held.set(variable, holding)
    }
    if (pattern?.type !== 'ObjectPattern') return
    for (const part of pattern.properties) {
      const name = part.type === 'Property' ? nameOf(part) : null
      if (part.type !== 'Property' || name === null) continue
      if (holding instanceof Map) {
        const inner = holding.get(name)
        if (inner) this.bind(part.value, inner)
        continue
      }
      const variable = this.#declaredBy(part.value.type === 'AssignmentPattern' ? part.value.left : part.value)
      if (variable) this.#methods.set(variable, { kind: holding, name })
    }
  }

  #declaredBy(identifier: Node): Variable | undefined {
    for (let node: Node | null = identifier; node; node = parentOf(node)) {
      const found = this.#names
        .declared(node)
        .find(({ identifiers }) => identifiers.includes(identifier as ESTree.Identifier))
      if (found) return found
    }
    return undefined
  }
}

/** The kind of the first context that there is. */
export function kindIn(holding: Holding): Kind {
  if (!(holding instanceof Map)) return holding
  const [first = 'run'] = holding.values()
  return kindIn(first)
}
