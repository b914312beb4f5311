import type { Machine } from './machine.ts'
import type { Figure, Outcome } from './measure.ts'

export function machineLine({ cpu, cores, memoryGiB, os, node, store, tmpfs }: Machine): string {
  const line = `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node}, ${store}`
  return tmpfs ? `${line}\nWARNING: the folder is in memory (tmpfs): durable writes cost nothing here` : line
}

/** Empty when the machine had nothing else to do. `recover` and `sleeping` have processes of their own to account for. */
export function disturbance(outcomes: readonly Outcome[]): string {
  const disturbed = outcomes.filter(({ others }) => others > 0.25)
  if (disturbed.length === 0) return ''
  const list = disturbed.map(({ name, others }) => `${name} ${others.toFixed(1)}`).join(', ')
  return `Cores busy with other processes meanwhile, which makes the figures worse than they are: ${list}`
}

const heads = ['measure', 'figure', 'value', 'target', '', 'raw ceiling', 'of it', '']
const right = new Set([2, 3, 5, 6])

export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(({ name, figures }) =>
    figures.map((figure, index) => [index === 0 ? name : '', ...cells(figure)]),
  )
  return aligned(heads, rows, right)
}

/** Rows below their heads, columns of numbers to the right. */
export function aligned(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
): string {
  const all = [heads, ...rows]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const lines = all.map((row) =>
    row.map((cell, column) =>
      right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    ),
  )
  const [head = [], ...body] = lines.map((row) => row.join('  ').trimEnd())
  return [head, '─'.repeat(head.length + 20), ...body].join('\n')
}

function cells({ what, value, unit, better, target, ceiling, note = '' }: Figure): string[] {
  const goal = target === undefined ? '' : `${better === 'higher' ? '≥' : '≤'} ${text(target)}`
  const share =
    ceiling === undefined ? '' : `${Math.round((better === 'higher' ? value / ceiling : ceiling / value) * 100)} %`
  return [
    what,
    `${text(value)} ${unit}`,
    goal,
    verdict(value, better, target),
    ceiling ? text(ceiling) : '',
    share,
    note,
  ]
}

function verdict(value: number, better: Figure['better'], target: number | undefined): string {
  if (target === undefined) return ''
  return (better === 'higher' ? value >= target : value <= target) ? '✓' : '✗'
}

/** Three digits are all that such figures are good for. */
export function text(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}
