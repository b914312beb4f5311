// The report of one entry: every declaration that a user's program may depend on.
import type { Declaration, Surface } from './surface.ts'
import { textOf } from './text.ts'

export function reportOf({ entry, exports, hidden, foreign }: Surface): string {
  const shown = exports.map(({ name, typeOnly, declaration }) => {
    const kept = isValue(declaration) && typeOnly ? '// only its type\n' : ''
    return `${name === declaration.name ? '' : `// as ${name}\n`}${kept}${whole(declaration)}`
  })
  const elsewhere = [...foreign].map(
    ([from, names]) => `- \`${from}\`: ${names.map((name) => `\`${name}\``).join(', ')}`,
  )
  return [
    `# ${entry.name}`,
    'The public API, made of its declarations by `npm run api`: not for editing. A change of it is a change for users.',
    '## Exports',
    fenced(shown),
    ...(hidden.length > 0
      ? ['## Named by them, and not exported', fenced(hidden.map(({ declaration }) => whole(declaration)))]
      : []),
    ...(elsewhere.length > 0 ? ['## From elsewhere', elsewhere.join('\n')] : []),
  ]
    .join('\n\n')
    .concat('\n')
}

function fenced(texts: readonly string[]): string {
  return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``
}

function whole({ module, nodes }: Declaration): string {
  return nodes.map((node) => textOf(module, node)).join('\n')
}

export function isValue({ nodes: [node] }: Declaration): boolean {
  const declared = node?.type === 'ExportNamedDeclaration' ? (node.declaration as { type: string }) : node
  return declared?.type !== 'TSInterfaceDeclaration' && declared?.type !== 'TSTypeAliasDeclaration'
}
