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
  const column = node.start - module.source.lastIndexOf('\n', node.start - 1) - 1
  return text.replaceAll(`\n${' '.repeat(column / 2)}`, '\n').trim()
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

/** A declaration in one line. */
export function lineOf(module: Module, node: Tree): string {
  return textOf(module, node)
    .replace(/\{\n\s*/g, '{ ')
    .replace(/\n\s*\}/g, ' }')
    .replace(/\n\s*/g, '; ')
}

/** The examples of what is said: each the code behind an `@example`, up to the next tag. */
export function examplesOf(said: string): string[] {
  const [, ...examples] = said.split(/^@example\b/m)
  return examples.map((example) => (example.split(/^@[a-z]/m)[0] ?? '').trim()).filter((code) => code !== '')
}

/** What is said without its examples. */
export function sentencesOf(said: string): string {
  return (said.split(/^@[a-z]/m)[0] ?? '').trim()
}
