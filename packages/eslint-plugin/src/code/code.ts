// Which parts of a file are the code of workflows and plans.
import type { SourceCode } from 'eslint'
import type * as ESTree from 'estree'
import { vocabulary } from '../vocabulary.ts'
import { type Holding, Holdings, type Kind, kindIn, type Method, type Typed } from './holding.ts'
import { Names } from './names.ts'
import {
  bare,
  dressed,
  type FunctionNode,
  functionAround,
  isFunction,
  type Node,
  nameOf,
  parentOf,
  partsOf,
  propertyOf,
  type Variable,
  within,
} from './syntax.ts'

/**
 * The code of a file's workflows: their `run` and `plan`, functions with a context among their parameters, and every function
 * of the file that these call. Functions that are given to a task's methods are steps, and no part of it.
 */
export class Code {
  readonly source: SourceCode
  readonly names: Names
  /** All nodes of it, in the order of the code. */
  readonly nodes: Readonly<Record<Kind, readonly Node[]>>
  /** The functions that plan for actions. */
  readonly actionPlans: FunctionNode[] = []
  readonly #functions = new Map<FunctionNode, Kind>()
  readonly #holdings: Holdings
  readonly #found: Record<Kind, Node[]> = { run: [], plan: [] }

  constructor(source: SourceCode) {
    this.source = source
    this.names = new Names(source)
    this.#holdings = new Holdings(this.names)
    this.nodes = this.#found
    const roots = [...this.#roots()].sort((a, b) => Number(a.kind === 'plan') - Number(b.kind === 'plan'))
    for (let known = -1; roots.length > 0 && known < this.#holdings.size; ) {
      // A function may hear of its context from a call that comes after it was looked at: until nothing new is found.
      known = this.#holdings.size
      this.#functions.clear()
      this.#found.run.length = 0
      this.#found.plan.length = 0
      for (const { code, kind, position, holding } of roots) {
        this.#holdings.bind(code.params[position], holding)
        this.#enter(code, kind)
      }
    }
  }

  /** The method of a context that is called; null: something else is. */
  method(callee: Node): Method | null {
    return this.#holdings.method(callee)
  }

  /** What the task is called at a place; null: nobody can say. */
  taskAt(node: Node): string | null {
    for (
      let scope = this.source.getScope(node) as ReturnType<SourceCode['getScope']> | null;
      scope;
      scope = scope.upper
    ) {
      const found = scope.variables.find((variable) => this.#holdings.isTask(variable))
      if (found) return this.#isHidden(found, node) ? null : found.name
    }
    return null
  }

  #isHidden(variable: Variable, node: Node): boolean {
    for (
      let scope = this.source.getScope(node) as ReturnType<SourceCode['getScope']> | null;
      scope;
      scope = scope.upper
    ) {
      const found = scope.set.get(variable.name)
      if (found) return found !== variable
    }
    return true
  }

  /** Whether what an expression gives may hold or use the task: it names it, or what was made with it and not awaited. */
  usesTask(node: Node, seen: Set<Variable> = new Set()): boolean {
    for (const part of within(node, this.source, ({ type }) => type === 'AwaitExpression')) {
      const variable = part.type === 'AwaitExpression' ? null : this.names.variable(part)
      if (!variable) continue
      if (this.#holdings.has(variable)) return true
      const value = seen.has(variable) ? null : this.names.valueOf(variable)
      if (value && this.isInside(variable) && this.usesTask(value, seen.add(variable))) return true
    }
    return false
  }

  /** Whether the variable lives in the code of a workflow: each run of it has its own. */
  isInside(variable: Variable): boolean {
    const node = variable.defs[0]?.node as Node | undefined
    let around = isFunction(node) && variable.defs[0]?.type === 'Parameter' ? node : node ? functionAround(node) : null
    for (; around; around = functionAround(around)) if (this.#functions.has(around)) return true
    return false
  }

  *#roots(): Generator<Root> {
    for (const node of within(this.source.ast, this.source)) {
      if (isFunction(node)) {
        for (const [position, param] of node.params.entries()) {
          const holding = this.#holdings.typed((param.type === 'AssignmentPattern' ? param.left : param) as Typed)
          if (holding) yield { code: node, kind: kindIn(holding), position, holding }
        }
      }
      if (node.type !== 'CallExpression' || !node.arguments[1]) continue
      const definition = this.names.resolve(node.arguments[1])
      if (definition.type !== 'ObjectExpression') continue
      const { run, plan } = vocabulary
      const isWorkflow = this.#definesWorkflow(node.callee)
      for (const [name, kind] of [
        [run, 'run'],
        [plan, 'plan'],
      ] as const) {
        if (!isWorkflow && (kind === 'run' || !definesAction(node.callee))) continue
        const value = propertyOf(definition, name)
        const code = value && this.names.functionOf(value)
        if (code && !isWorkflow) this.actionPlans.push(code)
        if (code) yield { code, kind, position: 1, holding: kind }
      }
    }
  }

  #definesWorkflow(callee: Node): boolean {
    const found = bare(callee)
    const path = this.names.path(found.type === 'MemberExpression' ? bare(found.object) : found)
    if (!path || path.module === null || path.names.join('.') !== vocabulary.workflow) return false
    // A method of that name is the module's own only where the module itself was imported.
    return found.type !== 'MemberExpression' || path.module === vocabulary.module
  }

  #enter(code: FunctionNode, kind: Kind): void {
    if (this.#functions.has(code)) return
    this.#functions.set(code, kind)
    for (const part of [...code.params, code.body]) this.#visit(part, kind, false)
  }

  /** `given`: to a method of a task. A function there is a step. */
  #visit(node: Node, kind: Kind, given: boolean): void {
    if (isFunction(node)) {
      if (!given && !isReturned(node) && !this.#hasName(node)) {
        this.#found[kind].push(node)
        this.#enter(node, kind)
      }
      return
    }
    this.#found[kind].push(node)
    if (node.type === 'VariableDeclarator' && node.init) {
      const holding = this.#holdings.of(node.init)
      if (holding) this.#holdings.bind(node.id, holding)
    }
    if (node.type === 'CallExpression') return this.#call(node, kind)
    if (!given && this.names.variable(node) && !isTarget(node)) {
      const code = this.names.functionOf(node)
      if (code) this.#enter(code, kind)
    }
    for (const part of partsOf(node, this.source)) this.#visit(part, kind, given && node.type !== 'NewExpression')
  }

