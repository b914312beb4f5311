// Rules that are tables: what must not be named in the code of a workflow, and what to say in its place.
import type { Rule } from 'eslint'
import type { SimpleCallExpression } from 'estree'
import { type Code, codeOf } from '../code/code.ts'
import type { Path } from '../code/names.ts'
import { dressed, type Node, parentOf } from '../code/syntax.ts'

/** Something that must not be named. */
export interface Ban {
  /** Where it comes from, without `node:`; a global when not given. */
  module?: string
  /** Its name, with dots; all that the module has when not given. */
  name?: string
  /** Only when it is called, or made by `new`, without arguments. */
  bare?: true
  /** What to say instead. */
  instead: string
  /** The code in its place, for the task of that name. `call`: the call of it; null: no call. */
  replace?: (task: string, call: SimpleCallExpression | null, text: (node: Node) => string) => string | null
  /** What is replaced: the call of it when not given. */
  replaced?: (call: Node) => Node
  /** The replacement means the same wherever it stands, and leaves histories of running tasks alone. */
  safe?: true
}

/** What a path is forbidden by, and the expression that names it. */
export function banOf(path: Path, bans: readonly Ban[]): { ban: Ban; node: Node } | null {
  for (const ban of bans) {
    if ((ban.module ?? null) !== path.module) continue
    const names = ban.name?.split('.') ?? []
    if (!names.every((name, index) => path.names[index] === name)) continue
    const node = path.nodes[Math.max(names.length, 1) - 1] ?? path.nodes[0]
    if (!node) continue
    if (ban.bare && (names.length !== path.names.length || !isBareCall(node))) continue
    return { ban, node }
  }
  return null
}

function callOf(node: Node): Node | null {
  const top = dressed(node)
  const parent = parentOf(top)
  const isCall = parent?.type === 'CallExpression' || parent?.type === 'NewExpression'
  return isCall && parent.callee === top ? parent : null
}

function isBareCall(node: Node): boolean {
  const call = callOf(node)
  return (call?.type === 'CallExpression' || call?.type === 'NewExpression') && call.arguments.length === 0
}

/** All that the code of workflows names of the table. */
export function* named(code: Code, bans: readonly Ban[]): Generator<{ ban: Ban; node: Node }> {
  for (const node of code.nodes.run) {
    const path = node.type === 'Identifier' ? code.names.path(node) : null
    const found = path && banOf(path, bans)
    if (found) yield found
  }
}

export interface BanRule {
  description: string
  /** With {{what}} and {{instead}}. */
  message: string
  bans: readonly Ban[]
  /** Names of more modules that are forbidden as a whole: the rule's option `modules`. */
  more?: (modules: readonly string[]) => readonly Ban[]
}

/** A rule made of a table. */
export function banRule({ description, message, bans, more }: BanRule): Rule.RuleModule {
  const modules = { type: 'array', items: { type: 'string' }, uniqueItems: true }
  return {
    meta: {
      type: 'problem',
      docs: { description, recommended: true },
      ...(bans.some(({ replace, safe }) => replace && safe) && { fixable: 'code' }),
      ...(bans.some(({ replace, safe }) => replace && !safe) && { hasSuggestions: true }),
      schema: more ? [{ type: 'object', properties: { modules }, additionalProperties: false }] : [],
      messages: { banned: message, replace: 'Say `{{code}}`.' },
    },
    create(context) {
      const [{ modules = [] } = {}] = context.options as [{ modules?: string[] }?]
      const all = more ? [...bans, ...more(modules)] : bans
      return {
        'Program:exit'() {
          const code = codeOf(context.sourceCode)
          for (const found of named(code, all)) report(context, code, found)
        },
      }
    },
  }
}

function report(context: Rule.RuleContext, code: Code, { ban, node }: { ban: Ban; node: Node }): void {
  const task = code.taskAt(node)
  const instead = task === null ? ban.instead : ban.instead.replaceAll('task.', `${task}.`)
  const found = {
    node: node as Rule.Node,
    messageId: 'banned',
    data: { what: context.sourceCode.getText(node as Rule.Node), instead },
  }
  const call = callOf(node)
  const text = (part: Node): string => context.sourceCode.getText(part)
  const written = task === null ? null : ban.replace?.(task, call?.type === 'CallExpression' ? call : null, text)
  if (!written || !call) return context.report(found)
  const replaced = ban.replaced?.(call) ?? call
  const fix = (fixer: Rule.RuleFixer): Rule.Fix => fixer.replaceText(replaced as Rule.Node, written)
  if (ban.safe) return context.report({ ...found, fix })
  context.report({ ...found, suggest: [{ messageId: 'replace', data: { code: written }, fix }] })
}
