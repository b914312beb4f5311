// The text of a declaration, and what is said of it.
import type { Module, Tree } from './module.ts'

/** A declaration without what is said of it, without private members, in the layout of the sources. */
export function textOf(module: Module, node: Tree): string {
  const text = spared(module, node)
    .replace(/^ *#private;\n/gm, '')
    .replace(/^(?:export )?(?:declare )?/, '')
    .replace(/;$/gm, '')
    // Where comments stood in a union, its lines are broken.
    .replace(/\s+\| /g, ' | ')
    .replace(/= \n\s*/g, '= ')
    .replace(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
  return text.trim()
}

function spared({ source, comments }: Module, { start, end }: Tree): string {
  let text = ''
  let at = start
  for (const comment of comments.filter((one) => one.start >= start && one.end <= end)) {
    text += source.slice(at, comment.start)
    at = comment.end
  }
  return (text + source.slice(at, end)).replace(/^[ \t]*\n/gm, '')
}

/** What the comment right before a node says; null when there is none. */
export function saidOf({ source, comments }: Module, { start }: Tree): string | null {
  const comment = comments.findLast((one) => one.end <= start)
  if (!comment?.value.startsWith('*') || source.slice(comment.end, start).trim() !== '') return null
  const lines = comment.value.slice(1).split('\n')
  return lines
    .map((line, i) => (i === 0 ? line.trim() : line.replace(/^ *\* ?/, '').trimEnd()))
    .join('\n')
    .trim()
}