  /** A function with a name is part of what calls it, wherever it stands. */
  #hasName(code: FunctionNode): boolean {
    if (code.type === 'FunctionDeclaration') return true
    const parent = parentOf(dressed(code))
    const [variable] = parent?.type === 'VariableDeclarator' ? this.names.declared(parent) : []
    return variable !== undefined && this.names.valueOf(variable) === code
  }

  #call(node: ESTree.SimpleCallExpression, kind: Kind): void {
    const method = this.method(node.callee)
    const code = method ? null : this.names.functionOf(node.callee)
    for (const [position, argument] of code ? node.arguments.entries() : []) {
      const holding = this.#holdings.of(argument)
      if (holding) this.#holdings.bind(code?.params[position], holding)
    }
    const given = method ? method.kind === 'run' : code === null && this.#looksLikeStep(node)
    this.#visit(node.callee, kind, false)
    for (const argument of node.arguments) this.#visit(argument, kind, given)
  }

  /** A task that nobody can see to be one, such as `this.task`. */
  #looksLikeStep({ callee, arguments: [name, ...rest] }: ESTree.SimpleCallExpression): boolean {
    const found = bare(callee)
    const isNamed = name?.type === 'Literal' || name?.type === 'TemplateLiteral'
    if (found.type !== 'MemberExpression' || !isNamed || rest.length === 0) return false
    return (vocabulary.named as readonly (string | null)[]).includes(nameOf(found))
  }
}

/** A function that is the code of a workflow, and what its parameter holds. */
interface Root {
  code: FunctionNode
  kind: Kind
  position: number
  holding: Holding
}

function definesAction(callee: Node): boolean {
  const found = bare(callee)
  return found.type === 'MemberExpression' && nameOf(found) === vocabulary.action
}

/** Whether it is given a value there, and not read. */
function isTarget(node: Node): boolean {
  const parent = parentOf(node)
  return (
    (parent?.type === 'VariableDeclarator' && parent.id === node) ||
    (parent?.type === 'AssignmentExpression' && parent.left === node)
  )
}

/** A function that another gives: a step, as like as not, and in any case nobody can see who calls it. */
function isReturned(code: FunctionNode): boolean {
  const node = dressed(code)
  const parent = parentOf(node)
  return parent?.type === 'ReturnStatement' || (isFunction(parent) && parent.body === node)
}

const known = new WeakMap<object, Code>()

/** The code of the file that is linted: looked for once, by whichever rule asks first. */
export function codeOf(source: SourceCode): Code {
  const found = known.get(source.ast) ?? new Code(source)
  known.set(source.ast, found)
  return found
}
