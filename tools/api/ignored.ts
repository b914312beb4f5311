// Options that are declared and that no code reads: whoever gives one is not told that it means nothing.
import { readFileSync } from 'node:fs'
import { type Expression, type Identifier, type Node, SyntaxKind } from 'typescript/unstable/ast'
import {
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIdentifier,
  isInterfaceDeclaration,
  isPropertyAccessExpression,
  isTypeOfExpression,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

/** The options, as `Interface.option`, that the sources of this project declare in these interfaces and do not read, other than to check them. */
export function ignoredOptions(config: string, folder: string, interfaces: ReadonlySet<string>): string[] {
  const api = new API({ cwd: folder })
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    if (!project) throw new Error(`${config} is no project`)
    const { program, checker } = project
    const ignored: string[] = []
    for (const path of program.getSourceFileNames()) {
      if (
        !path.startsWith(folder) ||
        path.includes('/node_modules/') ||
        !/interface \w*Options\b/.test(readFileSync(path, 'utf8'))
      )
        continue
      for (const declared of program.getSourceFile(path)?.statements ?? []) {
        if (!isInterfaceDeclaration(declared) || !interfaces.has(declared.name.text)) continue
        for (const member of declared.members) {
          const name = 'name' in member ? (member.name as Node | undefined) : undefined
          if (!name || !isIdentifier(name)) continue
          const found = checker.getReferencedSymbolsForNode(name, name.end - 1)
          const isRead = found.some(({ references }) => references.some((it) => reads(it.resolve())))
          if (!isRead) ignored.push(`${declared.name.text}.${name.text}`)
        }
      }
    }
    return ignored.sort()
  } finally {
    api.close()
  }
}

const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
])

/** Whether the value is taken at this mention of the option. A destructured one is used by somebody: the compiler refuses unused names. */
function reads(node: Node | undefined): boolean {
  const access = node?.parent
  if (!access) return false
  if (isBindingElement(access)) return true
  if (!isPropertyAccessExpression(access) && !isElementAccessExpression(access)) return false
  const { parent } = access
  if (isTypeOfExpression(parent)) return false
  if (isBinaryExpression(parent)) {
    const { left, operatorToken, right } = parent
    if (operatorToken.kind === SyntaxKind.EqualsToken) return left !== access
    return !comparisons.has(operatorToken.kind) || !(isNothing(left) || isNothing(right))
  }
  return !(
    isCallExpression(parent) &&
    isExpressionStatement(parent.parent) &&
    /^check/.test(calleeOf(parent.expression))
  )
}

function isNothing(node: Expression): boolean {
  return node.kind === SyntaxKind.NullKeyword || (isIdentifier(node) && node.text === 'undefined')
}

function calleeOf(node: Expression): string {
  return isIdentifier(node) ? (node as Identifier).text : ''
}
